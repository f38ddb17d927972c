"""An audit that is ended without warning, at any point, goes on and comes to the very same results."""

import multiprocessing
import os
import select
import shutil
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from service.audit import Interrupted, RefusedAudit, journal
from service.audit.journal import Journal
from service.keys import new_keys, read_keys
from service.registry import load_rulesets
from tests.api.servers import PATIENCE
from tests.audit.archive import archive, listed, results, run
from tests.audit.test_reader import WRITERS

pytestmark = pytest.mark.filterwarnings("ignore:.*multi-threaded, use of fork:DeprecationWarning")
SIZE = 40_000


@pytest.fixture(scope="module")
def names(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """The archive in files of every format, one of them broken."""
    folder, lines = tmp_path_factory.mktemp("archive"), archive()
    parts = {"ndjson": lines[:60], "gz": lines[60:110], "zst": lines[110:150], "parquet": lines[150:]}
    for format, part in parts.items():
        text = b"".join(line + b"\n" for line in part)
        WRITERS[format](folder / f"x.{format}", text.replace(b"\xff", b"?"))
    path = folder / "x.gz"
    path.write_bytes(path.read_bytes()[:-200])
    return [str(folder / f"x.{format}") for format in parts]


@pytest.fixture(scope="module")
def whole(names: list[str], tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    folder = tmp_path_factory.mktemp("whole")
    run(*names, output=folder, size=SIZE)
    return results(folder)


def in_child(target: Callable[[], None]) -> int:
    """The exit code of a process that does this, once it and all that it started have ended."""
    alive, held = os.pipe()
    process = multiprocessing.get_context("fork").Process(target=target)
    process.start()
    os.close(held)
    process.join(PATIENCE)
    ended, _, _ = select.select([alive], [], [], PATIENCE)
    assert ended, "its workers end with it"
    os.close(alive)
    assert process.exitcode is not None
    return process.exitcode


def killed_at(count: int, call: Callable[..., Any], *, after: bool) -> Callable[..., Any]:
    """A function that ends the process, by the signal that nobody can catch, at one of its calls."""
    calls = iter(range(1, 10**6))

    def killing(*arguments: Any, **options: Any) -> Any:
        number = next(calls)
        if number == count and not after:
            os.kill(os.getpid(), signal.SIGKILL)
        result = call(*arguments, **options)
        if number == count:
            if isinstance(arguments[0], Journal):
                for file in arguments[0]._lists.values():
                    file.flush()  # more reaches the disk than the state knows of
            os.kill(os.getpid(), signal.SIGKILL)
        return result

    return killing


NEVER = 1e9


@pytest.mark.parametrize(
    ("owner", "name", "count", "after", "every"),
    [
        (Journal, "add", 1, True, NEVER),
        (Journal, "add", 5, True, NEVER),
        (Journal, "add", 5, True, 0),
        (Journal, "save", 1, False, 0),
        (Journal, "finish", 1, False, NEVER),
        (Journal, "finish", 1, True, 0),
        (os, "fsync", 2, True, 0),
        (os, "fsync", 20, True, 0),
        (os, "replace", 1, False, 0),
        (os, "replace", 1, True, 0),
        (os, "replace", 4, False, 0),
        (os, "replace", 4, True, 0),
        (journal, "summary_csv", 1, False, NEVER),
        (journal, "summary_csv", 1, True, 0),
    ],
)
def test_a_kill_at_any_point_loses_and_doubles_nothing(
    owner: Any,
    name: str,
    count: int,
    after: bool,
    every: float,
    names: list[str],
    whole: dict[str, bytes],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(journal, "SAVE_EVERY", every)

    def dying() -> None:
        setattr(owner, name, killed_at(count, getattr(owner, name), after=after))
        run(*names, output=tmp_path, size=SIZE, workers=2)

    assert in_child(dying) == -signal.SIGKILL
    run(*names, output=tmp_path, size=SIZE, resume=True)
    assert results(tmp_path) == whole


def test_kill_after_kill_it_comes_to_its_end(
    names: list[str], whole: dict[str, bytes], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(journal, "SAVE_EVERY", 0.0)

    def dying() -> None:
        patched: Any = Journal
        patched.add = killed_at(2, Journal.add, after=False)
        run(*names, output=tmp_path, size=SIZE, resume=True, workers=2)

    deaths = 0
    while in_child(dying) == -signal.SIGKILL:
        deaths += 1
        assert deaths < 100, "it goes on from where it was"
    assert deaths > 10, "after every single chunk"
    assert results(tmp_path) == whole


def test_an_interruption_at_the_keyboard_says_how_to_go_on(
    names: list[str], whole: dict[str, bytes], tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    add = Journal.add
    calls = iter(range(10**6))

    def interrupted(*arguments: Any) -> None:
        add(*arguments)
        if next(calls) == 4:
            os.killpg(0, signal.SIGINT)  # as a terminal does: to all of them

    def stopping() -> None:
        os.setpgrp()
        patched: Any = Journal
        patched.add = interrupted
        try:
            run(*names, output=tmp_path, size=SIZE, workers=2)
        except Interrupted as stopped:
            (tmp_path / "told").write_text(str(stopped))
            os._exit(stopped.status)

    assert in_child(stopping) == 130
    assert capfd.readouterr().err == ""
    assert "--resume" in (tmp_path / "told").read_text()
    assert not (tmp_path / "summary.json").exists()
    run(*names, output=tmp_path, size=SIZE, resume=True)
    assert results(tmp_path) == whole


def test_what_is_finished_stays_so(names: list[str], whole: dict[str, bytes], tmp_path: Path) -> None:
    for _ in range(2):
        run(*names, output=tmp_path, size=SIZE, resume=True)
        assert results(tmp_path) == whole


def refused(*names: str, **options: Any) -> str:
    with pytest.raises(RefusedAudit) as caught:
        run(*names, resume=True, **options)
    return str(caught.value)


def test_only_the_same_audit_goes_on(
    names: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    copies = [str(shutil.copy(name, tmp_path)) for name in names]
    out = tmp_path / "out"
    run(*copies, output=out, size=SIZE)
    before = results(out)
    assert "files" in refused(*copies[:-1], output=out)
    assert "files" in refused(*reversed(copies), output=out)
    assert "certificates" in refused(*copies, output=out, certificates=False)
    with monkeypatch.context() as patch:
        patch.setattr("service.audit.terms.ENGINE", {"version": "0.9.0"})
        assert "engine" in refused(*copies, output=out)
    with monkeypatch.context() as patch:
        patch.setattr("tests.audit.archive.KEYS", read_keys(new_keys()))
        assert "keys" in refused(*copies, output=out)
    with monkeypatch.context() as patch:
        patch.setattr("tests.audit.archive.REGISTRY", {"casino-1": load_rulesets()["casino-1"]})
        assert "rulesets" in refused(*copies, output=out)
    os.utime(copies[0], (1, 1))
    assert "files" in refused(*copies, output=out)
    assert results(out) == before


def test_lists_that_somebody_shortened_are_told(names: list[str], tmp_path: Path) -> None:
    run(*names, output=tmp_path, size=SIZE)
    path = tmp_path / "differences.ndjson"
    assert listed(path)
    os.truncate(path, 10)
    assert "shorter" in refused(*names, output=tmp_path)


def test_standard_input_cannot_be_resumed(tmp_path: Path) -> None:
    assert "second time" in refused("-", output=tmp_path)
