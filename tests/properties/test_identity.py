"""Laws of identity: describing and building again changes nothing, and the hash follows the content and only the content."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from fractions import Fraction
from typing import ClassVar, Literal

from hypothesis import assume, given, settings
from hypothesis import strategies as st

from solvers.builder import Context, build, encode, make
from solvers.contract import FrozenMap
from solvers.games.forced_rps import MOVES, ForcedRps
from solvers.games.matrix import Matrix
from solvers.games.octal import Octal
from solvers.identity import canonical, config_text, describe, digest, lineage, lineage_rng, rebuild
from solvers.impartial.mex_dp import MexDp
from solvers.regret.regret_matching import RegretMatching


@dataclass(frozen=True, slots=True)
class Inner:
    n: int = 0
    names: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Everything:
    """A field of every kind."""

    version: ClassVar[int] = 3
    extent: ClassVar[str | None] = "n"

    n: int = 0
    x: float = 0.0
    exact: Fraction = Fraction(0)
    text: str = ""
    flag: bool = False
    choice: Literal["a", "b", 7] = "a"
    pair: tuple[int, str] = (0, "")
    many: tuple[tuple[Fraction, ...], ...] = ()
    named: Mapping[str, Fraction] | None = None
    mixed: int | str | None = None
    inner: Inner = Inner()


FINITE = st.floats(allow_nan=False, allow_infinity=False)
FRACTIONS = st.fractions(max_denominator=10**6)
EVERYTHING = st.builds(
    Everything,
    n=st.integers(),
    x=FINITE.map(lambda x: x + 0.0),
    exact=FRACTIONS,
    text=st.text(),
    flag=st.booleans(),
    choice=st.sampled_from(["a", "b", 7]),
    pair=st.tuples(st.integers(), st.text(max_size=5)),
    many=st.lists(st.lists(FRACTIONS, max_size=3).map(tuple), max_size=3).map(tuple),
    named=st.none() | st.dictionaries(st.text(max_size=5), FRACTIONS, max_size=3).map(FrozenMap),
    mixed=st.none() | st.integers() | st.text("abc ", max_size=3),  # digits would be read as a number
    inner=st.builds(Inner, st.integers(), st.lists(st.text(max_size=3), max_size=3).map(tuple)),
)
FORCED = st.none() | st.lists(st.fractions(0, Fraction(1, 3), max_denominator=60), min_size=3, max_size=3).map(
    lambda parts: dict(zip(MOVES, parts, strict=True))
)
GAMES = st.one_of(
    st.builds(ForcedRps, FORCED, FORCED),
    st.integers(1, 3).flatmap(
        lambda n: st.lists(st.lists(FRACTIONS, min_size=n, max_size=n).map(tuple), min_size=1, max_size=3).map(
            lambda rows: Matrix(tuple(rows))
        )
    ),
    st.text("01234567", min_size=1, max_size=6).map(lambda digits: Octal(f"0.{digits}")),
)
SOLVERS = st.one_of(
    st.builds(MexDp, st.integers(0, 10**5), st.booleans()),
    st.builds(RegretMatching, st.integers(1, 10**6)),
)


FEW = settings(max_examples=40)


def again(built):
    """Return what is built from an object's canonical text, by way of a file."""
    node = json.loads(describe(built))
    return make(type(built), **node["fields"])


@given(EVERYTHING)
def test_describing_and_building_again_is_the_identity(one):
    assert again(one) == one
    assert describe(again(one)) == describe(one)


@given(st.one_of(GAMES, SOLVERS))
def test_games_and_solvers_are_built_again_as_they_were(one):
    rebuilt = rebuild(json.loads(describe(one)), "it", Context())
    assert rebuilt == one
    assert type(rebuilt) is type(one)
    assert describe(rebuilt) == describe(one)


@FEW
@given(EVERYTHING, EVERYTHING)
def test_the_text_is_equal_exactly_where_the_objects_are(one, other):
    assert (describe(one) == describe(other)) == (one == other)


@FEW
@given(EVERYTHING, EVERYTHING, st.sampled_from([one.name for one in fields(Everything)]))
def test_any_changed_field_changes_the_hash(one, other, name):
    changed = replace(one, **{name: getattr(other, name)})
    assume(changed != one)
    assert digest(describe(changed)) != digest(describe(one))


