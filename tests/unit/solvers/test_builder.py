"""The typed builder: what each kind of field takes, what it refuses and in which words, and the way back."""

from __future__ import annotations

import enum
import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, make_dataclass
from fractions import Fraction
from typing import Any, Literal

import pytest

from solvers.builder import Context, build, encode, encode_fields, file_fields, inputs_of, make, plan_of, read_exact
from solvers.contract import File, FrozenMap, Source
from solvers.errors import ConfigError, ContractError, UntrustedCode
from solvers.games.forced_rps import ForcedRps
from solvers.games.matrix import Matrix
from solvers.games.octal import Octal
from solvers.impartial.mex_dp import MexDp


class Colour(enum.Enum):
    RED = "red"
    TWO = 2


@dataclass(frozen=True, slots=True)
class Pair:
    left: int
    right: Fraction = Fraction(1)


@dataclass(frozen=True, slots=True)
class Even:
    n: int

    def __post_init__(self) -> None:
        if self.n % 2:
            raise ConfigError("n", "an even number", str(self.n))


def read(hint: Any, raw: Any, context: Context | None = None) -> Any:
    """Convert a raw value as a field `x` with this annotation would."""
    cls = make_dataclass("One", [("x", hint)], frozen=True)
    if context is None:
        return make(cls, x=raw).x
    from solvers.builder import _read_class

    return _read_class("One", cls).convert("x", raw, context)


# ---- taken -------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("hint", "raw", "value"),
    [
        (int, 3, 3),
        (int, -3, -3),
        (int, "3", 3),
        (int, " +3 ", 3),
        (int, "1e6", 1_000_000),
        (int, "6/2", 3),
        (int, 4.0, 4),
        (int, "9" * 40, int("9" * 40)),
        (float, 3, 3.0),
        (float, 0.25, 0.25),
        (float, "0.10", 0.1),
        (float, "1/3", 1 / 3),
        (float, "1e-300", 1e-300),
        (float, "1e-999", 0.0),
        (bool, True, True),
        (bool, False, False),
        (str, "x", "x"),
        (str, "", ""),
        (str, "0.77", "0.77"),
        (Fraction, 3, Fraction(3)),
        (Fraction, "1/2", Fraction(1, 2)),
        (Fraction, "-2/4", Fraction(-1, 2)),
        (Fraction, "0.10", Fraction(1, 10)),
        (Fraction, ".5", Fraction(1, 2)),
        (Fraction, "2.", Fraction(2)),
        (Fraction, "1.5e-3", Fraction(3, 2000)),
        (Fraction, "0.1234567012345670123", Fraction(1234567012345670123, 10**19)),
        (Fraction, "1e999", Fraction(10**999)),
        (Fraction, "7" * 2000, Fraction(int("7" * 2000))),
        (Fraction, Fraction(2, 3), Fraction(2, 3)),
        (Literal["a", "b"], "b", "b"),
        (Literal[1, 2], 2, 2),
        (Literal[1, 2], "2", 2),
        (Literal["on"] | None, None, None),
        (Colour, "red", Colour.RED),
        (Colour, 2, Colour.TWO),
        (Colour, "2", Colour.TWO),
        (Colour, Colour.RED, Colour.RED),
        (tuple[int, ...], [], ()),
        (tuple[int, ...], [1, "2"], (1, 2)),
        (tuple[int, ...], (1, 2), (1, 2)),
        (tuple[int, str], [1, "x"], (1, "x")),
        (tuple[tuple[Fraction, ...], ...], [["1/2"], [1, "0.5"]], ((Fraction(1, 2),), (Fraction(1), Fraction(1, 2)))),
        (Mapping[str, int], {"b": "1", "a": 2}, FrozenMap({"a": 2, "b": 1})),
        (Mapping[str, int], {1: 2}, FrozenMap({"1": 2})),
        (int | None, None, None),
        (int | None, "4", 4),
        (int | str, "x", "x"),
        (int | str, "4", 4),
        (str | int, "4", "4"),
        (tuple[int, ...] | None, None, None),
        (int | Literal["auto"], "auto", "auto"),
        (Pair, {"left": "1"}, Pair(1)),
        (Pair, {"left": 1, "right": "1/3", "_target_": "anything"}, Pair(1, Fraction(1, 3))),
        (Pair, Pair(2), Pair(2)),
        (tuple[Pair, ...], [{"left": 1}, {"left": 2}], (Pair(1), Pair(2))),
        (File, File(b"x"), File(b"x")),
        (Source, Source(b"x", "X"), Source(b"x", "X")),
    ],
    ids=str,
)
def test_taken(hint, raw, value):
    found = read(hint, raw)
    assert found == value
    assert type(found) is type(value)


