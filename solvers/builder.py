"""From config nodes to frozen dataclasses, with types that mean what they say.

`build` makes one object from one node, `Plan` (a class read once) makes many, fast. A field's annotation decides: `int`, `float`,
`bool`, `str`, `Fraction` (exact: text and integers only), `Literal`, `Enum`, `tuple`, `Mapping[str, X]` (becomes a `FrozenMap`),
`X | None` and other unions, nested dataclasses, `File`, `Source`. `encode` goes the other way, to the canonical JSON from which
the object is identified and can be built again.

Text where a number is wanted is read as a number: that is how a number gets here exactly as it was typed.
"""

from __future__ import annotations

import dataclasses
import enum
import functools
import importlib
import math
import re
import types
import typing
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import Any, Literal, TypeVar, Union

from solvers.contract import File, FrozenMap, Source
from solvers.errors import ConfigError, ContractError, UntrustedCode, did_you_mean, nearest

T = TypeVar("T")

_EXACT = re.compile(r"[+-]?(\d+(/\d+)?|(\d+\.?\d*|\.\d+)([eE][+-]?\d{1,3})?)")
_LONGEST_NUMBER = 2000
_ALWAYS_SHORT = 400  # lowest terms of so few characters, with an exponent of three digits, are no longer than that


@dataclass(frozen=True, slots=True)
class Context:
    """What a build may use: trusted packages, stored input files by sha256, the folder that relative paths start from.

    `folder` None: no file is read, there are only the stored ones (a directory somebody sent us names no file of ours).
    """

    trust: tuple[str, ...] = ()
    inputs: Mapping[str, bytes] = field(default_factory=dict)
    folder: Path | None = Path()
    run_sources: bool = False


Convert = Callable[[Any, Context], Any]


@dataclass(frozen=True, slots=True)
class Plan:
    """A dataclass, read once: how to convert each field, which must be given."""

    target: str
    cls: type
    converters: Mapping[str, Convert]
    required: frozenset[str]

    def convert(self, name: str, raw: Any, context: Context) -> Any:
        """Convert one field's raw value.

        Raises
        ------
        ConfigError
            If there is no such field or the value does not fit; its path starts at the field.
        """
        converter = self.converters.get(name)
        if converter is None:
            raise ConfigError(name, f"a field of {self.cls.__name__}", "an unknown key", did_you_mean(name, self.converters))
        try:
            return converter(raw, context)
        except ConfigError as error:
            raise error.under(name) from None

    def make(self, values: Mapping[str, Any]) -> Any:
        """Make the object from converted values.

        Raises
        ------
        ConfigError
            If a required field is missing or the object refuses itself.
        """
        if not self.required <= values.keys():
            missing = sorted(self.required - values.keys())
            raise ConfigError(missing[0], "a value", "nothing", f"{self.cls.__name__} needs {', '.join(missing)}")
        return self.cls(**values)


def build(node: Mapping[str, Any], path: str = "", context: Context = Context()) -> Any:
    """Build the object a config node describes.

    Parameters
    ----------
    node
        `_target_` (dotted name of a frozen dataclass) and its fields.
    path
        Where the node stands ("game"), for messages.

    Raises
    ------
    ConfigError
        With the path, what was wanted, what came and what would do.
    UntrustedCode
        If the target lies outside `solvers.*` and its package is not trusted.
    """
    try:
        plan = plan_of(str(node.get("_target_", "")), context.trust)
        values = {name: plan.convert(str(name), raw, context) for name, raw in node.items() if name != "_target_"}
        return plan.make(values)
    except ConfigError as error:
        raise (error.under(path) if path else error) from None


def make(cls: type[T], **fields: Any) -> T:
    """Build an object in Python with the short forms YAML allows.

    Examples
    --------
    >>> from solvers.games.octal import Octal
    >>> make(Octal, code=".77").code
    '0.77'
    """
    plan = _read_class(f"{cls.__module__}.{cls.__qualname__}", cls)  # type: ignore[arg-type] # a class is hashable
    context = Context(run_sources=True)
    made: T = plan.make({name: plan.convert(name, raw, context) for name, raw in fields.items()})
    return made


def plan_of(target: str, trust: Sequence[str] = ()) -> Plan:
    """Find the class that a `_target_` names and read its fields (cached).

    Raises
    ------
    ConfigError, UntrustedCode
        If there is no such class, or it is not ours and not trusted.
    """
    package = target.split(".", maxsplit=1)[0]
    if package != "solvers" and package not in trust:
        raise UntrustedCode("_target_", "a class in solvers.*", repr(target), f"trust=[{package or 'package'}] admits it")
    return _plan_of(target)


