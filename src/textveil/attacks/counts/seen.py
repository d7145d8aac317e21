"""What the adversary of released counts has."""

from __future__ import annotations

from dataclasses import dataclass

from textveil.attacks.counts.channel import CountChannel, Ints
from textveil.attacks.exposure import Exposure, Ids, Owners, check_ids
from textveil.core import BadInput


@dataclass(frozen=True)
class CountsSeen(Exposure):
    """The noise law with candidate documents, and perhaps the released table (`channel.released`).

    `rows` are the released rows that are asked about, `truth` the candidate that each came from; or `phrases` are bags of
    words that one document each holds, and `truth` is the released row of that document.
    """

    channel: CountChannel
    rows: Ids | None = None
    phrases: Ints | None = None
    truth: Owners | None = None

    def __post_init__(self) -> None:
        released = self.channel.released
        check_ids("rows", self.rows, 0, None if released is None else len(released))
        if (self.rows is not None or self.phrases is not None) and released is None:
            raise BadInput("rows and phrases are looked for in a released table")
        asked = self.rows if self.phrases is None else self.phrases
        if self.truth is not None and (asked is None or len(asked) != len(self.truth)):
            raise BadInput("the truth needs the number of a document for each row or phrase")
