"""Integers of 64 or 128 bits in compiled loops: products in twice the bits, divisions that are known to be exact.

An entry is an int64, or an integer of 128 bits in the guise of a complex128, because numba has no such integers: two words, the
lower first. Nothing but the functions here looks into an entry. They are written in LLVM, for numba offers no wider product, and a
compiled loop is the same for both kinds.

An exact division needs no division: of a number that `odd 2^shift` divides, shift the twos out and multiply by the inverse of `odd`
modulo the size of an entry (Jebelean 1993). Whether the quotient fits is seen by multiplying back.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from llvmlite import ir  # type: ignore[import-untyped] # part of numba
from numba.core import types
from numba.extending import intrinsic

Entries = npt.NDArray[Any]
"""Of int64 or of complex128."""

_WORD, _INT128, _INT256 = (ir.IntType(bits) for bits in (64, 128, 256))
_LOW = (1 << 64) - 1
_STEPS = 6  # of Newton: 3 bits are right at first, each step doubles them


def pack(numbers: Sequence[Sequence[int]], *, long: bool) -> Entries:
    """Return integers as entries, `[n, m]`; they must fit.

    Examples
    --------
    >>> unpack(pack([[1, -2]], long=True)), unpack(pack([[-(2**100), 3]], long=True))
    ([[1, -2]], [[-1267650600228229401496703205376, 3]])
    """
    if not long:
        return np.array(numbers, np.int64)
    words = np.array([[[one & _LOW, (one >> 64) & _LOW] for one in row] for row in numbers], np.uint64)
    return words.view(np.complex128)[..., 0]


def unpack(entries: Entries) -> list[list[int]]:
    """Return entries, `[n, m]`, or what are integers already, as integers."""
    if entries.dtype in (np.int64, np.dtype(object)):
        numbers: list[list[int]] = entries.tolist()
        return numbers
    words = np.ascontiguousarray(entries).view(np.int64).reshape(*entries.shape, 2).tolist()
    return [[(high << 64) | (low & _LOW) for low, high in row] for row in words]


@intrinsic
def quotient(typing: Any, a: Any, b: Any, c: Any, d: Any, shift: Any, inverse: Any) -> Any:  # noqa: PLR0917
    """Return (a b - c d) / (odd 2^shift), where that is an integer that fits and `inverse` is that of `odd`."""

    def build(builder: Any, arguments: Any) -> Any:
        a, b, c, d, inverse = (_read(builder, arguments[place]) for place in (0, 1, 2, 3, 5))
        shifted = builder.ashr(_determinant(builder, a, b, c, d), builder.zext(arguments[4], a.type))
        return _written(builder, builder.mul(shifted, inverse), arguments[0])

    return a(a, b, c, d, shift, inverse), _generator(build)


@intrinsic
def is_quotient(typing: Any, said: Any, a: Any, b: Any, c: Any, d: Any, shift: Any, odd: Any) -> Any:  # noqa: PLR0917
    """Say whether `said` odd 2^shift = a b - c d, where 2^shift divides that, and -`said` fits, too."""

    def build(builder: Any, arguments: Any) -> Any:
        said, a, b, c, d, odd = (_read(builder, arguments[place]) for place in (0, 1, 2, 3, 4, 6))
        shifted = builder.ashr(_determinant(builder, a, b, c, d), builder.zext(arguments[5], a.type))
        least = a.type(-(1 << (a.type.width // 2 - 1)))
        same = builder.icmp_signed("==", builder.mul(said, odd), shifted)
        return builder.and_(same, builder.icmp_signed("!=", said, least))

    return types.boolean(said, a, b, c, d, shift, odd), _generator(build)


@intrinsic
def compared(typing: Any, a: Any, b: Any, c: Any, d: Any) -> Any:
    """Return the sign of a b - c d, an int64."""

    def build(builder: Any, arguments: Any) -> Any:
        a, b, c, d = (_read(builder, one) for one in arguments)
        return _compared(builder, builder.mul(a, b), builder.mul(c, d))

    return types.int64(a, b, c, d), _generator(build)


@intrinsic
def sign(typing: Any, a: Any) -> Any:
    """Return -1, 0 or 1, an int64."""

    def build(builder: Any, arguments: Any) -> Any:
        number = _read(builder, arguments[0])
        return _compared(builder, number, number.type(0))

    return types.int64(a), _generator(build)


@intrinsic
def negative(typing: Any, a: Any) -> Any:
    """Return -a."""

    def build(builder: Any, arguments: Any) -> Any:
        return _written(builder, builder.neg(_read(builder, arguments[0])), arguments[0])

    return a(a), _generator(build)


@intrinsic
def twos(typing: Any, a: Any) -> Any:
    """Return how often 2 divides a, which is not 0; an int64."""

    def build(builder: Any, arguments: Any) -> Any:
        return builder.trunc(builder.cttz(_read(builder, arguments[0]), ir.IntType(1)(0)), _WORD)

    return types.int64(a), _generator(build)


@intrinsic
def shifted(typing: Any, a: Any, shift: Any) -> Any:
    """Return a / 2^shift, rounded down."""

    def build(builder: Any, arguments: Any) -> Any:
        number = _read(builder, arguments[0])
        return _written(builder, builder.ashr(number, builder.zext(arguments[1], number.type)), arguments[0])

    return a(a, shift), _generator(build)


@intrinsic
def inverse(typing: Any, odd: Any) -> Any:
    """Return the inverse of an odd number modulo 2^64 or 2^128."""

    def build(builder: Any, arguments: Any) -> Any:
        number = _read(builder, arguments[0])
        found = number
        for _ in range(_STEPS):
            found = builder.mul(found, builder.sub(number.type(2), builder.mul(number, found)))
        return _written(builder, found, arguments[0])

    return odd(odd), _generator(build)


def _generator(build: Callable[[Any, Any], Any]) -> Callable[[Any, Any, Any, Any], Any]:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return build(builder, arguments)

    return generate


def _read(builder: Any, entry: Any) -> Any:
    """Return an entry as an integer of twice its bits, in which products, and differences of two, do not overflow."""
    if isinstance(entry.type, ir.IntType):
        return builder.sext(entry, _INT128)
    low, high = (builder.bitcast(builder.extract_value(entry, place), _WORD) for place in (0, 1))
    whole = builder.or_(builder.zext(low, _INT128), builder.shl(builder.zext(high, _INT128), _INT128(64)))
    return builder.sext(whole, _INT256)


def _written(builder: Any, number: Any, like: Any) -> Any:
    """Return the lower half of a number as an entry."""
    if isinstance(like.type, ir.IntType):
        return builder.trunc(number, _WORD)
    entry = ir.Constant(like.type, ir.Undefined)
    for place in (0, 1):
        word = builder.trunc(builder.lshr(number, _INT256(64 * place)), _WORD)
        entry = builder.insert_value(entry, builder.bitcast(word, ir.DoubleType()), place)
    return entry


def _determinant(builder: Any, a: Any, b: Any, c: Any, d: Any) -> Any:
    return builder.sub(builder.mul(a, b), builder.mul(c, d))


def _compared(builder: Any, left: Any, right: Any) -> Any:
    more, less = (builder.zext(builder.icmp_signed(way, left, right), _WORD) for way in (">", "<"))
    return builder.sub(more, less)
