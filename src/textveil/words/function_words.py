"""Words that carry grammar rather than content, by language: a public list that may be kept as a whole.

Keeping them leaves sentences readable and spends nothing on words that say little. It is a choice, not a protection:
a kept word passes, pronouns among them (which may tell a gender, and how many people are meant), and so do negations. Words
that are as often a name or a date are left out of the list and drawn like any other: "may", "will", "us", "mine".

Clitics stand in it as `text.tokens` cuts them: "it's" is "it" and "'s".
"""

from __future__ import annotations

from textveil.core.errors import BadInput

NAME = "function-words"

_ENGLISH = """
a an the this that these those some any no every each either neither both all such another other others
what which whose whatever whichever who whom whoever
I me my myself we our ours ourselves you your yours yourself yourselves he him his himself she her hers herself
it its itself they them their theirs themselves one oneself someone somebody something anyone anybody anything
everyone everybody everything nobody nothing none
about above across after against along among around as at before behind below beneath beside besides between beyond by
despite down during except for from in inside into near of off on onto out outside over per since than through
throughout till to toward towards under underneath until unto up upon via with within without
and but or nor so yet if unless because although though while whereas whether when whenever where wherever why how lest
am is are was were be been being have has had having do does did doing can could would should shall must might ought
cannot not here there then now thus hence therefore however moreover too also very quite rather just only even still
again else ever never much many more most less least few fewer several enough
's 'm 'd 're 've 'll n't
"""

LISTS: dict[str, tuple[str, ...]] = {"english": tuple(_ENGLISH.split())}
_ALSO = {"": "english", "en": "english"}  # vectors that state no language: whoever asks for the list knows the text


def function_words(language: str = "english") -> tuple[str, ...]:
    """The list of a language, as its words are written.

    >>> words = function_words()
    >>> len(words), "the" in words, "bank" in words, "may" in words
    (212, True, False, False)
    """
    language = _ALSO.get(language.lower().partition("-")[0], language.lower())
    if language not in LISTS:
        raise BadInput(
            f"there is no list '{NAME}' for the language '{language}' of the vectors",
            possible=f"a file of words to keep; lists ship for: {', '.join(LISTS)}",
        )
    return LISTS[language]