def encode(value: Any) -> Any:
    """Return the JSON form of a converted value: exact numbers as text in lowest terms, files by their hash.

    Raises
    ------
    ContractError
        If the value is of a type no field may have.
    """
    if value is None or isinstance(value, bool | int | str):
        return value.value if isinstance(value, enum.Enum) else value
    if isinstance(value, float):
        return value
    if isinstance(value, Fraction):
        return str(value)
    if isinstance(value, tuple):
        return [encode(one) for one in value]
    if isinstance(value, Mapping):
        return {key: encode(one) for key, one in value.items()}
    if isinstance(value, enum.Enum):
        return value.value
    if isinstance(value, File):
        return {"sha256": value.sha256}
    if isinstance(value, Source):
        return {"sha256": value.sha256, "class": value.class_name}
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return encode_fields(value)
    raise ContractError(f"a field cannot hold a {type(value).__name__}: {value!r}")


def encode_fields(built: Any) -> dict[str, Any]:
    """Return the JSON form of a dataclass instance's fields."""
    return {name: encode(getattr(built, name)) for name in _field_names(type(built))}  # type: ignore[arg-type] # a class is hashable


def inputs_of(built: Any) -> dict[str, bytes]:
    """Return the content of every input file an object holds, by sha256."""
    found: dict[str, bytes] = {}
    stack = [getattr(built, name) for name in file_fields(type(built))]  # type: ignore[arg-type] # a class is hashable
    while stack:
        value = stack.pop()
        if isinstance(value, File):
            found[value.sha256] = value.data
        elif isinstance(value, Source):
            found[value.sha256] = value.code
        elif isinstance(value, tuple):
            stack.extend(value)
        elif isinstance(value, Mapping):
            stack.extend(value.values())
        elif dataclasses.is_dataclass(value) and not isinstance(value, type):
            stack.extend(getattr(value, name) for name in file_fields(type(value)))
    return found


@functools.cache
def file_fields(cls: type) -> tuple[str, ...]:
    """Return the fields of a class that may hold a `File` or `Source`, however deep; most classes have none."""
    hints = typing.get_type_hints(cls)
    return tuple(one.name for one in dataclasses.fields(cls) if _may_hold_file(hints[one.name]))


def _may_hold_file(hint: Any) -> bool:
    if hint in (File, Source):
        return True
    if isinstance(hint, type) and dataclasses.is_dataclass(hint):
        return bool(file_fields(hint))
    return any(_may_hold_file(one) for one in typing.get_args(hint))


# ---- reading classes ---------------------------------------------------------------------------------------------------------


@functools.cache
def _field_names(cls: type) -> tuple[str, ...]:
    return tuple(one.name for one in dataclasses.fields(cls))


@functools.cache
def _plan_of(target: str) -> Plan:
    module_name, _, class_name = target.rpartition(".")
    package = target.partition(".")[0]
    try:
        cls = getattr(importlib.import_module(module_name), class_name)
    except ModuleNotFoundError as error:
        if error.name and (error.name == package or not module_name.startswith(error.name)):
            raise ConfigError("_target_", "an installed package", repr(target), f"there is no {error.name} here") from error
        raise ConfigError("_target_", "a class that exists", repr(target)) from error
    except (ValueError, AttributeError) as error:
        raise ConfigError("_target_", "a class that exists", repr(target)) from error
    except Exception as error:
        raise ConfigError("_target_", "a module that can be imported", repr(target), f"{type(error).__name__}: {error}") from error
    if not (isinstance(cls, type) and dataclasses.is_dataclass(cls)):
        raise ConfigError("_target_", "a dataclass", repr(target))
    return _read_class(target, cls)


@functools.cache
def _read_class(target: str, cls: Any) -> Plan:
    if not cls.__dataclass_params__.frozen:
        raise ContractError(f"{target} must be a frozen dataclass")
    hints = typing.get_type_hints(cls)
    fields = [one for one in dataclasses.fields(cls) if one.init]
    needed = {one.name for one in fields if one.default is dataclasses.MISSING and one.default_factory is dataclasses.MISSING}
    return Plan(target, cls, {one.name: _converter(hints[one.name]) for one in fields}, frozenset(needed))


# ---- one converter for each type ---------------------------------------------------------------------------------------------


