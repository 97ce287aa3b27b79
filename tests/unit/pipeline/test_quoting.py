"""Quoting changes nothing that Hydra parses, except that lone numbers arrive as the text that was typed."""

from __future__ import annotations

import pytest
from hydra.core.override_parser.overrides_parser import OverridesParser
from hydra.core.override_parser.types import Override, QuotedString, Sweep, Transformer
from hydra.errors import OverrideParseException
from hypothesis import example, given, settings
from hypothesis import strategies as st

from pipeline.quoting import quote_numbers

PARSER = OverridesParser.create()


def parsed(override):
    (found,) = PARSER.parse_overrides([override])
    return found


def values(override):
    """Return what an override stands for: its value, or every value it sweeps over."""
    found = parsed(override)
    if found.is_sweep_override():
        return [Override._convert_value(value) for value in found.sweep_iterator(Transformer.identity)]
    return found.value()


@pytest.mark.parametrize(
    ("override", "quoted"),
    [
        ("game.a=0.10", "game.a='0.10'"),
        ("game.a=-7", "game.a='-7'"),
        ("game.a=+7", "game.a='+7'"),
        ("game.a=1_000", "game.a='1_000'"),
        ("game.a=1e999", "game.a='1e999'"),
        ("game.a=inf", "game.a='inf'"),
        ("game.a=nan", "game.a='nan'"),
        ("+game.a=1", "+game.a='1'"),
        ("++game.p1.rock=.5", "++game.p1.rock='.5'"),
        ("game.a= 1 ", "game.a= '1'"),
        ("game.a=1,2, 0.30", "game.a='1','2', '0.30'"),
        ("game.a=[1,[2, x]]", "game.a=['1',['2', x]]"),
        ("game.a={rock: 1, paper: [2]}", "game.a={rock: '1', paper: ['2']}"),
        ("game.a={1: 2, 3: 4}", "game.a={1: '2', 3: '4'}"),
        ("game.a=choice(1,2)", "game.a=choice('1','2')"),
        ("game.a=shuffle(1,2)", "game.a=shuffle('1','2')"),
        ("sweep.grid={game.a: [0, 1/2, 0.10]}", "sweep.grid={game.a: ['0', 1/2, '0.10']}"),
        ("sweep.union=[{game.a: 1},{game.a: 2}]", "sweep.union=[{game.a: '1'},{game.a: '2'}]"),
    ],
)
def test_lone_numbers_are_quoted(override, quoted):
    assert quote_numbers(override) == quoted


@pytest.mark.parametrize(
    "override",
    [
        "compute.cpus=2",
        "seed=1,2",
        "seed=range(1,9)",
        "out=2024",
        "game=1",
        "games.a=1",
        "~game.a",
        "game.a=1/2",
        "game.a=3x3",
        "game.a=x1",
        "game.a=a 1",
        "game.a='1'",
        'game.a="1, 2"',
        "game.a=null",
        "game.a=true",
        "game.a=",
        "game.a=[]",
        "game.a=${seed}",
        "game.a=range(0,1,0.1)",
        "game.a=shuffle(range(1,9))",
        "game.a=interval(0,1)",
        "game.a=int(3.2)",
        "game.a=float(3)",
        "game.a=sort(3,1,2)",
        "sweep.grid={game.a: '0:1:1/60'}",
    ],
)
def test_everything_else_is_left_alone(override):
    assert quote_numbers(override) == override


NUMBERS = st.one_of(
    st.integers().map(str),
    st.decimals(allow_nan=False, allow_infinity=False, places=3).map(str),
    st.floats().map(repr),
    st.sampled_from(["0.10", "007", "1e999", "-.5", "1_0", "inf", "+1", "5.", "1E5"]),
)
SPACE = st.sampled_from(["", " ", "  "])
ATOMS = st.one_of(
    NUMBERS,
    st.sampled_from(
        ["1/2", "3x3", "x", "x 1", "a-1", "'1'", '"1, 2"', "'it\\'s 1'", "null", "true", "1:2:3", "0:1:1/60", "${seed}", "a\\,1"]
    ),
    st.tuples(st.integers(0, 9), st.integers(1, 9)).map(lambda pair: f"{pair[0]}/{pair[1]}"),
)


