"""What holds for the repository as a whole."""

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from service import __version__

ROOT = Path(__file__).parents[2]

# In pieces, so that they do not stand here either.
REGISTRIES = [
    ".".join(labels)
    for labels in (
        ("pypi", "org"),
        ("pythonhosted", "org"),
        ("npmjs", "org"),
        ("npmjs", "com"),
        ("yarnpkg", "com"),
        ("docker", "io"),
        ("docker", "com"),
        ("ghcr", "io"),
        ("quay", "io"),
        ("gcr", "io"),
        ("pkg", "dev"),
        ("public", "ecr", "aws"),
        ("mcr", "microsoft", "com"),
        ("crates", "io"),
        ("golang", "org"),
        ("rubygems", "org"),
        ("anaconda", "org"),
        ("deb", "debian", "org"),
    )
]
HOST = re.compile("|".join(map(re.escape, REGISTRIES)), re.I)
INDEX = re.compile(r"--(?:extra-)?index[-]url|--find[-]links|--trusted[-]host|https?://[^/\s]+/simple\b")


def tracked() -> Iterator[Path]:
    """The files of the repository: those that git knows or would add, or all where there is no git."""
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    if (ROOT / ".git").exists():
        done = subprocess.run(command, cwd=ROOT, capture_output=True, check=True)
        names = done.stdout.decode().split("\0")
        yield from (ROOT / name for name in names if name and (ROOT / name).is_file())
    else:
        for path in ROOT.rglob("*"):
            parts = path.relative_to(ROOT).parts
            if path.is_file() and not any(part.startswith((".", "__", "node_modules")) for part in parts):
                yield path


def test_no_registry_is_named_anywhere() -> None:
    found = [
        f"{path.relative_to(ROOT)}:{number}: {line.strip()[:100]}"
        for path in tracked()
        for number, line in enumerate(path.read_text(encoding="utf-8", errors="replace").splitlines(), 1)
        if HOST.search(line) or INDEX.search(line)
    ]
    assert found == []


def test_the_search_would_find_them() -> None:
    assert all(HOST.search(f"see https://files.{host}/x") for host in REGISTRIES)
    assert INDEX.search("--index" + "-url x")
    assert INDEX.search("https" + "://mirror.example/simple" + "/x")
    assert len(list(tracked())) > 30


def make(*arguments: str) -> str:
    environment = {name: value for name, value in os.environ.items() if not name.startswith("MAKE")}
    command = ["make", *arguments]
    done = subprocess.run(
        command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=60, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


def test_make_explains_every_target() -> None:
    listed = re.findall(r"^  make ([a-z]+) +(\S.*)$", make("help"), re.M)
    rules = (ROOT / "Makefile").read_text()
    (phony,) = re.findall(r"^\.PHONY: (.*)$", rules, re.M)
    assert {name for name, _ in listed} == set(phony.split())
    assert {"run", "test", "lint"} <= set(phony.split())
    assert make() == make("help")


def test_the_command_is_there_before_the_package_is_installed(tmp_path: Path) -> None:
    environment = tmp_path / "an environment"
    programs = environment / "bin"
    programs.mkdir(parents=True)
    (environment / ".created").touch()
    python = programs / "python"
    python.write_text(f'#!/bin/sh\nexec "{sys.executable}" "$@"\n')
    python.chmod(0o755)
    link = tmp_path / "venv"  # make knows no names with blanks
    link.symlink_to(environment)
    make(f"VENV={os.path.relpath(link, ROOT)}", "PIP=true", f"{os.path.relpath(link, ROOT)}/.runtime")
    done = subprocess.run(
        [programs / "russian-poker", "--version"], cwd="/", capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, f"russian-poker {__version__}\n", "")


@pytest.mark.parametrize("target", ["help", "clean"])
def test_targets_that_need_no_environment(target: str) -> None:
    assert make("--dry-run", target)


def test_the_checks_of_the_pipeline_are_a_script_that_runs() -> None:
    script = ROOT / ".ci" / "run"
    assert os.access(script, os.X_OK)
    done = subprocess.run(["bash", "-n", script], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert "make test" in script.read_text()
