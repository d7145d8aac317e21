"""Our own files: `.tvv` (vectors, memory-mapped) and `.tvc` (codes only, for small devices).

Layout of both, little-endian throughout:

    8 bytes   magic: b"TVVECTS1" or b"TVCODES1"
    8 bytes   length of the header in bytes (uint64)
    16 bytes  blake2b of the header
    header    JSON: what is stored, the file's size, and for every block its offset, size and blake2b
    blocks    each at a multiple of 64 bytes: words, matrix, scales, fallback, prior, codes, code_fallback

A `.tvv` matrix is float32 (used in place, straight from the map), float16, or int8 with one float16 scale a row; the
last two are widened to float32 when opened. Row scales are max|x| / 127 rounded up to float16, so that 127 * scale is
exact in float32 and storing a stored matrix again changes nothing. The words of a `.tvc` are compressed (lzma).

Every checksum is compared on opening, so a damaged or cut-off file is refused; `verify=False` skips the blocks that
stay mapped (float32 matrix, codes), for files too large to read through. A checksum finds damage, not forgery.
"""

from __future__ import annotations

import hashlib
import json
import lzma
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from textveil.core.errors import BadInput, BadParameter
from textveil.text.codes import Codes, blocks_for
from textveil.text.vectors import Vectors, check_rows, frozen, zipf_prior
from textveil.text.vocabulary import Vocabulary

VECTORS_MAGIC, CODES_MAGIC = b"TVVECTS1", b"TVCODES1"
ALIGN = 64
DTYPES = {"float32": "<f4", "float16": "<f2", "int8": "|i1"}


# --- vectors ----------------------------------------------------------------------------------------------------------
def write_vectors(path: str | os.PathLike[str], vectors: Vectors, dtype: str = "float32") -> None:
    """Write a `.tvv` file, whole or not at all."""
    if dtype not in DTYPES:
        raise BadParameter("dtype", dtype, f"one of {', '.join(DTYPES)}")
    blocks = {"words": vectors.words.encode(), "fallback": vectors.fallback.astype("<f4").tobytes()}
    if dtype == "int8":
        levels, scales = quantise(vectors.matrix)
        blocks |= {"matrix": levels.tobytes(), "scales": scales.astype("<f2").tobytes()}
    else:
        with np.errstate(over="ignore"):  # a value beyond float16 becomes inf, and is refused by name below
            narrow = vectors.matrix.astype(DTYPES[dtype])
        check_rows(narrow, allow_zero=True, where=f"matrix as {dtype}")
        blocks["matrix"] = narrow.tobytes()
    prior = _prior_name(vectors.prior)
    if prior == "given":
        blocks["prior"] = vectors.prior.astype("<f8").tobytes()
    bits = 0
    if vectors.codes is not None:
        bits = vectors.codes.bits
        blocks |= _code_blocks(vectors.codes)
    facts = {"name": vectors.name, "count": len(vectors), "dimensions": vectors.dimensions, "dtype": dtype}
    facts |= {"language": vectors.language} if vectors.language else {}
    _write(Path(path), VECTORS_MAGIC, facts | {"prior": prior, "bits": bits}, blocks)


def read_vectors(path: str | os.PathLike[str], *, verify: bool = True, allow_zero: bool = True) -> Vectors:
    """Open a `.tvv` file."""
    file = _File(Path(path), VECTORS_MAGIC)
    count, dimensions, dtype = file.number("count"), file.number("dimensions"), file.facts.get("dtype")
    if dtype not in DTYPES:
        raise file.damaged("names an unknown number type")
    words = Vocabulary.decode(file.block("words").tobytes(), where=path)
    if len(words) != count:
        raise file.damaged("holds another number of words than it says")
    stored = file.array("matrix", DTYPES[dtype], (count, dimensions), verify=verify or dtype != "float32")
    matrix = stored
    if dtype == "float16":
        matrix = frozen(stored.astype(np.float32))
    elif dtype == "int8":
        matrix = frozen(dequantise(stored, file.array("scales", "<f2", (count,))))
    if verify:
        check_rows(matrix, allow_zero=allow_zero, where=path)
    return Vectors(
        words=words,
        matrix=matrix,
        fallback=file.array("fallback", "<f4", (dimensions,)),
        prior=_prior_from(file, count),
        codes=_codes_from(file, words, file.number("bits"), verify) if file.number("bits") else None,
        name=str(file.facts.get("name", Path(path).stem)),
        language=str(file.facts.get("language", "")),
    )


