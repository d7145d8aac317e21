"""Vectors: checks, files, fingerprints."""

import gzip
import pickle

import numpy as np
import pytest

from textveil.core.errors import BadInput, BadParameter
from textveil.text import store
from textveil.text.codes import Codes
from textveil.text.vectors import from_arrays, load, zipf_prior

WORDS = ["the", "of", "été", "and"]


@pytest.fixture
def vectors():
    rng = np.random.default_rng()
    matrix = rng.standard_normal((4, 3)).astype(np.float32)
    codes = Codes.from_bits(WORDS, rng.integers(0, 2, (4, 70)))
    return from_arrays(WORDS, matrix, codes, prior=[4, 3, 2, 1])


def same(a, b):
    assert a.words == b.words
    for name in ("matrix", "fallback", "prior"):
        np.testing.assert_array_equal(getattr(a, name), getattr(b, name))
    assert a.fingerprint == b.fingerprint
    assert (a.codes and a.codes.fingerprint) == (b.codes and b.codes.fingerprint)


def text_file(path, vectors, header=False, separator=" ", end="\n"):
    lines = [f"{len(vectors)} {vectors.dimensions}"] if header else []
    for word, row in zip(vectors.words, vectors.matrix, strict=True):
        lines.append(separator.join([word, *(repr(float(x)) for x in row)]))
    data = "".join(line + end for line in lines).encode()
    path.write_bytes(gzip.compress(data) if path.suffix == ".gz" else data)
    return path


class TestArrays:
    def test_defaults(self):
        v = from_arrays(WORDS, np.arange(1, 13).reshape(4, 3))
        assert v.fallback.tolist() == [5.5, 6.5, 7.5]
        assert v.prior.tolist() == [0.25] * 4
        assert v.codes is None
        assert v.index("été") == 2
        assert v.index("zebra") is None
        np.testing.assert_array_equal(v.vector("zebra"), v.fallback)
        np.testing.assert_array_equal(v.vector("of"), v.matrix[1])

    def test_a_copy_that_cannot_be_written(self):
        mine = np.ones((2, 2), dtype=np.float32)
        v = from_arrays(["a", "b"], mine)
        mine[0, 0] = 9
        assert v.matrix[0, 0] == 1
        assert v.matrix.flags.c_contiguous
        for array in (v.matrix, v.fallback, v.prior):
            with pytest.raises(ValueError, match="read-only"):
                array[0] = 0

    def test_fingerprint_sees_every_part(self, vectors):
        changed = vectors.matrix.copy()
        changed[2, 1] = np.nextafter(changed[2, 1], np.float32(9))
        variants = [
            from_arrays(WORDS, vectors.matrix),
            from_arrays(WORDS[::-1], vectors.matrix),
            from_arrays(WORDS, changed, fallback=vectors.fallback),
            from_arrays(WORDS, vectors.matrix, fallback=vectors.fallback + 1),
        ]
        assert len({v.fingerprint for v in variants}) == 4
        assert variants[0].fingerprint == vectors.fingerprint  # codes and prior are no part of the Euclidean space

    @pytest.mark.parametrize(
        ("words", "matrix", "message"),
        [
            ([], np.zeros((0, 2)), "empty"),
            (["a", "b"], np.ones((3, 2)), "2 rows"),
            (["a"], np.ones((1, 0)), "shape"),
            (["a"], np.ones(1), "shape"),
            (["a", "b", "a"], np.ones((3, 1)), r"word 3 \('a'\) occurs twice"),
            (["a", ""], np.ones((2, 1)), "word 2 is empty"),
            (["a", "b\nc"], np.ones((2, 1)), "line break"),
            (["a", "b"], [[1.0], [np.nan]], "row 1 of the matrix holds a value that is not finite"),
            (["a", "b"], [[-np.inf], [1.0]], "row 0 .* not finite"),
            (["a", "b"], [[1.0], [0.0]], "row 1 of the matrix is a zero vector"),
        ],
    )
    def test_bad_arrays(self, words, matrix, message):
        with pytest.raises(BadInput, match=message):
            from_arrays(words, matrix)

    def test_zero_vectors_can_be_allowed(self):
        assert from_arrays(["a", "b"], [[0.0], [1.0]], allow_zero=True).matrix[0, 0] == 0

    @pytest.mark.parametrize("prior", [[1, 1], [1, 1, 1, -1], [0, 0, 0, 0], [1, 1, 1, np.nan]])
    def test_bad_prior(self, prior):
        with pytest.raises(BadInput, match="prior"):
            from_arrays(WORDS, np.ones((4, 1)), prior=prior)

    def test_bad_fallback_and_codes(self):
        with pytest.raises(BadInput, match="unknown words"):
            from_arrays(WORDS, np.ones((4, 1)), fallback=[1, 2])
        with pytest.raises(BadInput, match="other words"):
            from_arrays(WORDS, np.ones((4, 1)), Codes.from_bits(list("abcd"), np.eye(4)))

    def test_head(self, vectors):
        head = vectors.head(2)
        assert list(head.words) == WORDS[:2]
        np.testing.assert_allclose(head.prior, [4 / 7, 3 / 7])
        np.testing.assert_array_equal(head.codes.words64, vectors.codes.words64[:2])
        assert vectors.head(9) is vectors

    def test_pickle(self, vectors):
        same(pickle.loads(pickle.dumps(vectors)), vectors)


