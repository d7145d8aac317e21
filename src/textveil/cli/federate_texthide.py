"""`textveil federate simulate --local texthide`: the options of TextHide, and its run. It is broken, and says so."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

from textveil.cli.choices import HidingScheme
from textveil.cli.options import option, plain, value_of
from textveil.cli.output import Warner, command_line, print_release
from textveil.cli.progress import bars
from textveil.core import BadInput

TEXTHIDE = "TextHide (--local texthide; broken)"


@dataclass(frozen=True)
class TextHideOptions:
    """How TextHide hides."""

    scheme: Annotated[
        HidingScheme,
        option("Mix texts with others of the batch (intra), or with public text too (inter).", group=TEXTHIDE),
    ] = HidingScheme.INTRA
    masks: Annotated[
        int, option("Masks in the pool, over all sites; 0: none, -1: a new one for each item.", group=TEXTHIDE)
    ] = 256
    mixed: Annotated[int, option("Texts that are mixed into one.", group=TEXTHIDE)] = 4
    masks_per_site: Annotated[bool, option("Give each site as many masks as --masks says.", group=TEXTHIDE)] = False
    public_text: Annotated[Path | None, option("inter: a file of public texts to mix in.", group=TEXTHIDE)] = None
    pair_field: Annotated[str | None, option("The field of the second sentence, for pairs.", group=TEXTHIDE)] = None
    keep_view: Annotated[
        bool, option("Keep what the server saw of the first site, in OUT.private, for `audit --truth`.", group=TEXTHIDE)
    ] = False
    numbers: Annotated[bool, option("The label is a number (regression).", group=TEXTHIDE)] = False


def run_texthide(
    sources: list[Path],
    out: Path,
    hiding: TextHideOptions,
    *,
    encoder: str | None,
    rounds: int,
    local_work: Any,
    label_field: str | None,
    sites: int | None,
    promised: dict[str, Any],
    reading: Any,
    spending: Any,
    as_json: bool,
) -> None:
    """Train under TextHide and print what the attacks got."""
    from textveil.federated.texthide import HidingPlan
    from textveil.recipes.texthide.train import TextHideJob, train_texthide

    asked = [name for name, value in promised.items() if value is not None]
    if asked:
        raise BadInput(f"TextHide promises nothing, so --{asked[0]} has no meaning", possible="--local dp-sgd")
    plan = HidingPlan(None if hiding.masks == -1 else hiding.masks, hiding.mixed, value_of(hiding.scheme))
    job = TextHideJob(
        tuple(sources),
        out,
        plan,
        label_field=label_field or "label",
        pair_field=hiding.pair_field,
        is_regression=hiding.numbers,
        sites=sites,
        per_client=hiding.masks_per_site,
        public_text=hiding.public_text,
        encoder=encoder or "minilm",
        keep_view=hiding.keep_view,
        rounds=rounds,
        batch=local_work.batch,
        rate=local_work.rate if local_work.rate is not None else 5e-5,
        test=local_work.test,
        **plain(spending),
        **plain(reading),
    )
    warner = Warner()
    result = train_texthide(job, bar=bars(quiet=as_json), warn=warner)
    lines = [f"classifier: {out}/model ({result['rounds']:,} rounds, TextHide)"]
    more = [f"scores:  {name.replace('_', ' ')} {value:.3f}" for name, value in result["scores"].items()]
    more += [f"attack:  {row['attack']} {row['value']:.1%} {row['metric']}" for row in result["evidence"]]
    next_step = command_line("audit", out, *(("--truth", sources[0]) if hiding.keep_view else ()))
    print_release(result, out, lines, as_json=as_json, more=more, next=next_step, said=warner)
