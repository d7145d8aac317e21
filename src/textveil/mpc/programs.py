"""Programs of the engine: compiled from the public shape on every side, and compared by their hash. Needs spu and jax."""

from __future__ import annotations

import hashlib
from typing import Any

import numpy as np

from .networks import NetworkShape, scores

ANSWERS = ("label", "score", "sigmoid")  # what the client gets; sigmoid: the label by way of an approximated sigmoid
INPUT, CACHED, UNUSED = "x", "cached_", "unused_"


def compile_programs(shape: NetworkShape, rows: list[int], answer: str) -> dict[str, Any]:
    """By name: "weights" puts the matrices into the engine's cache, "run N" classifies N rows."""
    return {"weights": _weights_program(shape), **{f"run {n}": _run_program(shape, n, answer) for n in rows}}


def program_hash(program: Any) -> str:
    """A hash of everything that the engine executes."""
    digest = hashlib.sha256()
    code = program.code if isinstance(program.code, bytes) else program.code.encode()
    for part in (code, repr(list(program.input_names)).encode(), repr(list(program.output_names)).encode()):
        digest.update(hashlib.sha256(part).digest())
    return digest.hexdigest()


def matrices(shape: NetworkShape) -> list[str]:
    """The arrays that are multiplied: worth to be cached."""
    return [name for name, dims in shape.arrays().items() if len(dims) == 2]


def weight_names(shape: NetworkShape) -> list[str]:
    """Names of the weights as "run" programs take them."""
    cached = matrices(shape)
    return [f"{CACHED}{name}" if name in cached else name for name in shape.arrays()]


def outputs(answer: str) -> list[str]:
    return ["label", "value"] if answer == "score" else ["label"]


def _compiled(function: Any, arguments: list[Any], inputs: list[str], names: list[str]) -> Any:
    from spu import libspu
    from spu.utils import frontend

    secret = [libspu.Visibility.VIS_SECRET] * len(inputs)
    program, _ = frontend.compile(
        frontend.Kind.JAX, function, arguments, {}, inputs, secret, lambda found: names[: len(found)]
    )
    return program


def _weights_program(shape: NetworkShape) -> Any:
    """Cache each matrix, and multiply it once by its bias, place by place.

    The product is not needed. But when a cached matrix is first used in a matrix product, the engine draws the mask of the
    matrix and the mask of the result from the same place of its stream, and the dealer refuses to deal such numbers. In a
    product place by place it draws them one after the other, and every later matrix product repeats that mask.
    """
    from spu.experimental import make_cached_var

    names = matrices(shape)
    inputs = [*names, *(f"{name}_bias" for name in names)]
    zeros = [np.zeros(shape.arrays()[name], dtype=np.float32) for name in inputs]

    def cache(*arrays: Any) -> tuple[Any, ...]:
        cached = [make_cached_var(array) for array in arrays[: len(names)]]
        biases = arrays[len(names) :]
        return (*cached, *(matrix * bias for matrix, bias in zip(cached, biases, strict=True)))

    return _compiled(cache, zeros, inputs, [f"{CACHED}{name}" for name in names] + [f"{UNUSED}{n}" for n in names])


def _run_program(shape: NetworkShape, rows: int, answer: str) -> Any:
    import jax
    import jax.numpy as jnp

    dims = shape.arrays()
    zeros = [np.zeros((rows, shape.inputs), np.float32), *(np.zeros(d, np.float32) for d in dims.values())]

    def classify(x: Any, *weights: Any) -> Any:
        found = scores(shape, dict(zip(dims, weights, strict=True)), x, jnp)
        if found.shape[1] > 1:
            best = jnp.argmax(found, axis=1)
            return (best, jax.nn.softmax(found, axis=1)) if answer == "score" else best
        if answer == "label":
            return found[:, 0] > 0
        chance = jax.nn.sigmoid(found[:, 0])
        return (found[:, 0] > 0, chance) if answer == "score" else chance > 0.5

    return _compiled(classify, zeros, [INPUT, *weight_names(shape)], outputs(answer))


__all__ = ["ANSWERS", "INPUT", "compile_programs", "matrices", "outputs", "program_hash", "weight_names"]