def _converter(hint: Any) -> Convert:  # not cached: `int | str` and `str | int` are equal keys and differ in what they read
    origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    if hint in _SCALARS:
        return _SCALARS[hint]
    if origin in (Union, types.UnionType):
        return _union(tuple(_converter(one) for one in arguments if one is not type(None)), type(None) in arguments)
    if origin is Literal:
        return _literal(arguments)
    if origin is tuple:
        return _tuple(arguments)
    if origin is not None and isinstance(origin, type) and issubclass(origin, Mapping) and arguments[0] is str:
        return _mapping(_converter(arguments[1]))
    if isinstance(hint, type) and issubclass(hint, enum.Enum):
        return _enum(hint)
    if dataclasses.is_dataclass(hint) and isinstance(hint, type):
        return _nested(hint)
    raise ContractError(f"no converter for a field annotated {hint!r}")


def _text(raw: Any, context: Context) -> str:
    if isinstance(raw, str):
        return raw
    if isinstance(raw, int | float) and not isinstance(raw, bool):
        raise ConfigError("", "text", f"the number {raw!r}", "quote it")
    raise ConfigError("", "text", repr(raw))


def _bool(raw: Any, context: Context) -> bool:
    if isinstance(raw, bool):
        return raw
    raise ConfigError("", "true or false", repr(raw))


def _int(raw: Any, context: Context) -> int:
    if isinstance(raw, int) and not isinstance(raw, bool):
        return raw
    number: Fraction | None = None
    if isinstance(raw, str):
        number = read_exact(raw)
    elif isinstance(raw, float) and raw.is_integer():
        number = Fraction(int(raw))
    if number is None or number.denominator != 1:
        raise ConfigError("", "int", repr(raw))
    return int(number)


def _float(raw: Any, context: Context) -> float:
    if isinstance(raw, bool) or not isinstance(raw, int | float | str):
        raise ConfigError("", "a number", repr(raw))
    if isinstance(raw, str):
        number = read_exact(raw)
        if number is None:
            raise ConfigError("", "a number", repr(raw))
        raw = number
    try:
        value = float(raw)
    except OverflowError:
        value = math.inf
    if not math.isfinite(value):
        raise ConfigError("", "a finite number", repr(raw))
    return value + 0.0  # -0.0 and 0.0 are one setting


def _fraction(raw: Any, context: Context) -> Fraction:
    if isinstance(raw, Fraction):
        return raw
    if isinstance(raw, int) and not isinstance(raw, bool):
        return Fraction(raw)
    if isinstance(raw, float):
        hint = "quote it; in a sweep, sweep.grid={key: 'start:stop:step'} is exact"
        raise ConfigError("", "an exact number", f"the float {raw!r}", hint)
    number = read_exact(raw) if isinstance(raw, str) else None
    if number is None:
        raise ConfigError("", "an exact number, such as 3, 1/2 or 0.25", repr(raw), _spelled(raw) if isinstance(raw, str) else "")
    return number


def _spelled(text: str) -> str:
    """Return a hint how to write what somebody seems to have meant: `0,5`, `1 / 2`; "" if nobody can know."""
    meant = re.sub(r"\s+", "", text)
    if re.fullmatch(r"[^,]*,(\d{1,2}|\d{4,})", meant):  # three digits after a comma may be thousands
        meant = meant.replace(",", ".")
    if read_exact(meant) is not None:
        return f"write {meant}"
    return "nothing can be divided by 0" if re.fullmatch(r"[+-]?\d+/0+", meant) else ""


def read_exact(text: str) -> Fraction | None:
    """Read a number as it was typed; None if it is none, or one too long or too large to compute with.

    Examples
    --------
    >>> read_exact("0.10"), read_exact("-2/4"), read_exact("1/0"), read_exact("1e999999999")
    (Fraction(1, 10), Fraction(-1, 2), None, None)
    """
    text = text.strip()
    if len(text) > _LONGEST_NUMBER or not _EXACT.fullmatch(text):
        return None
    try:
        found = Fraction(text)
    except ZeroDivisionError:
        return None
    if len(text) > _ALWAYS_SHORT and len(str(found)) > _LONGEST_NUMBER:  # it is stored like this, and read again
        return None
    return found


def _file(raw: Any, context: Context) -> File:
    if isinstance(raw, File):
        return raw
    if isinstance(raw, Mapping):
        return File(_stored(raw, context))
    if not isinstance(raw, str):
        raise ConfigError("", "the path of a file", repr(raw))
    return File(_read(raw, context), Path(raw).name)


def _source(raw: Any, context: Context) -> Source:
    if isinstance(raw, Source):
        return raw
    trusted = context.run_sources or "source" in context.trust
    if isinstance(raw, Mapping):
        return Source(_stored(raw, context), str(raw.get("class", "")), trusted=trusted)
    path, _, class_name = raw.rpartition(":") if isinstance(raw, str) else ("", "", "")
    if not path or not class_name.isidentifier():
        raise ConfigError("", "file.py:Class", repr(raw))
    return Source(_read(path, context), class_name, Path(path).name, trusted)


