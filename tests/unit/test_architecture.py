"""What import-linter's contracts cannot say: a checker shares no module with the methods it judges."""

from __future__ import annotations

import grimp

GRAPH = grimp.build_graph("solvers")
NO_FAMILIES = {"solvers.games", "solvers.forms"}
CHECKERS = sorted(name for name in GRAPH.modules if "check" in name.split("."))


def test_every_family_has_a_checker():
    families = {name for name in GRAPH.modules if name.count(".") == 1 and GRAPH.find_children(name)} - NO_FAMILIES
    assert {name.partition(".check")[0] for name in CHECKERS} == families


def test_checkers_import_no_method():
    core = {name for name in GRAPH.modules if name.count(".") == 1 and not GRAPH.find_children(name)}
    core |= {"solvers.forms", *GRAPH.find_children("solvers.forms")}
    for checker in CHECKERS:
        beside = {name for name in CHECKERS if name.startswith(checker.partition(".check")[0])}
        foreign = {name for name in GRAPH.find_upstream_modules(checker) if not name.startswith("solvers.games.")} - core - beside
        assert foreign == set(), f"{checker} depends on {foreign}"