class TestTextFiles:
    @pytest.mark.parametrize("name", ["v.txt", "v.vec", "v.txt.gz", "v.vec.gz"])
    @pytest.mark.parametrize("header", [False, True])
    @pytest.mark.parametrize(("separator", "end"), [(" ", "\n"), ("\t", "\n"), (" ", " \n"), ("  ", "\r\n")])
    def test_reads_what_it_should(self, tmp_path, vectors, name, header, separator, end):
        path = text_file(tmp_path / name, vectors, header, separator, end)
        same(load(path), from_arrays(WORDS, vectors.matrix))

    def test_many_lines_and_limit(self, tmp_path):
        big = from_arrays([f"w{i}" for i in range(5000)], np.random.default_rng().standard_normal((5000, 2)))
        path = text_file(tmp_path / "v.vec", big, header=True)
        same(load(path), big)
        limited = load(path, limit=3)
        assert list(limited.words) == ["w0", "w1", "w2"]
        np.savez(tmp_path / "v.npz", words=np.array(list(big.words)), matrix=big.matrix)
        same(load(tmp_path / "v.npz", limit=3), limited)

    def test_words_with_spaces_and_odd_line_breaks(self, tmp_path):
        path = tmp_path / "v.txt"
        path.write_bytes("x 1 2\n. . . 3 4\na\u2028b 5 6\n".encode())
        assert list(load(path).words) == ["x", ". . .", "a\u2028b"]

    @pytest.mark.parametrize(
        ("data", "message"),
        [
            (b"a 1 2\nb 1\n", "line 2: has 1 numbers where 2 are expected"),
            (b"a 1 2\nb 1 2 3\n", "line 2: has 3 numbers where 2 are expected"),
            (b"a 1 2\n\n", "line 2: has 0 numbers"),
            (b"a 1 2\nb 1 x\n", "line 2: holds a field that is not a number"),
            (b"a 1 2\nb 1 1_0\n", "line 2: holds a field that is not a number"),
            (b"a 1 2\nb 1 nan\n", "line 2: holds a value that is not finite"),
            (b"a 1 2\nb 1 1e60\n", "line 2: holds a value that is not finite"),
            (b"2 2\na 1 2\nb inf 1\n", "line 3: holds a value that is not finite"),
            (b"a 1 2\nb 0 0.0\n", "line 2: is a zero vector"),
            (b"a 1 2\nb 1 3\na 1 2\n", "line 3: repeats the word of line 1"),
            (b"a 1 2\n\xff\xfe 1 2\n", "line 2: is not valid UTF-8"),
            (b"a 1 2\nb 1 \xff\n", "line 2: holds a field that is not a number"),
            (b"3 2\na 1 2\nb 1 2\n", "holds 2 words where its first line says 3"),
            (b"", "empty"),
            (b"0 2\n", "empty"),
            (b"word\n", "line 1: has no numbers"),
        ],
    )
    def test_bad_text(self, tmp_path, data, message):
        path = tmp_path / "v.txt"
        path.write_bytes(data)
        with pytest.raises(BadInput, match=message) as caught:
            load(path)
        assert str(path) in str(caught.value)

    def test_bad_files(self, tmp_path, vectors):
        with pytest.raises(BadInput, match="does not exist"):
            load(tmp_path / "none.txt")
        with pytest.raises(BadInput, match="not a file"):
            (tmp_path / "folder.vec").mkdir()
            load(tmp_path / "folder.vec")
        with pytest.raises(BadInput, match=r"unknown extension; possible: \.txt"):
            load(tmp_path / "v.bin")
        cut = text_file(tmp_path / "v.vec.gz", vectors)
        cut.write_bytes(cut.read_bytes()[:-20])
        with pytest.raises(BadInput, match="decompressed"):
            load(cut)
        with pytest.raises(BadParameter, match="limit"):
            load(cut, limit=0)


