"""What a command asks for besides its points: defaults as the YAML spells them, refusals with their path."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml
from hydra import compose, initialize_config_dir

import conf
from pipeline.settings import Compute, Settings, settings_of
from solvers.builder import make
from solvers.errors import ConfigError

CONF = Path(conf.__file__).parent


def settings(*words):
    with initialize_config_dir(config_dir=str(CONF), version_base="1.3"):
        config = compose("config", overrides=list(words), return_hydra_config=True)
    return settings_of(config, chose_compute=False, command="minimex x")


def test_nothing_said_is_the_default():
    found = settings()
    assert found.compute == Compute("ray")
    assert (found.experiment, found.out, found.trust, found.on_error) == (None, None, (), "continue")
    assert (found.dry_run, found.retry_failed, found.skip_impossible, found.verify, found.quiet) == (
        False,
        False,
        False,
        True,
        False,
    )
    assert (found.tracking.kind, found.command) == ("sqlite", "minimex x")


@pytest.mark.parametrize("path", sorted(CONF.glob("compute/*.yaml")), ids=lambda path: path.stem)
def test_every_compute_yaml_spells_the_defaults(path):
    node = yaml.safe_load(path.read_text())
    built = make(Compute, **node)
    assert built == make(Compute, kind=path.stem, address=node["address"])
    assert set(node) == set(Compute.__slots__)


def test_what_is_said_arrives():
    found = settings(
        "compute=inline", "compute.timeout_s=2", "trust=[a,b]", "out=here", "experiment=tour", "on_error=stop", "verify=false"
    )
    assert (found.compute.kind, found.compute.timeout_s) == ("inline", 2.0)
    assert (found.trust, found.out, found.experiment, found.on_error, found.verify) == (("a", "b"), "here", "tour", "stop", False)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["compute.cpus=0"], "compute.cpus: expected a number above 0, got 0"),
        (["compute.cpus=1.5"], "compute.cpus: expected int, got 1.5"),
        (["compute.timeout_s=0"], "compute.timeout_s: expected a number above 0, got 0.0"),
        (["compute.timeout_s=inf"], "compute.timeout_s: expected a finite number, got inf"),
        (["compute.memory_gb=-1"], "compute.memory_gb: expected a number above 0, got -1.0"),
        (["compute.attempts=0"], "compute.attempts: expected a number above 0, got 0"),
        (["compute.attempts=null"], "compute.attempts: expected int, got None"),
        (["compute.box_s=0"], "compute.box_s: expected a number above 0"),
        (["compute.checkpoint_s=-1"], "compute.checkpoint_s: expected a number of at least 0, got -1.0"),
        (["compute.kind=rya"], "compute.kind: expected one of ray, cluster, inline, got 'rya' (did you mean ray?)"),
        (["+compute.nodes=2"], "compute.nodes: expected a field of Compute, got an unknown key"),
        (["compute=cluster", "compute.address=null"], "compute.address: expected the address of a Ray cluster, got null"),
        (["tracking.child_runs=-1"], "tracking.child_runs: expected 0 or more, got -1"),
        (["on_error=shrug"], "on_error: expected one of continue, stop, got 'shrug'"),
        (["quiet=1"], "quiet: expected true or false, got 1"),
        (["verify=maybe"], "verify: expected true or false, got 'maybe'"),
        (["trust=minimex_fakes"], "trust: expected a list, got 'minimex_fakes'"),
        (["trust=[1]"], "trust[0]: expected text, got the number 1"),
        (["out=7"], "out: expected text, got the number 7 (quote it)"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_refused(words, said):
    with pytest.raises(ConfigError) as caught:
        settings(*words)
    assert said in str(caught.value)


def test_too_many_cpus_are_refused_with_the_reason(monkeypatch):
    monkeypatch.setattr("os.cpu_count", lambda: 2)
    assert settings("compute.cpus=8").compute.cpus == 8
    with pytest.raises(ConfigError) as caught:
        settings("compute.cpus=9")
    said = "compute.cpus: expected at most 8 on this machine, 4 times its 2 cores, got 9 (null: all its cores)"
    assert str(caught.value) == said


@pytest.mark.parametrize(("out", "folder"), [(None, "outputs/name"), ("here/it", "here/it")])
def test_where_a_sweep_lies(out, folder):
    found = settings() if out is None else settings(f"out={out}")
    assert isinstance(found, Settings)
    assert found.folder("name") == Path(folder)