def test_minus_zero_is_zero():
    assert math.copysign(1, read(float, -0.0)) == 1
    assert math.copysign(1, read(float, "-0.0")) == 1


# ---- refused: the path, what was wanted, what came ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("hint", "raw", "said"),
    [
        (int, True, "x: expected int, got True"),
        (int, 2.5, "x: expected int, got 2.5"),
        (int, "2.5", "x: expected int, got '2.5'"),
        (int, "x", "x: expected int, got 'x'"),
        (int, "", "x: expected int, got ''"),
        (int, "1_000", "x: expected int, got '1_000'"),
        (int, math.inf, "x: expected int, got inf"),
        (int, math.nan, "x: expected int, got nan"),
        (int, None, "x: expected int, got None"),
        (int, [1], "x: expected int, got [1]"),
        (float, True, "x: expected a number, got True"),
        (float, "x", "x: expected a number, got 'x'"),
        (float, "nan", "x: expected a number, got 'nan'"),
        (float, "1/0", "x: expected a number, got '1/0'"),
        (float, math.inf, "x: expected a finite number, got inf"),
        (float, math.nan, "x: expected a finite number, got nan"),
        (float, 10**400, "x: expected a finite number, got 1000"),
        (float, "1e999", "x: expected a finite number, got "),
        (float, None, "x: expected a number, got None"),
        (bool, 1, "x: expected true or false, got 1"),
        (bool, "true", "x: expected true or false, got 'true'"),
        (str, 0.77, "x: expected text, got the number 0.77 (quote it)"),
        (str, 7, "x: expected text, got the number 7 (quote it)"),
        (str, True, "x: expected text, got True"),
        (str, None, "x: expected text, got None"),
        (Fraction, 0.5, "x: expected an exact number, got the float 0.5 (quote it; in a sweep, sweep.grid="),
        (Fraction, "1/0", "x: expected an exact number, such as 3, 1/2 or 0.25, got '1/0'"),
        (Fraction, "nan", "got 'nan'"),
        (Fraction, "inf", "got 'inf'"),
        (Fraction, "1 / 2", "got '1 / 2'"),
        (Fraction, "1/2/3", "got '1/2/3'"),
        (Fraction, "0.5/2", "got '0.5/2'"),
        (Fraction, "1e1000", "got '1e1000'"),
        (Fraction, "1e999999999", "got '1e999999999'"),
        (Fraction, "e5", "got 'e5'"),
        (Fraction, ".", "got '.'"),
        (Fraction, "7" * 2001, "got '7777"),
        (Fraction, True, "x: expected an exact number, such as 3, 1/2 or 0.25, got True"),
        (Fraction, None, "got None"),
        (Literal["steady", "random"], "stedy", "x: expected one of steady, random, got 'stedy' (did you mean steady?)"),
        (Literal[1, 2], True, "x: expected one of 1, 2, got True"),
        (Literal[1, 2], 3, "x: expected one of 1, 2, got 3"),
        (Colour, "blue", "x: expected one of red, 2, got 'blue'"),
        (tuple[int, ...], "12", "x: expected a list, got '12'"),
        (tuple[int, ...], 3, "x: expected a list, got 3"),
        (tuple[int, ...], {"a": 1}, "x: expected a list, got {'a': 1}"),
        (tuple[int, ...], [1, "y"], "x[1]: expected int, got 'y'"),
        (tuple[int, str], [1], "x: expected a list of 2, got 1 entries"),
        (tuple[int, str], [1, 2], "x[1]: expected text, got the number 2 (quote it)"),
        (tuple[tuple[Fraction, ...], ...], [["1"], ["1", "1/0"]], "x[1][1]: expected an exact number"),
        (Mapping[str, int], [1], "x: expected a map, such as {name: value}, got [1]"),
        (Mapping[str, int], {"rock": "y"}, "x.rock: expected int, got 'y'"),
        (Mapping[str, tuple[int, ...]], {"a": [1, None]}, "x.a[1]: expected int, got None"),
        (int | None, "y", "x: expected int, got 'y'"),
        (int | bool, "y", "x: expected int or true or false, got 'y'"),
        (tuple[int, ...] | None, [1, "y"], "x[1]: expected int, got 'y'"),
        (Pair, 3, "x: expected a map of the fields of Pair, got 3"),
        (Pair, {"left": "y"}, "x.left: expected int, got 'y'"),
        (Pair, {"rigt": 1}, "x.rigt: expected a field of Pair, got an unknown key (did you mean right?)"),
        (Pair, {}, "x.left: expected a value, got nothing (Pair needs left)"),
        (Even, {"n": 3}, "x.n: expected an even number, got 3"),
        (tuple[Even, ...], [{"n": 2}, {"n": 3}], "x[1].n: expected an even number, got 3"),
        (File, 3, "x: expected the path of a file, got 3"),
        (File, "nowhere/at all", "x: expected a file that can be read, got 'nowhere/at all' (no such file or directory)"),
        (
            File,
            {"sha256": "0"},
            "x: expected a stored input file, got {'sha256': '0'} (its content is missing from inputs/, or damaged there)",
        ),
        (Source, "mine.py", "x: expected file.py:Class, got 'mine.py'"),
        (Source, "mine.py:not a name", "x: expected file.py:Class"),
        (Source, 3, "x: expected file.py:Class, got 3"),
    ],
    ids=str,
)
def test_refused(hint, raw, said):
    with pytest.raises(ConfigError) as caught:
        read(hint, raw)
    assert said in str(caught.value)


