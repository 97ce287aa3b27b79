"""The `minimex` command: subcommands first, everything else is Hydra's.

Exit status: 0 no point failed; 1 some points failed (all others are saved) or a finding was refuted; 2 the request itself was
refused, nothing ran; 130 interrupted (resumable).
"""

from __future__ import annotations

import functools
import os
import re
import shlex
import signal
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from rich.console import Console

from pipeline.errors import SweepCutShort
from solvers.errors import ConfigError, MinimexError, did_you_mean

REFUSED, FAILED, INTERRUPTED = 2, 1, 130
_PIPED_WIDTH = 140  # of output that no terminal folds

_LEAF = re.compile(r"\+{0,2}((game|solver)\.[^=]*|seed|sweep\.(grid|zip|union))=")
_LOOKING = ("--cfg", "--help", "-h", "--hydra-help", "--info", "-i", "--shell-completion", "-sc", "--package", "-p")
_CHOICE = re.compile(r"\+{0,2}((game|solver)[.=]|experiment=|sweep\.)")
_URI = re.compile(r"[A-Za-z][\w.+-]*://")
_USAGE = {
    "list": "minimex list [games|solvers|experiments]",
    "show": "minimex show DIR [TABLE] [to=csv|json|latex|FORMAT] [point=HASH]",
    "verify": "minimex verify DIR [strict=true] [cpus=N] [trust=[package]]",
    "report": "minimex report DIR",
    "status": "minimex status DIR [to=json]",
    "track": "minimex track DIR [tracking=sqlite|server] [uri=...]",
    "export": "minimex export DIR format=FORMAT [to=FOLDER] [point=HASH] [trust=[package]]",
}


def main(arguments: Sequence[str] | None = None) -> None:
    """Run one command and exit with its status."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    narrow = sys.stdout.isatty() or "COLUMNS" in os.environ
    console = Console(highlight=False, markup=False, width=None if narrow else _PIPED_WIDTH)
    try:
        with _sigterm_like_ctrl_c():
            status = _dispatch(given, console)
    except SweepCutShort as error:
        _complain(str(error))
        status = FAILED
    except MinimexError as error:
        _complain(str(error))
        status = REFUSED
    except KeyboardInterrupt:
        status = INTERRUPTED
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        status = 0
    except OSError as error:
        _complain(_of_the_disk(error, sweeping=not given or given[0] not in _USAGE))
        status = FAILED
    sys.stdout.flush()
    sys.exit(status)


@contextmanager
def _sigterm_like_ctrl_c() -> Iterator[None]:
    """Let SIGTERM, by which schedulers preempt, end a command as Ctrl-C does, whatever it is at."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def _of_the_disk(error: OSError, *, sweeping: bool) -> str:
    """Say what could not be read or written; a note on the error says what that was."""
    where = f"{error.filename}: " if error.filename else ""
    what = f"{where}{''.join(f'{note}: ' for note in getattr(error, '__notes__', ()))}{(error.strerror or str(error)).lower()}"
    return f"{what}; what was saved stays, the same command goes on" if sweeping else what


def _complain(text: str) -> None:
    print(f"minimex: {text}", file=sys.stderr)  # noqa: T201


def _dispatch(given: list[str], console: Console) -> int:
    commands: dict[str, Callable[[list[str], dict[str, str], Console], int]] = {
        "list": _list,
        "show": _show,
        "verify": _verify,
        "report": _report,
        "status": _status,
        "track": _track,
        "export": _export,
    }
    if given and given[0] in commands:
        words = [word for word in given[1:] if "=" not in word or _URI.match(word)]
        options = dict(word.split("=", 1) for word in given[1:] if word not in words)
        if "-h" in words or "--help" in words:
            console.print(f"usage: {_USAGE[given[0]]}", markup=False)
            return 0
        try:
            return commands[given[0]](words, options, console)
        except ConfigError as error:
            if error.path == "out":  # what a URI is elsewhere
                raise ConfigError("DIR", error.wanted, error.came, error.hint) from error
            raise
    if given and re.fullmatch(r"[a-z]+", given[0]):
        raise ConfigError("command", "a subcommand or key=value", repr(given[0]), did_you_mean(given[0], commands))
    return _sweep(given, console)


def _operands(command: str, words: list[str], options: dict[str, str], wanted: range, known: tuple[str, ...] = ()) -> None:
    if len(words) not in wanted:
        raise ConfigError(command, f"usage: {_USAGE[command]}", f"{len(words)} operands")
    for key in options:
        if key not in known:
            raise ConfigError(key, f"an option of {command}", "an unknown key", did_you_mean(key, known))


def _list(words: list[str], options: dict[str, str], console: Console) -> int:
    _operands("list", words, options, range(2))
    from pipeline.listing import show_list  # noqa: PLC0415 (subcommands import what they need: `list` answers in a second)

    show_list(words[0] if words else None, console)
    return 0


