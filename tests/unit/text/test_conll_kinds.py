"""Column files of other makes: recognised, so that no word or lemma passes, or refused."""

from __future__ import annotations

from pathlib import Path

import pytest

import textveil as tv
from textveil.core.errors import BadInput
from textveil.noise import seeded
from textveil.text.documents import replace
from textveil.text.examples import read_tagged
from textveil.text.readers import data_file_name, open_reader
from textveil.text.writers import open_writer

COMMENTS = "# newdoc id = Zebedee-7\n# sent_id = 1\n# text = Dogs don't bark\n"
CONLLU = (
    "1\tDogs\tdog\tNOUN\tNNS\tNumber=Plur\t4\tnsubj\t_\t_\n"
    "2-3\tdon't\t_\t_\t_\t_\t_\t_\t_\tSpaceAfter=No\n"
    "2\tdo\tdo\tAUX\tVBP\t_\t4\taux\t_\tGloss=do\n"
    "3\tn't\tnot\tPART\tRB\t_\t4\tadvmod\t_\tTranslit=nt\n"
    "3.1\tsilently\tsilently\tADV\t_\t_\t_\t_\t4:advmod\t_\n"
    "4\tbark\tbark\tVERB\tVBP\t_\t0\troot\t_\t_\n"
    "\n"
    "1\tYes\tyes\tINTJ\tUH\t_\t0\troot\t_\t_\n"
)
IOB = "I|PRP|O like|VBP|O New|NNP|B-LOC York|NNP|I-LOC\nYes|UH|O\n"
WORDS = ("Dogs", "don't", "do", "n't", "bark", "silently", "dog", "not", "yes", "Zebedee", "Gloss", "Translit")


def put(folder: Path, name: str, content: str) -> Path:
    (folder / name).write_text(content)
    return folder / name


def hidden(path: Path, **options) -> str:
    """The file with every token hidden."""
    reader = open_reader(path, **options)
    out = path.with_name(data_file_name(reader))
    with open_writer(out, reader) as writer:
        for record in reader:
            writer.write(replace(record, " ".join("X" for _ in record.text.split(" "))))
    again = open_reader(out, text_field=reader.written_text_field)
    assert len(list(again)) == writer.records_written, "what is written can be read again"
    return out.read_text()


@pytest.mark.parametrize("comments", [COMMENTS, ""])
@pytest.mark.parametrize("name", ["a.conll", "a.conllu", "a.bio"])
def test_conllu_gives_its_words_and_keeps_its_lemmas_to_itself(tmp_path: Path, name: str, comments: str) -> None:
    path = put(tmp_path, name, comments + CONLLU)
    reader = open_reader(path)
    assert [r.text for r in reader] == ["Dogs do n't bark", "Yes"]
    assert "column 4 (UPOS)" in reader.passes
    assert not any("LEMMA" in named or "MISC" in named for named in reader.passes)
    written = hidden(path)
    assert not any(word in written for word in WORDS)
    assert written.splitlines()[:3] == [
        "1\tX\t_\tNOUN\tNNS\tNumber=Plur\t4\tnsubj\t_\t_",
        "2-3\t_\t_\t_\t_\t_\t_\t_\t_\t_",
        "2\tX\t_\tAUX\tVBP\t_\t4\taux\t_\t_",
    ]
    assert written.count("\n") == CONLLU.count("\n")


def test_conllu_without_its_columns(tmp_path: Path) -> None:
    path = put(tmp_path, "a.conllu", COMMENTS + CONLLU)
    rest = "\t_" * 8
    assert hidden(path, columns=()) == "".join(f"{n}\tX{rest}\n" for n in range(1, 5)) + f"\n1\tX{rest}\n\n"
    assert open_reader(path, columns=()).passes == ()
    assert "VERB" in hidden(path, columns=("4",))
    assert "VBP" not in hidden(path, columns=("4",))
    assert "bark" not in hidden(path, columns=("3", "10")), "the lemma does not pass, even if asked for"


def test_bars(tmp_path: Path) -> None:
    path = put(tmp_path, "a.iob", IOB)
    reader = open_reader(path)
    assert [r.text for r in reader] == ["I like New York", "Yes"]
    assert reader.passes == ("part 2 of each token", "part 3 of each token")
    assert hidden(path) == "X|PRP|O X|VBP|O X|NNP|B-LOC X|NNP|I-LOC\nX|UH|O\n"
    assert hidden(path, columns=()) == "X\nX\nX\nX\n\nX\n\n"
    assert hidden(path, columns=("3",)) == "X O\nX O\nX B-LOC\nX I-LOC\n\nX O\n\n"
    assert open_reader(path, columns=()).passes == ()


