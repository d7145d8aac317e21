"""The harness of the benchmarks: what a room prints is kept, and two kept results are compared."""

from __future__ import annotations

import ast
import importlib
import json
import subprocess
import sys
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).resolve().parents[3]
BENCH, RESULTS = REPOSITORY / "bench", REPOSITORY / "docs" / "results"
GOOD = """
import json, sys
print("a table")
print(json.dumps({"room": "core", "ratios": {"charge_ms": 5.0, "import_seconds": 0.25 if "--quick" in sys.argv else 0.5}}))
"""


@pytest.fixture
def keep(monkeypatch):
    monkeypatch.syspath_prepend(str(BENCH))
    return importlib.import_module("keep")


@pytest.fixture
def compare(monkeypatch):
    monkeypatch.syspath_prepend(str(BENCH))
    return importlib.import_module("compare")


def kept(room: str = "core", command: str = "python bench/core.py --quick", **ratios: float) -> dict:
    return {"command": command, "room": room, "ratios": ratios}


# ---- keep ----------------------------------------------------------------------------------------------------------


def test_a_room_is_run_shown_and_kept(keep, tmp_path, capsys):
    (tmp_path / "core.py").write_text(GOOD)
    assert keep.keep_all(tmp_path, ["core"], tmp_path / "results", quick=True) == 0
    assert "a table" in capsys.readouterr().out
    text = (tmp_path / "results/bench-core.json").read_text()
    assert json.loads(text) == kept(charge_ms=5.0, import_seconds=0.25)
    assert text.startswith('{\n  "command"')


def test_a_full_run_says_so_in_its_command(keep, tmp_path):
    (tmp_path / "core.py").write_text(GOOD)
    assert keep.keep_all(tmp_path, ["core"], tmp_path, quick=False) == 0
    saved = json.loads((tmp_path / "bench-core.json").read_text())
    assert saved == kept(command="python bench/core.py", charge_ms=5.0, import_seconds=0.5)


@pytest.mark.parametrize(
    ("script", "complaint"),
    [
        ("import sys; sys.exit(3)", "ended with status 3"),
        ("print('no JSON')", "does not end with a line of JSON"),
        ("", "does not end with a line of JSON"),
        ("""print('{"room": "words", "ratios": {"charge_ms": 1}}')""", "ratios of its room"),
        ("""print('{"room": "core", "ratios": {"charge_ms": "fast"}}')""", "not numbers"),
        ("""print('{"room": "core", "ratios": {}}')""", "not numbers"),
    ],
)
def test_a_failed_room_is_told_and_the_next_one_runs(keep, script, complaint, tmp_path, capsys):
    (tmp_path / "core.py").write_text(script)
    (tmp_path / "words.py").write_text("""print('{"room": "words", "ratios": {"end_to_end_share": 0.5}}')""")
    assert keep.keep_all(tmp_path, ["core", "words"], tmp_path, quick=True) == 1
    assert complaint in capsys.readouterr().err
    assert not (tmp_path / "bench-core.json").exists()
    assert (tmp_path / "bench-words.json").exists()


def test_a_ratio_that_cannot_be_compared_is_told(keep, tmp_path, capsys):
    (tmp_path / "core.py").write_text("""print('{"room": "core", "ratios": {"charm": 1}}')""")
    assert keep.keep_all(tmp_path, ["core"], tmp_path, quick=True) == 1
    assert "charm" in capsys.readouterr().err


def test_rooms_are_found_by_the_name_of_the_file(keep):
    rooms = keep.rooms_with_a_benchmark(BENCH, REPOSITORY / "src/textveil")
    assert {"core", "words", "counts", "hashed", "training"} <= set(rooms)
    assert {"keep", "compare", "words_search"}.isdisjoint(rooms)


def test_an_unknown_room_is_named():
    done = subprocess.run([sys.executable, str(BENCH / "keep.py"), "attic"], capture_output=True, text=True)
    assert done.returncode == 2
    assert "no benchmark of attic; there are core" in done.stderr