def _show(words: list[str], options: dict[str, str], console: Console) -> int:
    _operands("show", words, options, range(1, 3), ("to", "point"))
    from pipeline.show import show  # noqa: PLC0415

    show(words[0], words[1] if len(words) > 1 else None, options.get("to"), console, point=options.get("point"))
    return 0


def _verify(words: list[str], options: dict[str, str], console: Console) -> int:
    _operands("verify", words, options, range(1, 2), ("strict", "cpus", "trust"))
    if options.get("strict", "false") not in ("true", "false"):
        raise ConfigError("strict", "true or false", repr(options["strict"]))
    if not re.fullmatch(r"[1-9]\d{0,3}", options.get("cpus", "1")):
        raise ConfigError("cpus", "a number of cores, at least 1", repr(options["cpus"]), "leave it out for all of this machine's")
    from pipeline.judges import cores  # noqa: PLC0415
    from pipeline.remote import give_back  # noqa: PLC0415
    from pipeline.report import write_report  # noqa: PLC0415
    from pipeline.verify import verify_folder  # noqa: PLC0415
    from pipeline.verify_show import print_judgement  # noqa: PLC0415

    processes = min(int(options.get("cpus", cores())), cores())
    sweep, judged = verify_folder(words[0], _trust(options), Console(stderr=True, highlight=False).print, processes)
    print_judgement(judged, console)
    if not judged.unwritten:
        write_report(sweep)
        give_back(words[0], sweep.root, console.print)
    return 0 if judged.holds(strict=options.get("strict") == "true") else FAILED


def _trust(options: dict[str, str]) -> tuple[str, ...]:
    return tuple(word for word in re.split(r"[\[\],\s]+", options.get("trust", "")) if word)


def _report(words: list[str], options: dict[str, str], console: Console) -> int:
    _operands("report", words, options, range(1, 2))
    from pathlib import Path  # noqa: PLC0415

    from pipeline.remote import folder_of, give_back, is_remote, without_secrets  # noqa: PLC0415
    from pipeline.report import write_index, write_report  # noqa: PLC0415
    from pipeline.store import load  # noqa: PLC0415

    folder = Path(words[0])
    if not (folder / "points.parquet").exists() and any(folder.glob("*/points.parquet")):
        path = write_index(folder)
    else:
        sweep = load(words[0])
        path = write_report(sweep)
        give_back(words[0], sweep.root, console.print)
    if not is_remote(words[0]):
        console.print(str(path), soft_wrap=True)
    elif sweep.root == folder_of(words[0]):  # else it goes with the command
        console.print(f"report of {without_secrets(words[0])}, a copy to open here: {path}", soft_wrap=True)
    return 0


def _status(words: list[str], options: dict[str, str], console: Console) -> int:
    _operands("status", words, options, range(1, 2), ("to",))
    from pipeline.status import show_status  # noqa: PLC0415

    show_status(words[0], options.get("to"), console)
    return 0


def _track(words: list[str], options: dict[str, str], console: Console) -> int:
    _operands("track", words, options, range(1, 2), ("tracking", "uri"))
    from pipeline.tracking.later import track_later  # noqa: PLC0415

    return 0 if track_later(words[0], options.get("tracking"), options.get("uri"), console) else FAILED


def _export(words: list[str], options: dict[str, str], console: Console) -> int:
    _operands("export", words, options, range(1, 2), ("format", "point", "to", "trust"))
    from pipeline.export import export  # noqa: PLC0415

    point, to = options.get("point"), options.get("to")
    export(words[0], options.get("format"), point=point, to=to, console=console, trust=_trust(options))
    return 0


# ---- sweeps ------------------------------------------------------------------------------------------------------------------


def _sweep(given: list[str], console: Console) -> int:
    """Hand the overrides to Hydra, which hands them back to `_run` through the sweeper; say what it refuses."""
    if "--version" in given:
        import importlib.metadata  # noqa: PLC0415

        console.print(f"minimex {importlib.metadata.version('minimex')}")
        return 0
    import yaml  # noqa: PLC0415
    from hydra.errors import HydraException  # noqa: PLC0415
    from omegaconf.errors import OmegaConfBaseException  # noqa: PLC0415

    from pipeline.hydra_words import in_our_words  # noqa: PLC0415
    from pipeline.quoting import quote_numbers  # noqa: PLC0415
    from pipeline.remote import out_word  # noqa: PLC0415
    from pipeline.settings import GROUPS, PLAIN_KEYS, SWEEP_KEYS  # noqa: PLC0415
    from pipeline.tracking.where import without_password  # noqa: PLC0415

    given = [word for word in given if word not in ("-m", "--multirun")]  # every command is a sweep
    completing = any(word in ("-sc", "--shell-completion") for word in given)
    arguments = list(given) if completing else [out_word(quote_numbers(word))[0] for word in given]
    command = shlex.join(["minimex", *(out_word(word)[1] for word in given)])
    looking = any(word == "-c" or word.startswith(_LOOKING) for word in given)
    os.environ["HYDRA_FULL_ERROR"] = "1"  # Hydra raises, and we say what was wrong
    try:
        if looking:
            _look(arguments)
            return 0
        if not any(_CHOICE.match(word) for word in given):
            arguments.append("experiment=tour")
        return _hand_to_hydra(arguments, without_password(command), console)
    except (HydraException, OmegaConfBaseException, yaml.YAMLError, ValueError) as error:
        if isinstance(error, MinimexError):
            raise
        _complain(in_our_words(error, [*GROUPS, *PLAIN_KEYS, *(f"sweep.{name}" for name in SWEEP_KEYS)]))
        return REFUSED


