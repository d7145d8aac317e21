"""Which ratios got worse by more than a tenth: `python bench/compare.py OLD NEW`.

OLD and NEW are kept results (see `bench/keep.py`): a file, a folder of files `bench-ROOM.json`, or a revision of this
repository such as HEAD. The exit status is 1 if something got worse or is no longer measured.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

TENTH = 0.1
LARGER, SMALLER = "larger", "smaller"
REPOSITORY = Path(__file__).resolve().parents[1]

# What is better of each ratio, by room. A name that is not here is an error.
BETTER: dict[str, dict[str, str]] = {
    "core": {
        "import_seconds": SMALLER,
        "import_words_over_numpy": SMALLER,
        "uniforms_per_second_millions": LARGER,
        "secure_uniforms_over_numpy": LARGER,
        "ledger_charges_per_second": LARGER,
        "ledger_lines_verified_per_second": LARGER,
        "charge_ms": SMALLER,
        "charge_ms_mean": SMALLER,
        "charge_ms_processor": SMALLER,
    },
    "mpc": {
        "sequential_over_crypten": LARGER,
        "batched_over_crypten": LARGER,
    },
    "words": {
        "brr_over_faiss_binary_1t": LARGER,
        "brr_over_faiss_binary_2t": LARGER,
        "laplace100_over_faiss_flat": LARGER,
        "laplace300_over_faiss_flat": LARGER,
        "vickrey_time_over_laplace": SMALLER,
        "brr_over_laplace": LARGER,
        "tem_time_over_brr": SMALLER,
        "end_to_end_share": LARGER,
        "two_workers_speedup": LARGER,
    },
    "counts": {
        "dense_over_opendp": LARGER,
        "dense_over_numpy": LARGER,
        "draws_over_numpy": LARGER,
        "compressed_over_opendp": LARGER,
        "dense_seconds": SMALLER,
        "dense_gigabytes": SMALLER,
        "compressed_seconds": SMALLER,
    },
    "fragments": {
        "align_over_eflomal": LARGER,
        "link_f1": LARGER,
        "extract_over_nltk": LARGER,
    },
    "pii": {
        "words_over_presidio": LARGER,
        "patterns_words_per_second": LARGER,
        "crf_words_per_second": LARGER,
        "crf_f1": LARGER,
        "noisy_f1_ignored": LARGER,
        "noisy_f1_channel": LARGER,
        "names_f1_chain": LARGER,
        "names_f1_capitals": LARGER,
        "names_f1_spacy_sm_225": LARGER,
        "names_over_spacy_low": LARGER,
        "names_over_spacy_high": LARGER,
        "names_words_over_spacy": LARGER,
        "f1_over_presidio_low_credit_card": LARGER,
        "f1_over_presidio_low_email_address": LARGER,
        "f1_over_presidio_low_iban_code": LARGER,
        "f1_over_presidio_low_ip_address": LARGER,
        "f1_over_presidio_low_phone_number": LARGER,
        "f1_over_presidio_low_us_ssn": LARGER,
        "f1_over_presidio_low_url": LARGER,
        "f1_over_presidio_low_date_time": LARGER,
        "f1_over_presidio_low_us_driver_license": LARGER,
    },
    "federated": {
        "federation_over_loop": SMALLER,
        "two_workers_speedup": LARGER,
    },
    "hashed": {
        "feature_speed_over_dicts": LARGER,
        "feature_speed_before_copy": LARGER,
        "feature_memory_over_dicts": SMALLER,
        "seal_seconds": SMALLER,
        "words_per_second": LARGER,
        "open_seconds": SMALLER,
        "cuad_seconds": SMALLER,
        "cuad_gigabytes": SMALLER,
        "large_gigabytes": SMALLER,
        "cost_seconds": SMALLER,
    },
    "training": {
        "bilstm_dp_over_plain": SMALLER,
        "bilstm_over_opacus": LARGER,
        "transformer_dp_over_plain": SMALLER,
        "memory_dp_over_plain": SMALLER,
        "memory_64k_over_64": SMALLER,
    },
}

Kept = dict[str, Any]  # {"command": ..., "room": ..., "ratios": {name: value}}


class CannotCompare(Exception):
    """Results that are missing, damaged or not of one kind."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("old", help="file, folder or revision")
    parser.add_argument("new", help="file, folder or revision")
    options = parser.parse_args()
    try:
        complaints = list(worse(results_of(options.old), results_of(options.new)))
    except CannotCompare as error:
        sys.exit(f"compare: {error}")
    for complaint in complaints:
        print(complaint)
    print(f"{len(complaints)} worse by more than a tenth, or gone" if complaints else "nothing is worse by a tenth")
    sys.exit(1 if complaints else 0)


def worse(old: dict[str, Kept], new: dict[str, Kept]) -> Iterator[str]:
    """One line for each ratio of the rooms in both that got worse by more than a tenth, or was lost."""
    for kept in (*old.values(), *new.values()):
        if unknown := undeclared(kept):
            raise CannotCompare(f"{kept['room']}: it is not declared what is better of {', '.join(unknown)}")
    for room in sorted(old.keys() & new.keys()):
        if old[room]["command"] != new[room]["command"]:
            raise CannotCompare(f"{room} was measured by '{old[room]['command']}' and by '{new[room]['command']}'")
        for name, before in old[room]["ratios"].items():
            after = new[room]["ratios"].get(name)
            better = BETTER[room][name]
            if after is None:
                yield f"{room} {name}: no longer measured"
            elif is_worse(before, after, better):
                yield f"{room} {name}: {before:g} -> {after:g} ({better} is better)"


def is_worse(before: float, after: float, better: str) -> bool:
    """Whether it got worse by more than a tenth of what it was."""
    lost = before - after if better == LARGER else after - before
    return lost > TENTH * abs(before)


def undeclared(kept: Kept) -> list[str]:
    """Names of ratios of which the table does not say what is better."""
    return sorted(kept["ratios"].keys() - BETTER.get(kept["room"], {}).keys())


def results_of(place: str) -> dict[str, Kept]:
    """Kept results by room."""
    path = Path(place)
    if path.is_dir():
        texts = [file.read_text(encoding="utf-8") for file in sorted(path.glob("bench-*.json"))]
    elif path.is_file():
        texts = [path.read_text(encoding="utf-8")]
    else:
        texts = _committed(place)
    if not texts:
        raise CannotCompare(f"no kept results in {place}")
    try:
        kept = [json.loads(text) for text in texts]
        return {one["room"]: one for one in kept if one["command"] and one["ratios"]}
    except (ValueError, TypeError, KeyError):
        raise CannotCompare(f"{place} does not hold results as bench/keep.py writes them") from None


def _committed(revision: str) -> list[str]:
    names = _git("ls-tree", "--name-only", revision, "docs/results/").splitlines()
    return [_git("cat-file", "-p", f"{revision}:{name}") for name in names if Path(name).match("bench-*.json")]


def _git(*arguments: str) -> str:
    done = subprocess.run(["git", "-C", str(REPOSITORY), *arguments], capture_output=True, text=True)
    if done.returncode:
        raise CannotCompare(f"no file, folder or revision is meant by {arguments[-2]}")
    return done.stdout


if __name__ == "__main__":
    main()