@pytest.mark.parametrize("hint", [list[int], dict, Any, complex, Mapping[int, int], bytes], ids=str)
def test_fields_nobody_can_convert_are_our_bug(hint):
    with pytest.raises(ContractError, match="no converter for a field"):
        read(hint, 1)


def test_a_class_must_be_frozen():
    with pytest.raises(ContractError, match="must be a frozen dataclass"):
        make(make_dataclass("Thawed", [("x", int)]), x=1)


# ---- nodes -------------------------------------------------------------------------------------------------------------------


def test_build_reads_a_node():
    assert build({"_target_": "solvers.games.octal.Octal", "code": "0.77"}) == Octal("0.77")


@pytest.mark.parametrize(
    ("node", "said"),
    [
        ({"code": "0.77"}, "game._target_: expected a class in solvers.*, got ''"),
        ({"_target_": "os.system"}, "game._target_: expected a class in solvers.*, got 'os.system' (trust=[os] admits it)"),
        ({"_target_": "solversx.Octal"}, "(trust=[solversx] admits it)"),
        ({"_target_": "solvers"}, "game._target_: expected a class that exists, got 'solvers'"),
        ({"_target_": "solvers.games.octal.Octl"}, "game._target_: expected a class that exists"),
        ({"_target_": "solvers.games.octl.Octal"}, "game._target_: expected a class that exists"),
        ({"_target_": "solvers.games.octal.cast"}, "game._target_: expected a dataclass"),
        ({"_target_": "solvers.contract.FrozenMap"}, "game._target_: expected a dataclass"),
        ({"_target_": "solvers.games.octal.Octal"}, "game.code: expected a value, got nothing (Octal needs code)"),
        ({"_target_": "solvers.games.octal.Octal", "cod": "0.7"}, "game.cod: expected a field of Octal, got an unknown key"),
        ({"_target_": "solvers.games.octal.Octal", "version": 2}, "game.version: expected a field of Octal"),
        ({"_target_": "solvers.games.octal.Octal", "code": "0.9"}, "game.code: expected digits from 0 to 7, got '0.9'"),
        ({"_target_": "solvers.games.forced_rps.ForcedRps", "p1": {"rok": "1/2"}}, "game.p1.rok: expected a move"),
        ({"_target_": "solvers.games.matrix.Matrix", "payoffs": [[1, 2], [3]]}, "game.payoffs[1]: expected 2 entries"),
    ],
    ids=lambda value: json.dumps(value) if isinstance(value, dict) else "",
)
def test_nodes_refused(node, said):
    with pytest.raises(ConfigError) as caught:
        build(node, "game")
    assert said in str(caught.value)


def test_trust_admits_a_package_and_says_which_is_not_there():
    assert plan_of("minimex_fakes.games.Beads", ("minimex_fakes",)).cls.__name__ == "Beads"
    with pytest.raises(UntrustedCode):
        plan_of("minimex_fakes.games.Beads", ("minimex", "fakes"))
    with pytest.raises(ConfigError, match=r"an installed package, got 'nowhere.at.All' \(there is no nowhere here\)"):
        plan_of("nowhere.at.All", ("nowhere",))


