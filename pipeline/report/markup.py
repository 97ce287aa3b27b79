"""HTML from values: everything that was not written by us is escaped here."""

from __future__ import annotations

import base64
import functools
import hashlib
import html
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from importlib import resources
from string import Template
from typing import Any

_SCRIPTS = ("common.js", "curve.js", "heatmap.js", "strip.js", "report.js")
_UNPRINTABLE = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")
_LONGEST_TEXT = 160
_LONGEST_LIST = 24


def escape(value: object) -> str:
    """Return text that means itself, in HTML content and in quoted attributes."""
    return html.escape(_UNPRINTABLE.sub("\ufffd", str(value)))


def number(count: int) -> str:
    """Return a count with thousands separated: `3,721`."""
    return f"{count:,}"


def plural(count: int, noun: str) -> str:
    """Return `1 row`, `3,721 rows`."""
    return f"{number(count)} {noun}" if count == 1 else f"{number(count)} {noun}s"


def spoken(name: str) -> str:
    """Return a table's name as a heading: `regret curve`."""
    return name.replace("_", " ")


def cell_text(value: Any) -> str:
    """Return a table's value as people read it: lists in parentheses, floats with six digits.

    Examples
    --------
    >>> cell_text(["1/3", "0", "2/3"]), cell_text(0.1 + 0.2), cell_text(None), cell_text(True)
    ('(1/3, 0, 2/3)', '0.3', '', 'yes')
    """
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:.6g}"
    if isinstance(value, bytes):
        return plural(len(value), "byte")
    if isinstance(value, Mapping):
        return _listed(f"{key}: {cell_text(one)}" for key, one in value.items())
    if isinstance(value, Sequence) and not isinstance(value, str):
        return _listed(cell_text(one) for one in value)
    return str(value)


def setting_text(value: Any) -> str:
    """Return a parameter's value as it is typed: lists in brackets, maps in braces.

    Examples
    --------
    >>> setting_text([1, 2]), setting_text({"rock": "1/2"}), setting_text(True), setting_text("0.77")
    ('[1,2]', '{rock:1/2}', 'true', '0.77')
    """
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, Mapping):
        return f"{{{','.join(f'{key}:{setting_text(one)}' for key, one in value.items())}}}"
    if isinstance(value, Sequence) and not isinstance(value, str | bytes):
        return f"[{','.join(map(setting_text, value))}]"
    return cell_text(value)


def shortened(text: str) -> str:
    """Return the text, or its beginning and how long it is."""
    if len(text) <= _LONGEST_TEXT:
        return text
    return f"{text[:_LONGEST_TEXT]} \u2026 ({number(len(text))} characters)"


def data_block(data: Any) -> str:
    """Return data as a JSON block that no value can leave."""
    text = json.dumps(data, separators=(",", ":"), allow_nan=False).replace("<", "\\u003c")
    return f'<script type="application/json">{text}</script>'


def table(head: Sequence[str], rows: Iterable[Sequence[str]], caption: str, numeric: Sequence[bool] = (), name: str = "") -> str:
    """Return a table that can be sorted and filtered; `head` and the cells of `rows` are markup, `caption` is text."""
    right = [f' class="{"number" if one else "text"}"' for one in numeric] or [""] * len(head)
    top = "".join(f'<th scope="col"{one}>{text}</th>' for text, one in zip(head, right, strict=True))
    body = "\n".join(
        "<tr>" + "".join(f"<td{one}>{cell}</td>" for cell, one in zip(row, right, strict=True)) + "</tr>" for row in rows
    )
    label = escape(name or caption)
    return (
        f'<div class="sheet" role="region" aria-label="{label}" tabindex="0"><table class="sortable"><caption>{escape(caption)}'
        f"</caption><thead><tr>{top}</tr></thead><tbody>\n{body}\n</tbody></table></div>"
    )


def chip(text: str, kind: str) -> str:
    """Return a short coloured label; `kind` is one of ours: a grade or a status."""
    return f'<span class="chip {escape(kind)}">{escape(text)}</span>'


def bar(counts: Mapping[str, int]) -> str:
    """Return a bar whose parts are as long as their counts."""
    total = sum(counts.values())
    parts = "".join(
        f'<span class="{escape(kind)}" style="width:{100 * count / total:.3f}%"></span>' for kind, count in counts.items() if count
    )
    return f'<div class="bar" aria-hidden="true">{parts}</div>'


def page(title: str, body: str) -> str:
    """Return the whole page around `body`: style and script inside, and a policy that lets nothing else run or load."""
    script = _script()
    fingerprint = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    return Template(_asset("page.html")).substitute(
        title=escape(title), style=_asset("report.css"), script=script, script_hash=f"sha256-{fingerprint}", body=body
    )


def _listed(texts: Iterable[str]) -> str:
    parts = list(texts)
    if len(parts) > _LONGEST_LIST:
        parts = [*parts[: _LONGEST_LIST - 1], f"\u2026 {number(len(parts))} entries"]
    return f"({', '.join(parts)})"


@functools.cache
def _asset(name: str) -> str:
    return resources.files("pipeline").joinpath("assets", name).read_text(encoding="utf-8")


def _script() -> str:
    return "\n" + "\n".join(_asset(name) for name in _SCRIPTS)
