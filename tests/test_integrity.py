"""The manifest of the files that decide outcomes: up to date, checkable by anybody, every change found."""

import hashlib
import marshal
import os
import shutil
import struct
import subprocess
import sys
from collections.abc import Callable, Sequence
from importlib.machinery import EXTENSION_SUFFIXES
from importlib.util import MAGIC_NUMBER, cache_from_source
from pathlib import Path
from types import SimpleNamespace
from typing import NamedTuple

import pytest

from service import integrity
from service.integrity import (
    CHECK_EVERY,
    ENGINE_DIGEST,
    MANIFEST,
    ROOT,
    FileCheck,
    Integrity,
    check_files,
    manifest_text,
)
from service.rounds import ENGINE

DAY = 24 * 60 * 60
EMPTY = hashlib.sha256(b"").hexdigest()


class Release(NamedTuple):
    """A copy of the service, to be damaged."""

    root: Path

    def altered(self) -> dict[str, FileCheck]:
        return {check.file: check for check in check_files(self.root) if not check.intact}


@pytest.fixture
def release(tmp_path: Path) -> Release:
    shutil.copytree(ROOT, tmp_path / "service", ignore=shutil.ignore_patterns("__pycache__"))
    return Release(tmp_path / "service")


def silent(altered: Sequence[FileCheck]) -> None:
    """A report that nobody reads."""


def is_intact(watched: Integrity) -> bool:
    """Asked anew each time."""
    return watched.intact


def sha256sum(root: Path) -> tuple[int, set[str]]:
    """What ``sha256sum -c`` says: its exit status, and the files that it does not find right."""
    command = shutil.which("sha256sum")
    assert command, "the manifest is in the format of sha256sum, from the GNU core utilities"
    run = subprocess.run(
        [command, "-c", "--strict", MANIFEST.name],
        cwd=root,
        capture_output=True,
        text=True,
        env={**os.environ, "LC_ALL": "C"},
        check=False,
    )
    results = dict(line.rsplit(": ", 1) for line in run.stdout.splitlines())
    return run.returncode, {file for file, result in results.items() if result != "OK"}


# The manifest.


def test_the_manifest_is_up_to_date() -> None:
    assert MANIFEST.read_text(encoding="utf-8") == manifest_text(), "files changed: run make manifest"


def test_sha256sum_agrees() -> None:
    assert sha256sum(ROOT) == (0, set())


def test_each_line_is_a_digest_and_a_file_in_order() -> None:
    lines = MANIFEST.read_text(encoding="utf-8").splitlines()
    files = [line.split("  ", 1)[1] for line in lines]
    assert files == sorted(set(files))
    for line, file in zip(lines, files, strict=True):
        assert line == f"{hashlib.sha256((ROOT / file).read_bytes()).hexdigest()}  {file}"


def test_all_of_game_fairness_certificates_and_rulesets_is_stated() -> None:
    stated = {line.split("  ", 1)[1] for line in MANIFEST.read_text(encoding="utf-8").splitlines()}
    for folder, ending in (("game", "py"), ("fairness", "py"), ("certificate", "py"), ("rulesets", "toml")):
        found = {path.relative_to(ROOT).as_posix() for path in (ROOT / folder).rglob(f"*.{ending}")}
        assert found
        assert found <= stated
    assert {"rounds.py", "registry.py", "keys.py", "integrity.py", "fields.py", "schemas.py"} <= stated


def test_the_engine_is_identified_by_the_manifest() -> None:
    assert "sha256:" + hashlib.sha256(MANIFEST.read_bytes()).hexdigest() == ENGINE_DIGEST
    assert ENGINE["digest"] == ENGINE_DIGEST


def test_a_copy_of_the_release_is_intact(release: Release) -> None:
    checks = list(check_files(release.root))
    stated = MANIFEST.read_text(encoding="utf-8").splitlines()
    assert len(checks) == len(stated) + 1, "its files and the manifest itself"
    assert all(check.intact and check.stated == check.found for check in checks)


# What can happen to it.


def stated_files() -> list[str]:
    return [line.split("  ", 1)[1] for line in MANIFEST.read_text(encoding="utf-8").splitlines()]


