"""What the documents print works: every command is run or planned, every answer shown is what comes, every name exists."""

import doctest
import os
import re
import shlex
import subprocess
import sys
from fnmatch import fnmatchcase
from pathlib import Path

import pytest

from pipeline.listing import entries

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
DOCUMENTS = {
    path.relative_to(ROOT).as_posix(): path.read_text(encoding="utf-8") for path in [ROOT / "README.md", *ROOT.glob("docs/**/*.md")]
}
SUBCOMMANDS = ("list", "show", "verify", "report", "status", "track")
LOOKING = ("show", "verify", "report", "status", "track")
STANDS_FOR = {
    "DIR": "outputs/kayles_period",
    "TABLE": "periods",
}
INSIDE = {  # of a word
    "s3://BUCKET/NAME": "outputs/kayles_period",
    "outputs/NAME": "outputs/kayles_period",
    "sqlite:////data/": "sqlite:///",
    "HOST:PORT": "127.0.0.1:6379",
    "HOST": "127.0.0.1",
}
NAMES = {"experiment": "kayles_period", "game": "octal", "solver": "mex_dp"}


# ---- reading documents -------------------------------------------------------------------------------------------------------


def blocks(text, language):
    return re.findall(rf"^```{language}\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)


def setup_command(name):
    return re.search(rf"^<!-- command: {name} -->\n```sh\n([^\n]+)\n```$", README, re.MULTILINE).group(1)


def commands_in(text):
    """Yield what follows the word minimex: in lines of sh blocks and in words set as code, outside blocks."""
    for block in blocks(text, "sh"):
        yield from (line.removeprefix("minimex").strip() for line in block.splitlines() if line.startswith("minimex"))
    prose = re.sub(r"^```.*?^```$", "", text, flags=re.MULTILINE | re.DOTALL)
    yield from (found.strip() for found in re.findall(r"`minimex((?: [^`]+)?)`", prose))


def commands_said(text):
    """Yield the commands a help text or the end of `list` names, several on a line: "minimex verify DIR | show DIR"."""
    word = r"(?:[^\s=]+=[^\s;]+|-m|list|verify|show|report|status|track|[A-Z]+|\[TABLE\]|[^\s;]+/[^\s;]+|\|)(?![^\s;])"
    for said in re.findall(rf"\bminimex((?: {word})+)", text):
        yield from (one.strip() for one in said.split(" | "))


def words_of(command):
    """Return a command's words, with something real for what placeholders stand for."""
    words = []
    for word in shlex.split(command, comments=True):
        for placeholder, real in INSIDE.items():
            word = word.replace(placeholder, real)  # noqa: PLW2901
        key, equals, value = word.strip("[]" if word.isupper() else "").partition("=")
        value = NAMES.get(key, value) if value == "NAME" else value
        words.append(STANDS_FOR.get(key, key) + equals + STANDS_FOR.get(value, value))
    return words


DOCUMENTED = sorted({(name, command) for name, text in DOCUMENTS.items() for command in commands_in(text)})


# ---- commands ----------------------------------------------------------------------------------------------------------------


@pytest.fixture
def kayles(minimex):
    """The sweep that documents talk about, small, in the working directory."""
    small = ["solver.heap_limit=300", "compute=inline", "tracking=off", "quiet=true"]
    assert minimex("experiment=kayles_period", *small).status == 0


def assert_works(minimex, command):
    words = words_of(command)
    if not words or words[0] not in SUBCOMMANDS:
        words.append("dry_run=true")
    said = minimex(*words)
    nobody_there = words[0] == "track" and "http://" in command
    assert said.status == (1 if nobody_there else 0), f"minimex {command}\n{said.out}{said.err}"
    assert said.out


def test_documents_print_commands():
    assert len(DOCUMENTED) > 20


@pytest.mark.parametrize(("document", "command"), DOCUMENTED)
def test_documented_commands(document, command, minimex, request):
    if command.startswith(LOOKING):
        request.getfixturevalue("kayles")
    assert_works(minimex, command)


@pytest.mark.parametrize(("source", "least"), [("--help", 7), ("list", 2), ("show outputs/kayles_period", 1)])
def test_commands_that_commands_print(source, least, minimex, kayles):
    printed = list(commands_said(minimex(*source.split()).out))
    assert len(printed) >= least
    for command in printed:
        assert_works(minimex, command)


@pytest.mark.parametrize("command", SUBCOMMANDS)
def test_usage_of_subcommands(command, minimex):
    said = minimex(command, "--help")
    assert said.status == 0
    assert said.out.startswith(f"usage: minimex {command}")


def options_in(text):
    """Yield every lone key=value of a sweep set as code: `tracking=off` (not those of subcommands: `strict=true`)."""
    found = re.findall(r"`((?:[a-z_]+\.)*[a-z_]+=[^`\s]+)`", text)
    shown_only = ("out=DIR", "out=s3:", "to=", "strict=", "cpus=", "uri=", "format=", "point=")
    yield from (option for option in found if not option.startswith(shown_only) and "..." not in option and "PACKAGE" not in option)


@pytest.mark.parametrize("option", sorted({option for text in DOCUMENTS.values() for option in options_in(text)}))
def test_options_in_prose(option, minimex):
    rounds = option.startswith("sweep.next.")  # an argument of a function that this experiment names
    assert_works(minimex, f"{'experiment=octal_catalogue' if rounds else 'game=octal solver=mex_dp'} {option}")


# ---- answers -----------------------------------------------------------------------------------------------------------------


@pytest.fixture
def own_game(workdir):
    """The reader's own game, in the files that README names."""
    (module,) = [block for block in blocks(README, "python") if "class Mendelsohn" in block]
    (workdir / "mendelsohn.py").write_text(module, encoding="utf-8")
    folder = workdir / "my_conf" / "game"
    folder.mkdir(parents=True)
    (folder / "mendelsohn.yaml").write_text(blocks(README, "yaml")[0], encoding="utf-8")


@pytest.mark.parametrize("block", [block for text in DOCUMENTS.values() for block in blocks(text, "console")])
def test_answers_are_what_comes(block, workdir, own_game):
    for session in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
        command, *shown = session.rstrip().splitlines()
        came = run_as_typed(command, workdir)
        assert len(came) == len(shown), came
        for line, wanted in zip(came, shown, strict=True):
            assert fnmatchcase(line, re.sub(r"[\[\]*?]", "[\\g<0>]", wanted).replace("...", "*")), (line, wanted)


def run_as_typed(command, folder):
    """Run a command line as a shell would, in a process of its own."""
    variables, words = {}, shlex.split(command)
    while "=" in words[0]:
        name, _, variables[name] = words.pop(0).partition("=")
    assert words.pop(0) == "minimex"
    program = Path(sys.executable).with_name("minimex")
    environment = {**os.environ, **variables, "COLUMNS": "130"}
    done = subprocess.run([program, *words], cwd=folder, env=environment, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return [line.rstrip() for line in done.stdout.splitlines()]


def test_python_examples(minimex, kayles):
    for text in DOCUMENTS.values():
        for block in blocks(text, "python"):
            runner = doctest.DocTestRunner(optionflags=doctest.REPORT_NDIFF)
            runner.run(doctest.DocTestParser().get_doctest(block, {}, "README.md", None, None))
            assert runner.failures == 0


def test_python_examples_are_found():
    assert sum(block.count(">>>") for block in blocks(README, "python")) >= 5


# ---- names -------------------------------------------------------------------------------------------------------------------


def names_in(row):
    """Return what the first cell of a row names: one thing, or several kin."""
    return re.findall(r"`(\w+)`", row.strip("|").split(" | ")[0])


@pytest.mark.parametrize("group", ["game", "solver"])
def test_the_tables_of_games_and_solvers_are_complete(group):
    table = re.search(rf"^\| {group} \|.*?\n\n", README, re.MULTILINE | re.DOTALL).group()
    assert sorted(name for row in table.splitlines()[2:] for name in names_in(row)) == [entry.name for entry in entries(group)]


FORMS = {
    "games of two players": "BimatrixGame",
    "zero-sum games": "MatrixGame",
    "zero-sum game trees": "GameTree",
    "games with parameters": "ParametricGame",
    "heap games": "HeapGame",
    "positions of heaps": "HeapSum",
}


def test_the_table_of_solvers_says_what_they_take():
    table = re.search(r"^\| solver \|.*?\n\n", README, re.MULTILINE | re.DOTALL).group()
    said = {}
    for row in table.strip().splitlines()[2:]:
        _, _, takes, _ = (cell.strip() for cell in row.strip("|").split(" | "))
        said.update(dict.fromkeys(names_in(row), FORMS[takes]))
    assert said == {entry.name: type(entry.built()).takes.__name__ for entry in entries("solver")}


def test_links_and_files_exist():
    targets = [
        (name, *target.partition("#")[::2]) for name, text in DOCUMENTS.items() for target in re.findall(r"\]\(([^)]+)\)", text)
    ]
    assert targets
    for name, file, anchor in targets:
        path = (ROOT / name).parent / file if file else ROOT / name
        assert path.exists(), f"{name} links to {file}"
        assert not anchor or anchor in anchors_of(path.read_text(encoding="utf-8")), f"{name} links to {file}#{anchor}"


def anchors_of(text):
    headings = re.findall(r"^#+ (.+)$", re.sub(r"^```.*?^```$", "", text, flags=re.MULTILINE | re.DOTALL), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading).strip().lower().replace(" ", "-") for heading in headings}


# ---- set-up ------------------------------------------------------------------------------------------------------------------


def ci_function(name, argument):
    """Return what a shell function of .ci/run prints."""
    script = (ROOT / ".ci" / "run").read_text(encoding="utf-8")
    definition = re.search(rf"^{name}\(\) {{ .*}}$", script, re.MULTILINE).group()
    done = subprocess.run(["bash", "-c", f"{definition}\n{name} {argument}"], cwd=ROOT, capture_output=True, text=True, check=True)
    return done.stdout.rstrip("\n")


@pytest.mark.parametrize("name", ["run", "test"])
def test_ci_runs_the_set_up_commands_as_printed(name):
    command = setup_command(name)
    assert ci_function("readme", name) == command
    assert f'bash -euo pipefail -c "$(readme {name})' in (ROOT / ".ci" / "run").read_text(encoding="utf-8")


def test_set_up_commands_share_one_environment():
    for name, last in (("run", ".venv/bin/minimex"), ("test", ".venv/bin/pytest")):
        made, installed, then = setup_command(name).split(" && ")
        assert made == "python3 -m venv .venv"
        assert installed.startswith(".venv/bin/pip install -q -c constraints.txt -e ")
        assert then == last


def test_constraints_are_versions_only():
    lines = (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
    assert [line for line in lines if not re.fullmatch(r"[A-Za-z0-9._-]+==[0-9][A-Za-z0-9.+!]*", line)] == []
    assert not any(line.startswith("minimex") for line in lines)