def test_make_names_the_field_without_a_parent():
    with pytest.raises(ConfigError) as caught:
        make(MexDp, heap_limit="many")
    assert caught.value.path == "heap_limit"


# ---- files and sources -------------------------------------------------------------------------------------------------------


def test_a_file_is_read_from_the_contexts_folder(tmp_path):
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "a.txt").write_bytes(b"abc")
    found = read(File, "in/a.txt", Context(folder=tmp_path))
    assert (found.data, found.name) == (b"abc", "a.txt")


def test_a_stored_file_comes_from_the_inputs():
    file = File(b"abc", "a.txt")
    assert read(File, encode(file), Context(inputs={file.sha256: b"abc"})) == file


@pytest.mark.parametrize(
    ("context", "trusted"), [(Context(), False), (Context(run_sources=True), True), (Context(trust=("source",)), True)]
)
def test_a_source_runs_where_it_is_trusted(tmp_path, context, trusted):
    path = tmp_path / "mine.py"
    path.write_text("class Mine:\n    x = 3\nother = 4\n")
    source = read(Source, f"{path}:Mine", context)
    assert source.trusted is trusted
    if trusted:
        assert source.load().x == 3
    else:
        with pytest.raises(UntrustedCode, match=r"trust=\[source\] runs it"):
            source.load()


def test_a_source_must_name_a_class():
    with pytest.raises(TypeError, match="other in  is not a class"):
        Source(b"other = 4", "other", trusted=True).load()


def test_a_stored_source_is_the_same_source():
    source = Source(b"class Mine: pass", "Mine", "mine.py", trusted=True)
    again = read(Source, encode(source), Context(inputs={source.sha256: source.code}))
    assert again == source
    assert not again.trusted


@dataclass(frozen=True)
class Inner:
    source: Source | None = None


@dataclass(frozen=True)
class Deep:
    many: tuple[Mapping[str, File], ...] = ()
    inner: Inner | None = None
    number: int = 0


def test_inputs_are_found_at_any_depth():
    one, two = File(b"1"), Source(b"2", "X")
    assert file_fields(Deep) == ("many", "inner")
    assert inputs_of(Deep((FrozenMap({"k": one}),), Inner(two))) == {one.sha256: b"1", two.sha256: b"2"}


def test_classes_with_files_are_known():
    from minimex_fakes.games import Beads

    assert file_fields(Beads) == ("file", "source")
    assert file_fields(Octal) == ()


# ---- the way back ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("hint", "value", "text"),
    [
        (Fraction, Fraction(2, 4), '"1/2"'),
        (Fraction, Fraction(3), '"3"'),
        (float, 0.1, "0.1"),
        (bool, True, "true"),
        (Colour, Colour.TWO, "2"),
        (tuple[tuple[int, ...], ...], ((1,), ()), "[[1], []]"),
        (Mapping[str, Fraction], FrozenMap({"b": Fraction(1), "a": Fraction(1, 2)}), '{"a": "1/2", "b": "1"}'),
        (Pair | None, Pair(1), '{"left": 1, "right": "1"}'),
        (Pair | None, None, "null"),
    ],
    ids=str,
)
def test_encode_is_json_and_reads_back(hint, value, text):
    assert json.dumps(encode(value)) == text
    assert read(hint, json.loads(text)) == value


@pytest.mark.parametrize("value", [b"x", {1, 2}, object(), 1j, Pair], ids=str)
def test_values_no_field_may_have_are_our_bug(value):
    with pytest.raises(ContractError, match="a field cannot hold"):
        encode(value)


def test_fields_are_encoded_by_name():
    game = make(ForcedRps, a="0.5")
    assert encode_fields(game) == {
        "p1": {"rock": "1/2"},
        "p2": None,
        "a": None,
        "b": None,
        "base": "rock_paper_scissors",
        "parameters": [],
        "ranges": None,
    }
    assert encode_fields(make(Matrix, payoffs=[["1"]])) == {"payoffs": [["1"]], "row_actions": None, "column_actions": None}


def test_a_number_is_no_longer_in_lowest_terms_than_can_be_read_again():
    assert read_exact("1" * 1990 + "e9") == int("1" * 1990) * 10**9
    assert read_exact("1" * 1990 + "e99") is None
    assert read_exact("1" * 1500 + "e-999") is None
    longest = read_exact("7" * 400 + "e-999")
    assert read_exact(str(longest)) == longest