def test_one_bit_in_any_file_is_found(release: Release) -> None:
    for file in stated_files():
        path = release.root / file
        before = path.read_bytes()
        path.write_bytes(before[:-1] + bytes([before[-1] ^ 1]))
        found = release.altered()
        assert list(found) == [file]
        assert found[file].found == hashlib.sha256(path.read_bytes()).hexdigest()
        assert found[file].stated == hashlib.sha256(before).hexdigest()
        path.write_bytes(before)
    assert not release.altered()


def test_any_missing_file_is_found(release: Release) -> None:
    for file in stated_files():
        before = (release.root / file).read_bytes()
        (release.root / file).unlink()
        found = release.altered()
        assert list(found) == [file]
        assert (found[file].stated, found[file].found) == (hashlib.sha256(before).hexdigest(), None)
        (release.root / file).write_bytes(before)
    assert not release.altered()


@pytest.mark.parametrize(
    "file", ["game/more.py", "fairness/more.py", "certificate/more.py", "rulesets/casino-2.toml"]
)
def test_an_added_file_is_found(release: Release, file: str) -> None:
    (release.root / file).touch()
    assert release.altered() == {file: FileCheck(file, None, EMPTY)}


@pytest.mark.parametrize("file", ["game/cards/__init__.py", f"game/cards{EXTENSION_SUFFIXES[0]}"])
def test_an_added_file_that_python_prefers_to_a_stated_one_is_found(release: Release, file: str) -> None:
    """A package or an extension module is imported in place of the module beside it."""
    path = release.root / file
    path.parent.mkdir(exist_ok=True)
    path.touch()
    assert file in release.altered()


def test_several_changes_are_all_named(release: Release) -> None:
    (release.root / "game/cards.py").write_text("", encoding="utf-8")
    (release.root / "keys.py").unlink()
    (release.root / "game/new.py").touch()
    assert set(release.altered()) == {"game/cards.py", "keys.py", "game/new.py"}


def test_sha256sum_finds_the_same_altered_and_missing_files(release: Release) -> None:
    (release.root / "game/cards.py").write_text("", encoding="utf-8")
    (release.root / "rulesets/casino-1.toml").unlink()
    assert sha256sum(release.root) == (1, {"game/cards.py", "rulesets/casino-1.toml"})
    assert set(release.altered()) == {"game/cards.py", "rulesets/casino-1.toml"}


def test_a_line_that_is_missing_in_the_manifest_is_found(release: Release) -> None:
    manifest = release.root / MANIFEST.name
    lines = manifest.read_text(encoding="utf-8").splitlines(keepends=True)
    manifest.write_text("".join(lines[1:]), encoding="utf-8")
    assert set(release.altered()) == {MANIFEST.name, lines[0].split("  ")[1].strip()}


def test_a_manifest_that_was_written_anew_for_altered_files_is_found(release: Release) -> None:
    """Outcomes go on to name the old engine; so the present manifest has to be the one they name."""
    (release.root / "game/cards.py").write_text("", encoding="utf-8")
    (release.root / MANIFEST.name).write_text(manifest_text(release.root), encoding="utf-8")
    assert not Integrity(silent, release.root).intact


@pytest.mark.parametrize("content", [None, b"", b"garbage\n", b"\xff\n", b"ab  \n"], ids=repr)
def test_a_manifest_that_cannot_be_read_is_a_loss_and_no_crash(
    release: Release, content: bytes | None
) -> None:
    watched = Integrity(silent, release.root)
    if content is None:
        (release.root / MANIFEST.name).unlink()
    else:
        (release.root / MANIFEST.name).write_bytes(content)
    watched.check()
    assert not watched.intact


# When it is checked.


def test_it_is_checked_at_once(release: Release) -> None:
    assert Integrity(silent, release.root).intact
    (release.root / "game/cards.py").unlink()
    assert not Integrity(silent, release.root).intact


def test_each_check_is_reported(release: Release) -> None:
    reports: list[list[str]] = []
    watched = Integrity(lambda altered: reports.append([check.file for check in altered]), release.root)
    (release.root / "game/more.py").touch()
    checks = watched.check()
    assert [check.file for check in checks if not check.intact] == ["game/more.py"]
    assert not is_intact(watched)
    (release.root / "game/more.py").unlink()
    watched.check()
    assert is_intact(watched)
    assert reports == [[], ["game/more.py"], []]


@pytest.fixture
def wait(monkeypatch: pytest.MonkeyPatch) -> Callable[[float], None]:
    """Lets time pass for the module."""
    now = 1_000.0

    def pass_time(seconds: float) -> None:
        nonlocal now
        now += seconds

    monkeypatch.setattr(integrity, "time", SimpleNamespace(monotonic=lambda: now))
    return pass_time