@given(GAMES, SOLVERS, st.integers(0, 2**32), st.integers(0, 2**32))
def test_the_seed_is_part_of_who_a_point_is(game, solver, seed, other):
    assume(seed != other)
    assert digest(config_text(describe(game), describe(solver), seed)) != digest(
        config_text(describe(game), describe(solver), other)
    )
    assert lineage(game, solver, seed) != lineage(game, solver, other)


@given(GAMES, SOLVERS, st.integers(0, 2**32))
def test_a_points_text_is_canonical_json(game, solver, seed):
    text = config_text(describe(game), describe(solver), seed)
    assert canonical(json.loads(text)) == text


@FEW
@given(EVERYTHING, EVERYTHING, st.integers())
def test_lineage_ignores_the_extent(one, other, n):
    assert lineage(one, replace(other, n=n), 0) == lineage(one, other, 0)


@FEW
@given(EVERYTHING, EVERYTHING, EVERYTHING, st.sampled_from([one.name for one in fields(Everything) if one.name != "n"]))
def test_lineage_ignores_nothing_else(game, one, other, name):
    changed = replace(one, **{name: getattr(other, name)})
    assume(changed != one)
    assert lineage(game, changed, 0) != lineage(game, one, 0)
    assert lineage(changed, one, 0) != lineage(one, one, 0)
    assert lineage(replace(one, n=one.n + 1), one, 0) != lineage(one, one, 0), "a game has no extent"


@given(st.integers(0, 2**128 - 1))
def test_a_lineage_has_its_own_random_numbers(number):
    text = f"{number:032x}"
    assert lineage_rng(text).random() == lineage_rng(text).random()
    assert lineage_rng(text).random() != lineage_rng(f"{number ^ 1:032x}").random()


@given(st.integers(-(10**9), 10**9), st.integers(0, 6), st.integers(1, 50))
def test_one_number_has_one_identity_however_it_is_written(numerator, places, factor):
    value = Fraction(numerator, 10**places)
    sign, digits = "-" * (numerator < 0), str(abs(numerator)).rjust(places + 1, "0")
    decimal = f"{sign}{digits[: len(digits) - places]}.{digits[len(digits) - places :]}"
    spellings = [
        str(value),
        f"{value.numerator * factor}/{value.denominator * factor}",
        decimal,
        f"{decimal}0",
        f"{numerator}e-{places}",
        f" {value} ",
    ]
    assert {describe(make(Everything, exact=text)) for text in spellings} == {describe(Everything(exact=value))}
    assert {make(Everything, x=text).x for text in spellings} == {float(value)}


@given(FINITE)
def test_floats_are_told_by_repr(x):
    text = describe(make(Everything, x=x))
    assert f'"x":{x + 0.0!r}' in text
    assert make(Everything, x=repr(x)).x == x + 0.0


@given(st.dictionaries(st.text(max_size=5), FRACTIONS, min_size=2, max_size=6))
def test_the_order_of_a_maps_keys_does_not_matter(named):
    backwards = dict(reversed(named.items()))
    assert describe(make(Everything, named=named)) == describe(make(Everything, named=backwards))
    assert hash(FrozenMap(named)) == hash(FrozenMap(backwards))


@given(st.permutations([("_target_", "solvers.games.matrix.Matrix"), ("payoffs", [["1"]]), ("row_actions", None)]))
def test_the_order_of_fields_does_not_matter(items):
    assert describe(build(dict(items))) == describe(Matrix(((Fraction(1),),)))


@given(EVERYTHING)
@settings(max_examples=30)
def test_nothing_but_ascii_is_hashed(one):
    assert describe(one).isascii()
    assert encode(one) == json.loads(describe(one))["fields"]


def test_the_hash_of_a_known_point_stays_what_it_is():
    """Published hashes: a change here makes every stored sweep unknown."""
    game, solver = Octal("0.77"), MexDp(1000)
    text = config_text(describe(game), describe(solver), 0)
    assert text == (
        '{"game":{"fields":{"code":"0.77"},"target":"solvers.games.octal.Octal","version":1},"seed":0,'
        '"solver":{"fields":{"heap_limit":1000,"keep_nimbers":true},"target":"solvers.impartial.mex_dp.MexDp","version":1}}'
    )
    assert digest(text) == "fdac3ea3f4d3e1e371ad98fa0f71292b"