def _look(arguments: list[str]) -> None:
    """Let Hydra show the composed config, its help or completions; nothing is computed."""
    from hydra.core.plugins import Plugins  # noqa: PLC0415
    from hydra.main import main as hydra_main  # noqa: PLC0415

    from hydra_plugins.minimex_sweeper import MinimexSweeper  # noqa: PLC0415
    from pipeline.listing import CONF  # noqa: PLC0415

    Plugins.instance().register(MinimexSweeper)
    sys.argv = ["minimex", *arguments]

    def nothing(config: Any) -> None:
        """Stand in for the task function."""

    hydra_main(version_base="1.3", config_path=str(CONF), config_name="config")(nothing)()


def _hand_to_hydra(arguments: list[str], command: str, console: Console) -> int:
    """Run a multirun of Hydra's whose sweeper is ours; values of games and solvers go round it (it would merge and cut them)."""
    from hydra import initialize_config_dir  # noqa: PLC0415
    from hydra.core.global_hydra import GlobalHydra  # noqa: PLC0415
    from hydra.core.plugins import Plugins  # noqa: PLC0415

    from hydra_plugins.minimex_sweeper import MinimexSweeper  # noqa: PLC0415
    from pipeline.listing import CONF  # noqa: PLC0415

    Plugins.instance().register(MinimexSweeper)
    folders, words = _config_folders(arguments)
    leaves = [word for word in words if _LEAF.match(word)]
    rest = [*_search_path(folders), *(word for word in words if word not in leaves)]
    status: list[int] = []

    def run(config: Any) -> None:
        status.append(_run(hydra.config_loader, config, [*rest, *leaves], command, console))

    with initialize_config_dir(config_dir=str(CONF), version_base="1.3", job_name="minimex"):
        hydra: Any = GlobalHydra.instance().hydra
        hydra.multirun(config_name="config", task_function=run, overrides=list(rest))
    return status[0]


def _search_path(folders: list[str]) -> list[str]:
    quoted = [folder.replace("\\", "\\\\").replace("'", "\\'") for folder in folders]
    entries = ",".join(f"'file://{folder}'" for folder in quoted)
    return [f"hydra.searchpath=[{entries}]"] if quoted else []


def _config_folders(arguments: list[str]) -> tuple[list[str], list[str]]:
    """Take `--config-dir DIR` out of the arguments.

    Raises
    ------
    ConfigError
        If there is no such folder, or an option we do not know.
    """
    folders, words, rest = [], [], iter(arguments)
    for word in rest:
        option, _, value = word.partition("=")
        if option in ("--config-dir", "-cd"):
            folder = os.path.abspath(value or next(rest, ""))  # noqa: PTH100 (Hydra wants text)
            if not os.path.isdir(folder):  # noqa: PTH112
                raise ConfigError(option, "a folder of configs", repr(folder))
            folders.append(folder)
        elif word.startswith("-"):
            raise ConfigError(word, "-m, --config-dir DIR, --cfg job, --help or key=value", "an unknown option")
        else:
            words.append(word)
    return folders, words


def _run(loader: Any, config: Any, overrides: list[str], command: str, console: Console) -> int:
    from hydra.core.override_parser.overrides_parser import OverridesParser  # noqa: PLC0415

    from pipeline.planning import plan, plan_further, take_apart  # noqa: PLC0415
    from pipeline.rounds import rounds_of  # noqa: PLC0415
    from pipeline.settings import settings_of  # noqa: PLC0415

    parsed = OverridesParser.create(config_loader=loader).parse_overrides(overrides)
    request = take_apart(loader, config, parsed)
    settings = settings_of(
        config,
        chose_compute=any(override.key_or_group == "compute" for override in parsed),
        command=command,
    )
    if settings.quiet:
        console.quiet = True
    rounds = rounds_of(request.sweep, settings.trust, functools.partial(plan_further, request))
    points = list(plan(request))
    if not points:
        raise ConfigError(
            "sweep", "at least one point", "none", "skip_impossible left out every pair" if settings.skip_impossible else ""
        )
    from pipeline.sweep import default_name, dry_run, run_sweep  # noqa: PLC0415

    name = settings.experiment or default_name(points)
    if settings.dry_run:
        dry_run(points, settings, name, console, rounds)
        return 0
    return run_sweep(points, settings, name, console, rounds)