class TestArchives:
    def test_round_trip(self, tmp_path, vectors):
        vectors.save(tmp_path / "v.npz")
        same(load(tmp_path / "v.npz"), vectors)

    @pytest.mark.parametrize("key", ["matrix", "vectors"])
    def test_plain_archives(self, tmp_path, vectors, key):
        joined = np.frombuffer("\n".join(WORDS).encode(), dtype=np.uint8)
        for words in (np.array(WORDS), np.array([w.encode() for w in WORDS]), joined):
            np.savez(tmp_path / "v.npz", words=words, **{key: vectors.matrix})
            same(load(tmp_path / "v.npz"), from_arrays(WORDS, vectors.matrix))

    @pytest.mark.parametrize(
        ("arrays", "message"),
        [
            ({"words": np.array(["a"])}, "lacks an array"),
            ({"words": np.array(["a"]), "matrix": np.array([["x"]])}, "not of numbers"),
            ({"words": np.array([1]), "matrix": np.ones((1, 1))}, "words of type"),
            ({"words": np.array(["a"]), "matrix": np.ones((2, 1))}, "1 words and 2 vectors"),
            ({"words": np.array([255], np.uint8), "matrix": np.ones((1, 1))}, "UTF-8"),
            ({"words": np.array(["a"], object), "matrix": np.ones((1, 1))}, "plain arrays"),
        ],
    )
    def test_bad_archives(self, tmp_path, arrays, message):
        np.savez(tmp_path / "v.npz", **arrays)
        with pytest.raises(BadInput, match=message):
            load(tmp_path / "v.npz")

    def test_not_an_archive(self, tmp_path):
        (tmp_path / "v.npz").write_bytes(b"hello")
        with pytest.raises(BadInput, match="readable"):
            load(tmp_path / "v.npz")


class TestStore:
    def test_round_trip_stays_mapped(self, tmp_path, vectors):
        vectors.save(tmp_path / "v.tvv")
        opened = load(tmp_path / "v.tvv")
        same(opened, vectors)
        assert not opened.matrix.flags.owndata
        assert not opened.matrix.flags.writeable
        assert opened.matrix.ctypes.data % 64 == 0

    @pytest.mark.parametrize("prior", [None, zipf_prior(4), [1, 0, 2, 5]])
    def test_priors(self, tmp_path, prior):
        v = from_arrays(WORDS, np.ones((4, 2)), prior=prior)
        v.save(tmp_path / "v.tvv")
        same(load(tmp_path / "v.tvv"), v)

    @pytest.mark.parametrize("dtype", ["float16", "int8"])
    def test_narrow_types_round_once(self, tmp_path, vectors, dtype):
        vectors.save(tmp_path / "once.tvv", dtype=dtype)
        once = load(tmp_path / "once.tvv")
        once.save(tmp_path / "twice.tvv", dtype=dtype)
        same(load(tmp_path / "twice.tvv"), once)
        once.save(tmp_path / "wide.tvv")
        same(load(tmp_path / "wide.tvv"), once)

    def test_int8_error_is_half_a_step(self):
        matrix = np.random.default_rng().standard_normal((200, 50)).astype(np.float32)
        levels, scales = store.quantise(matrix)
        step = scales.astype(np.float64)[:, None]
        assert (np.abs(store.dequantise(levels, scales) - matrix) <= step * (0.5 + 1e-4)).all()
        assert np.abs(levels.astype(int)).max(axis=1).tolist() == [127] * 200

    def test_what_does_not_fit(self, tmp_path):
        huge = from_arrays(["a"], [[1e30]])
        with pytest.raises(BadInput, match="float16"):
            huge.save(tmp_path / "v.tvv", dtype="float16")
        with pytest.raises(BadInput, match="too large or too small"):
            huge.save(tmp_path / "v.tvv", dtype="int8")
        with pytest.raises(BadParameter, match="dtype"):
            huge.save(tmp_path / "v.tvv", dtype="float64")
        with pytest.raises(BadParameter, match="dtype"):
            huge.save(tmp_path / "v.npz", dtype="int8")
        with pytest.raises(BadInput, match="unknown extension"):
            huge.save(tmp_path / "v.txt")
        assert list(tmp_path.iterdir()) == []

    def test_damaged_bytes_are_refused(self, tmp_path, vectors):
        vectors.save(tmp_path / "v.tvv", dtype="int8")
        data, good = (tmp_path / "v.tvv").read_bytes(), load(tmp_path / "v.tvv")
        bad = tmp_path / "bad.tvv"
        for position in range(np.random.default_rng().integers(4), len(data), 4):
            bad.write_bytes(data[:position] + bytes([data[position] ^ 1]) + data[position + 1 :])
            try:
                same(load(bad), good)  # only the padding between blocks may go unnoticed
                assert data[position] == 0
            except BadInput:
                pass
        for length in range(0, len(data), 11):
            bad.write_bytes(data[:length])
            with pytest.raises(BadInput):
                load(bad)

    def test_verify_false_leaves_the_matrix_unread(self, tmp_path, vectors):
        path = tmp_path / "v.tvv"
        vectors.save(path)
        data = bytearray(path.read_bytes())
        start = bytes(data).index(vectors.matrix.tobytes())
        data[start] ^= 1
        path.write_bytes(bytes(data))
        with pytest.raises(BadInput, match="damaged matrix"):
            load(path)
        assert len(load(path, verify=False)) == 4

    def test_zero_vectors(self, tmp_path):
        from_arrays(["a", "b"], [[0.0], [1.0]], allow_zero=True).save(tmp_path / "v.tvv")
        with pytest.raises(BadInput, match="zero vector"):
            load(tmp_path / "v.tvv")
        assert len(load(tmp_path / "v.tvv", allow_zero=True)) == 2