# ---- compare -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("before", "after", "better", "expected"),
    [
        (10.0, 9.1, "larger", False),
        (10.0, 8.9, "larger", True),
        (10.0, 20.0, "larger", False),
        (10.0, 10.9, "smaller", False),
        (10.0, 11.1, "smaller", True),
        (10.0, 1.0, "smaller", False),
    ],
)
def test_worse_is_a_tenth_in_the_wrong_direction(compare, before, after, better, expected):
    assert compare.is_worse(before, after, better) is expected


def test_every_worse_ratio_is_printed(compare):
    old = {"core": kept(charge_ms=10.0, secure_uniforms_over_numpy=0.5, import_seconds=0.1)}
    new = {"core": kept(charge_ms=12.0, secure_uniforms_over_numpy=0.4, import_seconds=0.1)}
    assert list(compare.worse(old, new)) == [
        "core charge_ms: 10 -> 12 (smaller is better)",
        "core secure_uniforms_over_numpy: 0.5 -> 0.4 (larger is better)",
    ]
    assert list(compare.worse(new, old)) == []


def test_a_lost_ratio_is_a_complaint_and_a_new_one_is_not(compare):
    old, new = {"core": kept(charge_ms=10.0)}, {"core": kept(import_seconds=1.0)}
    assert list(compare.worse(old, new)) == ["core charge_ms: no longer measured"]


def test_an_undeclared_name_is_an_error(compare):
    with pytest.raises(compare.CannotCompare, match="charm"):
        list(compare.worse({"core": kept(charge_ms=1.0)}, {"core": kept(charge_ms=1.0, charm=2.0)}))
    with pytest.raises(compare.CannotCompare, match="attic"):
        list(compare.worse({}, {"attic": kept("attic", charge_ms=1.0)}))


def test_quick_and_full_are_not_compared(compare):
    with pytest.raises(compare.CannotCompare, match="measured by"):
        list(compare.worse({"core": kept(charge_ms=1.0)}, {"core": kept(command="other", charge_ms=1.0)}))


def test_the_command_compares_files_folders_and_says_what_is_worse(tmp_path):
    for name, value in (("old", 10.0), ("new", 20.0)):
        (tmp_path / name).mkdir()
        (tmp_path / name / "bench-core.json").write_text(json.dumps(kept(charge_ms=value)))
    ended = {}
    for old, new in (("old", "new"), ("new", "old"), ("old/bench-core.json", "new"), ("old", "no-such-revision")):
        command = [sys.executable, str(BENCH / "compare.py"), str(tmp_path / old), str(tmp_path / new)]
        done = subprocess.run(command, capture_output=True, text=True)
        assert "Traceback" not in done.stderr
        ended[old, new] = done.returncode, done.stdout.partition("\n")[0]
    worse = (1, "core charge_ms: 10 -> 20 (smaller is better)")
    assert ended["old", "new"] == ended["old/bench-core.json", "new"] == worse
    assert ended["new", "old"] == (0, "nothing is worse by a tenth")
    assert ended["old", "no-such-revision"] == (1, "")


def test_kept_results_have_declared_names(compare):
    results = compare.results_of(str(RESULTS))
    assert {"core", "words", "counts", "hashed", "training"} <= results.keys()
    assert {room: compare.undeclared(one) for room, one in results.items() if compare.undeclared(one)} == {}


@pytest.mark.parametrize("room", ["core", "words", "counts", "hashed", "training"])
def test_declared_names_stand_in_the_benchmark(compare, room):
    texts = {n.value for n in ast.walk(ast.parse((BENCH / f"{room}.py").read_text())) if isinstance(n, ast.Constant)}
    built = {"brr_over_faiss_binary_1t", "brr_over_faiss_binary_2t"}
    built |= {"laplace100_over_faiss_flat", "laplace300_over_faiss_flat"}
    assert compare.BETTER[room].keys() <= texts | built