def test_it_is_checked_again_after_a_day(release: Release, wait: Callable[[float], None]) -> None:
    assert CHECK_EVERY == DAY
    reports: list[int] = []
    watched = Integrity(lambda altered: reports.append(len(altered)), release.root)
    (release.root / "game/cards.py").unlink()
    wait(DAY - 1)
    assert is_intact(watched), "not looked at yet"
    wait(2)
    assert not is_intact(watched)
    assert not is_intact(watched)
    assert reports == [0, 1], "and once a day, not at each question"
    shutil.copy(ROOT / "game/cards.py", release.root / "game/cards.py")
    wait(DAY - 1)
    assert not is_intact(watched)
    wait(2)
    assert is_intact(watched)
    assert reports == [0, 1, 0]


def test_a_check_on_demand_starts_the_day_anew(release: Release, wait: Callable[[float], None]) -> None:
    reports: list[int] = []
    watched = Integrity(lambda altered: reports.append(len(altered)), release.root)
    wait(DAY - 1)
    watched.check()
    wait(DAY - 1)
    assert is_intact(watched)
    assert reports == [0, 0]


# In a process of its own, since forking the one that runs the tests is no good habit.
FORKS = """
import os, sys
from pathlib import Path
from service.integrity import Integrity

root = Path(sys.argv[1])
watched = Integrity(lambda altered: None, root)
cards = root / "game" / "cards.py"
text = cards.read_bytes()

def in_a_fork(work):
    process = os.fork()
    if process == 0:
        os._exit(work())
    return os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])

def check():
    watched.check()
    return 0

seen = [watched.intact]
cards.write_bytes(b"")
seen.append(watched.intact)
in_a_fork(check)
seen.append(watched.intact)
seen.append(bool(in_a_fork(lambda: watched.intact)))
cards.write_bytes(text)
in_a_fork(check)
seen.append(watched.intact)
seen.append(bool(in_a_fork(lambda: watched.intact)))
print(seen)
"""


def test_what_one_process_finds_all_know(release: Release) -> None:
    run = subprocess.run(
        [sys.executable, "-c", FORKS, str(release.root)],
        env={**os.environ, "PYTHONPATH": str(ROOT.parent)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert run.stdout == "[True, True, False, False, True, True]\n"


# Bytecode, which Python runs in place of the source.


def _compiled(release: Release, program: bytes, header: bytes | None = None) -> Path:
    """Bytecode of a program where Python looks for that of ``game/cards.py``."""
    source = release.root / "game/cards.py"
    cached = Path(cache_from_source(source))
    cached.parent.mkdir(exist_ok=True)
    stat = source.stat()
    genuine = MAGIC_NUMBER + struct.pack("<III", 0, int(stat.st_mtime) & 0xFFFFFFFF, stat.st_size)
    cached.write_bytes((header or genuine) + marshal.dumps(compile(program, str(source), "exec")))
    return cached


def test_bytecode_of_the_source_itself_is_fine(release: Release) -> None:
    _compiled(release, (release.root / "game/cards.py").read_bytes())
    assert release.altered() == {}


@pytest.mark.parametrize("waived", [False, True])
def test_bytecode_of_another_program_is_found(release: Release, waived: bool) -> None:
    header = MAGIC_NUMBER + struct.pack("<IQ", 1, 0) if waived else None
    cached = _compiled(release, b"ACE = 13", header)
    name = cached.relative_to(release.root).as_posix()
    assert set(release.altered()) == {name}
    assert release.altered()[name].stated is None


def test_bytecode_that_is_no_program_is_found(release: Release) -> None:
    cached = _compiled(release, b"")
    cached.write_bytes(cached.read_bytes()[:16] + b"?")
    assert set(release.altered()) == {cached.relative_to(release.root).as_posix()}


def test_bytecode_that_python_does_not_take_is_no_matter(release: Release) -> None:
    _compiled(release, b"ACE = 13", MAGIC_NUMBER + struct.pack("<III", 0, 1, 1))
    assert release.altered() == {}


def test_what_cannot_be_read_is_named(release: Release) -> None:
    (release.root / "game/more.py").mkdir()
    assert set(release.altered()) == {"game/more.py"}