def quantise(matrix: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """int8 levels and one float16 scale a row; `dequantise` gives values within half a scale of the original.

    >>> levels, scales = quantise(np.array([[127.0, -63.4], [0.0, 0.0]], dtype=np.float32))
    >>> levels.tolist(), scales.tolist()
    ([[127, -63], [0, 0]], [1.0, 0.0])
    """
    exact = np.abs(matrix).max(axis=1).astype(np.float64) / 127
    with np.errstate(over="ignore"):
        scales = exact.astype(np.float16)
        scales = np.where(scales.astype(np.float64) < exact, np.nextafter(scales, np.float16(np.inf)), scales)
    if not np.isfinite(scales).all() or ((scales < np.float16(2**-14)) & (exact > 0)).any():
        raise BadInput("the vectors are too large or too small for int8 with float16 scales", possible="float32")
    safe = np.where(scales > 0, scales, np.float16(1)).astype(np.float32)
    return np.rint(matrix / safe[:, None]).astype(np.int8), scales.astype(np.float16)


def dequantise(levels: np.ndarray, scales: np.ndarray) -> np.ndarray:
    """The float32 matrix that int8 levels and row scales stand for; exact, as 7 + 11 bits fit in 24."""
    matrix = levels.astype(np.float32)
    matrix *= scales.astype(np.float32)[:, None]
    return matrix


def _prior_name(prior: np.ndarray) -> str:
    if np.array_equal(prior, zipf_prior(len(prior))):
        return "zipf"
    return "uniform" if np.array_equal(prior, np.full(len(prior), 1.0 / len(prior))) else "given"


def _prior_from(file: _File, count: int) -> np.ndarray:
    match file.facts.get("prior"):
        case "zipf":
            return frozen(zipf_prior(count))
        case "uniform":
            return frozen(np.full(count, 1.0 / count))
        case "given":
            return file.array("prior", "<f8", (count,))
    raise file.damaged("names an unknown prior")


# --- codes ------------------------------------------------------------------------------------------------------------
def write_codes(path: str | os.PathLike[str], codes: Codes) -> None:
    """Write a `.tvc` file, whole or not at all."""
    if Path(path).suffix != ".tvc":
        raise BadInput("cannot be written: unknown extension", where=path, possible=".tvc")
    blocks = {"words": lzma.compress(codes.words.encode(), preset=9)} | _code_blocks(codes)
    _write(Path(path), CODES_MAGIC, {"count": len(codes), "bits": codes.bits}, blocks)


def read_codes(path: str | os.PathLike[str], *, verify: bool = True) -> Codes:
    """Open a `.tvc` file."""
    file = _File(Path(path), CODES_MAGIC)
    try:
        words = Vocabulary.decode(lzma.decompress(file.block("words").tobytes()), where=path)
    except lzma.LZMAError as error:
        raise file.damaged("holds words that cannot be decompressed") from error
    if len(words) != file.number("count"):
        raise file.damaged("holds another number of words than it says")
    return _codes_from(file, words, file.number("bits"), verify)


def _code_blocks(codes: Codes) -> dict[str, bytes]:
    return {"codes": codes.words64.astype("<u8").tobytes(), "code_fallback": codes.fallback.astype("<u8").tobytes()}


def _codes_from(file: _File, words: Vocabulary, bits: int, verify: bool) -> Codes:
    packed = file.array("codes", "<u8", (len(words), blocks_for(bits)), verify=verify)
    fallback = file.array("code_fallback", "<u8", (blocks_for(bits),))
    return Codes.from_packed(words, packed, bits, fallback, where=file.path)


# --- the container ----------------------------------------------------------------------------------------------------
def _write(path: Path, magic: bytes, facts: dict[str, Any], blocks: dict[str, bytes]) -> None:
    """Lay the blocks out behind the header. The header tells offsets, so its own length is fixed first, by padding."""
    reserved = _aligned(32 + len(json.dumps(facts)) + 160 * (len(blocks) + 1))
    table, offset = {}, reserved
    for name, data in blocks.items():
        table[name] = {"offset": offset, "bytes": len(data), "blake2b": _digest(data).hex()}
        offset = _aligned(offset + len(data))
    header = json.dumps(facts | {"size": offset, "blocks": table}).encode().ljust(reserved - 32)
    with replacing(path) as handle:
        handle.write(magic + len(header).to_bytes(8, "little") + _digest(header) + header)
        for data in blocks.values():
            handle.write(data)
            handle.write(bytes(_aligned(handle.tell()) - handle.tell()))


@contextmanager
def replacing(path: Path) -> Iterator[BinaryIO]:
    """A file that takes the place of `path` when the block ends well, and vanishes otherwise."""
    try:
        descriptor, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    except OSError as error:
        raise BadInput(f"cannot be written ({error.strerror})", where=path) from error
    partial = Path(name)
    try:
        with os.fdopen(descriptor, "wb") as handle:
            yield handle
        mask = os.umask(0)  # mkstemp makes a file for its owner only: give it the usual permissions
        os.umask(mask)
        partial.chmod(0o666 & ~mask)
        os.replace(partial, path)
    except OSError as error:
        raise BadInput(f"cannot be written ({error.strerror})", where=path) from error
    finally:
        partial.unlink(missing_ok=True)


class _File:
    """A mapped file whose header has been checked."""

    def __init__(self, path: Path, magic: bytes):
        self.path = path
        try:
            self.map = np.memmap(path, dtype=np.uint8, mode="r") if path.stat().st_size else np.zeros(0, np.uint8)
        except OSError as error:
            raise BadInput(f"cannot be read ({error.strerror})", where=path) from error
        if self.map[:8].tobytes() != magic:
            raise BadInput(f"is not a {path.suffix} file of this version", where=path)
        length = int.from_bytes(self.map[8:16].tobytes(), "little")
        header = self.map[32 : 32 + length].tobytes()
        if len(header) != length or _digest(header) != self.map[16:32].tobytes():
            raise self.damaged("has a damaged header")
        self.facts: dict[str, Any] = json.loads(header)
        if self.facts.get("size") != len(self.map):
            raise self.damaged(f"has {len(self.map)} bytes where its header says {self.facts.get('size')}")

    def damaged(self, what: str) -> BadInput:
        return BadInput(what + ", so the file is damaged", where=self.path)

    def number(self, name: str) -> int:
        value = self.facts.get(name)
        if not isinstance(value, int) or value < 0:
            raise self.damaged(f"does not say its {name}")
        return value

    def block(self, name: str, *, verify: bool = True) -> np.ndarray:
        place = self.facts.get("blocks", {}).get(name)
        if place is None:
            raise self.damaged(f"lacks its {name}")
        data = self.map[place["offset"] : place["offset"] + place["bytes"]]
        if len(data) != place["bytes"] or (verify and _digest(data).hex() != place["blake2b"]):
            raise self.damaged(f"has damaged {name}")
        return data

    def array(self, name: str, dtype: str, shape: tuple[int, ...], *, verify: bool = True) -> np.ndarray:
        """A block as a read-only array straight from the map."""
        data = self.block(name, verify=verify)
        if len(data) != np.dtype(dtype).itemsize * int(np.prod(shape)):
            raise self.damaged(f"has {name} of another shape than it says")
        return np.asarray(data).view(dtype).reshape(shape)


def _digest(data: bytes | np.ndarray) -> bytes:
    return hashlib.blake2b(data if isinstance(data, bytes) else data.data, digest_size=16).digest()


def _aligned(offset: int) -> int:
    return -(-offset // ALIGN) * ALIGN