def spaced(parts):
    return st.tuples(SPACE, parts, SPACE).map("".join)


def containers(inner):
    keys = st.sampled_from(["rock", "game.a", "p_1", "1", "x2"])
    return st.one_of(
        st.lists(spaced(inner), max_size=3).map(lambda parts: f"[{','.join(parts)}]"),
        st.dictionaries(keys, spaced(inner), max_size=3).map(
            lambda items: "{" + ",".join(f"{key}:{value}" for key, value in items.items()) + "}"
        ),
    )


VALUES = st.recursive(ATOMS, containers, max_leaves=8)
SWEEPS = st.one_of(
    spaced(VALUES),
    st.lists(spaced(VALUES), min_size=2, max_size=4).map(",".join),
    st.lists(ATOMS, min_size=1, max_size=3).map(lambda parts: f"choice({', '.join(parts)})"),
    st.tuples(st.integers(0, 3), st.integers(4, 6)).map(lambda pair: f"range({pair[0]},{pair[1]})"),
)
KEYS = st.sampled_from(["game.a", "+game.a", "++solver.x.y", "sweep.grid"])


def same(plain, quoted):
    """Compare what Hydra made of an override before and after: equal, or a number that became its text."""
    if isinstance(plain, list):
        return isinstance(quoted, list) and len(plain) == len(quoted) and all(map(same, plain, quoted))
    if isinstance(plain, dict):
        return isinstance(quoted, dict) and list(plain) == list(quoted) and all(map(same, plain.values(), quoted.values()))
    if isinstance(plain, int | float) and not isinstance(plain, bool):
        return isinstance(quoted, str) and (float(quoted) == plain or plain != plain)  # noqa: PLR0124 (nan)
    return plain == quoted and type(plain) is type(quoted)


@settings(max_examples=100, deadline=None)
@given(KEYS, SWEEPS)
@example("game.a", "range(0,1)")
@example("game.a", "[1 ,2]")
@example("game.a", "[],0 ")
@example("game.a", "{rock:1:2:3}")
def test_hydra_parses_the_same_but_for_numbers(key, value):
    override = f"{key}={value}"
    try:
        before = values(override)
    except OverrideParseException:
        return
    if "range" in value:
        assert quote_numbers(override) == override
        return
    after = values(quote_numbers(override))
    assert same(before, after), (override, quote_numbers(override))
    assert parsed(override).key_or_group == parsed(quote_numbers(override)).key_or_group
    assert parsed(override).type == parsed(quote_numbers(override)).type


@given(KEYS, NUMBERS)
def test_a_number_arrives_as_it_was_typed(key, number):
    found = parsed(quote_numbers(f"{key}={number}"))._value
    assert (found.text if isinstance(found, QuotedString) else found) == number


@given(KEYS, SWEEPS)
@settings(max_examples=50, deadline=None)
def test_quoting_twice_is_quoting_once(key, value):
    once = quote_numbers(f"{key}={value}")
    assert quote_numbers(once) == once


@given(st.text(max_size=20))
@settings(max_examples=50, deadline=None)
def test_nonsense_stays_the_same_nonsense(value):
    override = f"game.a={value}"
    quoted = quote_numbers(override)
    assert quoted.replace("'", "").rstrip() == override.replace("'", "").rstrip()


def test_sweeps_stay_sweeps():
    found = parsed(quote_numbers("game.a=1,2"))
    assert isinstance(found._value, Sweep)
    assert values("game.a='1','2'") == values(quote_numbers("game.a=1,2")) == ["1", "2"]
