"""The wheel: installed elsewhere, read-only, in a folder with hostile neighbours, it is complete and runs its own code."""

import os
import shutil
import stat
import subprocess
import sys
import sysconfig
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PACKAGES = ("conf", "pipeline", "solvers", "hydra_plugins")
NOT_SHIPPED = shutil.ignore_patterns("__pycache__", "*.egg-info")
HOSTILE = 'raise SystemExit("hostile code ran")\n'
POINT = ["game=octal", "solver=mex_dp", "solver.heap_limit=300"]

pytestmark = pytest.mark.long


def run(*command, **options):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, timeout=300, check=False, **options)
    assert done.returncode == 0, f"{command}\n{done.stdout}{done.stderr}"
    return done.stdout


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    """A wheel, built from a copy so that nothing is left in the source tree."""
    source, made = tmp_path_factory.mktemp("source"), tmp_path_factory.mktemp("made")
    for package in PACKAGES:
        shutil.copytree(ROOT / package, source / package, ignore=NOT_SHIPPED)
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, source / name)
    run(sys.executable, "-m", "pip", "wheel", "-q", "--no-deps", "-w", made, source)
    return next(made.glob("minimex-*.whl"))


@pytest.fixture(scope="module")
def installed(wheel, tmp_path_factory):
    """A bare environment with the wheel in it, read-only; what it depends on comes from this one."""
    folder = tmp_path_factory.mktemp("an environment") / "with spaces"
    run(sys.executable, "-m", "venv", "--without-pip", folder)
    packages = folder / "lib" / f"python{sys.version_info.major}.{sys.version_info.minor}" / "site-packages"
    (packages / "borrowed.pth").write_text(sysconfig.get_path("purelib"), encoding="utf-8")
    python = folder / "bin" / "python"
    run(sys.executable, "-m", "pip", "--python", python, "install", "-q", "--no-deps", "--no-compile", wheel)
    ours = [path for name in PACKAGES for path in (packages / name, *(packages / name).rglob("*"))]
    for path in ours:
        path.chmod(path.stat().st_mode & ~(stat.S_IWUSR | stat.S_IWGRP | stat.S_IWOTH))
    yield folder
    for path in ours:
        path.chmod(path.stat().st_mode | stat.S_IWUSR)


@pytest.fixture
def hostile(tmp_path, monkeypatch):
    """A working directory whose folders have the names of our packages, with code that ends whoever imports it."""
    folder = tmp_path / "hostile work"
    for package in (*PACKAGES, "hydra_plugins/minimex_sweeper"):
        (folder / package).mkdir(parents=True)
        (folder / package / "__init__.py").write_text(HOSTILE, encoding="utf-8")
    (folder / "conf" / "config.yaml").write_text("not: ours\n", encoding="utf-8")
    monkeypatch.delenv("PYTHONPATH", raising=False)
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "numba"))
    monkeypatch.setenv("PYTHONDONTWRITEBYTECODE", "1")
    return folder


def files_below(folder):
    return {path: path.stat().st_mtime_ns for path in folder.rglob("*") if path.is_file()}


def test_the_wheel_is_complete(wheel):
    names = set(zipfile.ZipFile(wheel).namelist())
    wanted = {
        path.relative_to(ROOT).as_posix()
        for package in PACKAGES
        for path in (ROOT / package).rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    assert {"conf/experiment/tour.yaml", "pipeline/assets/page.html", "hydra_plugins/minimex_sweeper/__init__.py"} <= wanted
    assert wanted <= names
    assert all(name in wanted or ".dist-info/" in name for name in names)


@pytest.mark.parametrize(
    ("more", "points"),
    [(["compute=inline"], 1), (["compute=ray", "compute.cpus=1", "game.code=0.77,0.07"], 2)],
    ids=["inline", "ray"],
)
def test_installed_and_read_only_it_runs_among_hostile_folders(more, points, installed, hostile):
    before = files_below(installed)
    said = run(installed / "bin" / "minimex", *POINT, *more, "out=out put/here", cwd=hostile)
    assert f"periods: {points} proved" in said
    assert "periods: " in run(installed / "bin" / "minimex", "verify", "out put/here", "strict=true", cwd=hostile)
    assert (hostile / "out put" / "mlflow.db").exists()
    assert files_below(installed) == before
    assert sorted(os.listdir(hostile)) == sorted([*PACKAGES, "out put"])


def test_what_runs_is_the_wheel(installed, hostile):
    where = run(installed / "bin" / "python", "-P", "-c", "import conf, pipeline, solvers; print(pipeline.__file__)", cwd=hostile)
    assert Path(where.strip()).is_relative_to(installed)
