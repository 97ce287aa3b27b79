"""What a user typed is never changed silently: numbers for games and solvers reach the typed builder as they were typed.

Hydra reads `0.10` as 0.1, cuts `0.1234567012345670123` and makes `1e999` infinite. So numbers that stand alone in an override of
`game.*`, `solver.*` or a sweep's grids are put in quotes, found with Hydra's own lexer, before Hydra sees them.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from hydra.core.override_parser.overrides_parser import InputStream, OverrideLexer  # type: ignore[attr-defined]

_OURS = re.compile(r"\+{0,2}((game|solver)\.[^=]*|sweep\.(grid|zip|union))=")
_KEEPS_NUMBERS = {"range", "interval", "int", "float", "str", "json_str", "bool", "sort", "glob"}


@dataclass
class _Open:
    """A bracket that is open: whether it is a map's or a function's that computes; which token ended its present entry's key."""

    is_map: bool = False
    computes: bool = False
    key_ended_at: int | None = None


def quote_numbers(override: str) -> str:
    """Return the override with its lone numbers in quotes.

    A number stands alone when it is a whole value or list entry, not a part of a word (`1/2`, `3x3`), not a map's key and not an
    argument of a function that computes (`range(0,1,0.1)`).

    Examples
    --------
    >>> quote_numbers("game.a=0.10")
    "game.a='0.10'"
    >>> quote_numbers("game.payoffs=[[0, 1/2],[-1e999,x1]]")
    "game.payoffs=[['0', 1/2],['-1e999',x1]]"
    >>> quote_numbers("game.p1={rock: 0.5, paper: 1:2}")
    "game.p1={rock: '0.5', paper: 1:2}"
    >>> quote_numbers("solver.iterations=range(1,9)"), quote_numbers("compute.cpus=2"), quote_numbers("game.n=1,2")
    ('solver.iterations=range(1,9)', 'compute.cpus=2', "game.n='1','2'")
    """
    if not _OURS.match(override):
        return override
    lexer = OverrideLexer(InputStream(override))
    lexer.removeErrorListeners()
    tokens = lexer.getAllTokens()
    if tokens[-1].type == lexer.WS and override[tokens[-1].start :].isspace():  # fine after a bare number only
        override = override[: tokens.pop().start]
    openers = {lexer.BRACKET_OPEN, lexer.POPEN, lexer.COMMA, lexer.EQUAL}
    closers = {lexer.BRACKET_CLOSE, lexer.BRACE_CLOSE, lexer.PCLOSE, lexer.COMMA}
    open_, pieces, end = [_Open()], [], 0
    for place, token in enumerate(tokens):
        before = tokens[place - 1] if place else None
        after = tokens[place + 1] if place + 1 < len(tokens) else None
        if token.type in {lexer.BRACE_OPEN, lexer.BRACKET_OPEN, lexer.POPEN}:
            computes = token.type == lexer.POPEN and before is not None and before.text in _KEEPS_NUMBERS
            open_.append(_Open(is_map=token.type == lexer.BRACE_OPEN, computes=computes))
        elif token.type in {lexer.BRACE_CLOSE, lexer.BRACKET_CLOSE, lexer.PCLOSE} and len(open_) > 1:
            open_.pop()
        elif token.type == lexer.COMMA:
            open_[-1].key_ended_at = None
        elif token.type == lexer.COLON and open_[-1].is_map and open_[-1].key_ended_at is None:
            open_[-1].key_ended_at = place  # a further colon is a part of the value
        begins = before is not None and (before.type in openers or open_[-1].key_ended_at == place - 1)
        alone = begins and (after is None or after.type in closers)
        if token.type in (lexer.INT, lexer.FLOAT) and alone and not any(one.computes for one in open_):
            pieces.append(f"{override[end : token.start]}'{token.text}'")
            end = token.stop + 1
    return "".join(pieces) + override[end:]