def _stored(raw: Mapping[str, Any], context: Context) -> bytes:
    try:
        return context.inputs[str(raw["sha256"])]
    except KeyError:
        hint = "its content is missing from inputs/, or damaged there"
        raise ConfigError("", "a stored input file", repr(dict(raw)), hint) from None


def _read(path: str, context: Context) -> bytes:
    if context.folder is None:
        raise ConfigError("", "a stored input file", repr(path), "a path is not followed here")
    try:
        return (context.folder / path).read_bytes()
    except OSError as error:
        raise ConfigError("", "a file that can be read", repr(path), (error.strerror or str(error)).lower()) from error


_SCALARS: dict[Any, Convert] = {
    str: _text,
    bool: _bool,
    int: _int,
    float: _float,
    Fraction: _fraction,
    File: _file,
    Source: _source,
}


def _union(choices: tuple[Convert, ...], optional: bool) -> Convert:  # noqa: FBT001 (a private factory)
    def convert(raw: Any, context: Context) -> Any:
        if raw is None and optional:
            return None
        errors = []
        for choice in choices:
            try:
                return choice(raw, context)
            except ConfigError as error:
                errors.append(error)
        inside = [error for error in errors if error.path]  # these choices fit but for one entry: a list, a map
        if len(errors) == 1 or len(inside) == 1:
            raise (inside or errors)[0]
        wanted = " or ".join(dict.fromkeys(error.wanted for error in errors))
        raise ConfigError("", wanted, repr(raw), next((error.hint for error in errors if error.hint), ""))

    return convert


def _literal(allowed: tuple[Any, ...]) -> Convert:
    def convert(raw: Any, context: Context) -> Any:
        for one in allowed:
            if raw == one and isinstance(raw, bool) == isinstance(one, bool):
                return one
            if isinstance(one, int) and not isinstance(one, bool) and raw == str(one):
                return one
        names = [str(one) for one in allowed]
        wanted = names[0] if len(names) == 1 else f"one of {', '.join(names)}"
        raise ConfigError("", wanted, repr(raw), nearest(str(raw), names))

    return convert


def _enum(cls: type[enum.Enum]) -> Convert:
    values = {str(one.value): one for one in cls}

    def convert(raw: Any, context: Context) -> Any:
        if isinstance(raw, cls):
            return raw
        if str(raw) in values:
            return values[str(raw)]
        raise ConfigError("", f"one of {', '.join(values)}", repr(raw), nearest(str(raw), values))

    return convert


def _tuple(arguments: tuple[Any, ...]) -> Convert:
    many = len(arguments) == 2 and arguments[1] is Ellipsis  # noqa: PLR2004 (tuple[X, ...])
    converters = [_converter(one) for one in arguments if one is not Ellipsis]
    hint = "a list of lists: [[1, 2], [3, 4]]" if typing.get_origin(arguments[0]) is tuple else ""

    def convert(raw: Any, context: Context) -> tuple[Any, ...]:
        if isinstance(raw, str | bytes | Mapping) or not isinstance(raw, Sequence):
            raise ConfigError("", "a list", repr(raw), hint)
        if not many and len(raw) != len(converters):
            raise ConfigError("", f"a list of {len(converters)}", f"{len(raw)} entries")
        made = []
        for index, one in enumerate(raw):
            try:
                made.append(converters[0 if many else index](one, context))
            except ConfigError as error:
                raise error.under(f"[{index}]") from None
        return tuple(made)

    return convert


def _mapping(converter: Convert) -> Convert:
    def convert(raw: Any, context: Context) -> FrozenMap[Any]:
        if not isinstance(raw, Mapping):
            raise ConfigError("", "a map, such as {name: value}", repr(raw))
        made = {}
        for key, one in raw.items():
            try:
                made[str(key)] = converter(one, context)
            except ConfigError as error:
                raise error.under(str(key)) from None
        return FrozenMap(made)

    return convert


def _nested(cls: type) -> Convert:
    def convert(raw: Any, context: Context) -> Any:
        if isinstance(raw, cls):
            return raw
        if not isinstance(raw, Mapping):
            raise ConfigError("", f"a map of the fields of {cls.__name__}", repr(raw))
        plan = _read_class(f"{cls.__module__}.{cls.__qualname__}", cls)
        return plan.make({str(name): plan.convert(str(name), one, context) for name, one in raw.items() if name != "_target_"})

    return convert