def test_a_bar_may_be_a_word(tmp_path: Path) -> None:
    assert [r.text for r in open_reader(put(tmp_path, "a.iob", "a|O ||O b|O\n"))] == ["a | b"]


REFUSED = {
    "ids without ten columns": ("1 Zebedee NNP\n2 sings VBZ\n", {}, "which column holds the words must be said"),
    "ids from 0": ("0\tZebedee\tO\n1\tsings\tO\n\n0\tYes\tO\n", {}, "which column holds the words must be said"),
    "one id": ("1\tZebedee\tO\n", {}, "which column holds the words must be said"),
    "document ids": ("bc/1 Zebedee O\nbc/1 sings O\nbc/1 well O\n", {}, "which column holds the words must be said"),
    "lemmas": ("Zebedee zebedee O\nsings sing O\n", {}, "column 2 repeats the words of column 1"),
    "lemmas of another column": ("1 Ann ann\n2 sings sing\n", {"text_field": "2"}, "column 3 repeats the words"),
    "comments": ("# sent_id = Zebedee\nAnn x y O\n", {}, "is a comment, which may repeat the text"),
    "CoNLL-2012": ("#begin document (Zebedee);\nbc 0 0 Ann\n", {}, "line 1: "),
    "bars here and there": ("a|X|O b|X|O\nZebedee c|X|O\n", {}, "line 2: has a token without its 3 parts"),
    "CoNLL-U, broken": (CONLLU + "\nZebedee\tO\n", {}, "line 10: has 2 columns or no number"),
    "CoNLL-U, other column": (CONLLU, {"text_field": "1"}, "CoNLL-U has its words in column 2"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_is_not_understood_is_refused(tmp_path: Path, case: str) -> None:
    content, options, message = REFUSED[case]
    with pytest.raises(BadInput, match=message) as caught:
        list(open_reader(put(tmp_path, "a.conll", content), **options))
    assert "Zebedee" not in str(caught.value)


def test_a_repeating_column_may_stay_behind(tmp_path: Path) -> None:
    path = put(tmp_path, "a.conll", "Ann ann B\nsings sing O\n")
    assert hidden(path, columns=("3",)) == "X B\nX O\n\n"


@pytest.mark.parametrize(
    "content", ["I do n't O\n", "I don't O\n", "don't O\nit's O\n", "it🙂 O\nhe'd've O\n'twas O\n"], ids=str.strip
)
def test_one_token_comes_out_for_one_token_whatever_is_drawn(tmp_path: Path, content: str) -> None:
    content = "\n".join(f"{word}\tO" for line in content.split("\n") for word in line.split()[:-1]) + "\n"
    path = put(tmp_path, "a.conll", content)
    mechanism = tv.words.BRR(epsilon=0.001)
    reader = open_reader(path)
    with open_writer(tmp_path / "b.conll", reader) as writer:
        for number in range(200):
            for record in reader:
                [new] = mechanism.apply([record.text], noise=seeded(number))
                writer.write(replace(record, new))
    lines = (tmp_path / "b.conll").read_text().splitlines()
    assert len(lines) == 200 * content.count("\n")
    assert all(line.endswith("\tO") and " " not in line for line in lines)


# ---- the same parser for training --------------------------------------------------------------------------------


def test_training_reads_what_veil_reads(tmp_path: Path) -> None:
    path = put(tmp_path, "a.conll", "-DOCSTART- -X- O\n\nNew York\tx\tB-LOC\nwins\tx\tO\n\n\nYes\tx\tO\n")
    examples = read_tagged(path)
    assert examples.inputs == [["New York", "wins"], ["Yes"]]
    assert examples.targets == [["B-LOC", "O"], ["O"]]
    assert examples.lines == [3, 7]
    assert list(examples.texts()) == [r.text for r in open_reader(path)]
    examples = read_tagged(put(tmp_path, "a.iob", IOB))
    assert examples.inputs == [["I", "like", "New", "York"], ["Yes"]]
    assert examples.targets[0] == ["O", "O", "B-LOC", "I-LOC"]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (CONLLU, "is CoNLL-U, which has no tag in its last column"),
        ("Ann\nsings\n", "line 1: a token has no tag beside it"),
        ("Ann O\nsings\n", "line 2: has 1 column where the first token has 2"),
    ],
)
def test_training_refuses_what_has_no_tags(tmp_path: Path, content: str, message: str) -> None:
    with pytest.raises(BadInput, match=message):
        read_tagged(put(tmp_path, "a.conll", content))
