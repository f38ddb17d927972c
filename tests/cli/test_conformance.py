"""``russian-poker conformance``: its exit status and what it prints."""

import io
import json
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from service.api import create_app
from tests.api.servers import serving_here
from tests.cli.conftest import Command
from tests.conformance.kit import FILE


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    with serving_here(create_app()) as port:
        yield f"http://127.0.0.1:{port}"


@pytest.fixture
def small(tmp_path: Path) -> Path:
    """A file with the first twenty cases, the last of which expects something else."""
    kit = json.loads(FILE.read_text(encoding="utf-8"))
    path = tmp_path / "small.json"
    path.write_text(json.dumps({**kit, "cases": kit["cases"][:20]}), encoding="utf-8")
    return path


def wrong(small: Path) -> Path:
    kit = json.loads(small.read_text(encoding="utf-8"))
    kit["cases"][-1]["answer"]["body"]["odds"] += 1
    small.write_text(json.dumps(kit), encoding="utf-8")
    return small


def test_a_deployment_that_conforms(address: str, small: Path, run: Command) -> None:
    done = run("conformance", address, "--kit", str(small))
    assert (done.status, done.err) == (0, "")
    head, _, table = done.out.partition("\n\n")
    assert head == f"kit 1 against {address}"
    assert table.startswith("kind          asked  failed\nkeys              1       0\n")
    assert done.out.endswith("\nIt conforms.\n")


def test_one_that_does_not(address: str, small: Path, run: Command) -> None:
    done = run("conformance", address, "--kit", str(wrong(small)))
    assert (done.status, done.err) == (1, "")
    assert "\n  /odds\n    expected " in done.out
    assert done.out.endswith("\nIt does not conform.\n")


def test_a_report_for_programs(address: str, small: Path, run: Command) -> None:
    done = run("conformance", "--json", address, "--kit", str(small))
    assert (done.status, done.err) == (0, "")
    assert json.loads(done.out)["conforms"] is True
    done = run("conformance", "--json", address, "--kit", str(wrong(small)))
    assert (done.status, done.err) == (1, "")
    report = json.loads(done.out)
    assert (report["conforms"], report["failed"]) == (False, 1)
    (failure,) = report["failures"]
    assert set(failure) == {"id", "kind", "clauses", "request", "differences"}


def test_without_a_kit_the_newest_is_taken(run: Command) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
    done = run("conformance", f"http://127.0.0.1:{port}")
    assert (done.status, done.err) == (1, "")
    assert "refused" in done.out
    assert "more were not asked" in done.out
    assert "Traceback" not in done.out


@pytest.mark.parametrize("content", [None, b"{", b"[]", b'{"kit": 1}', b"\xff"])
def test_a_file_that_is_no_kit(content: bytes | None, tmp_path: Path, run: Command) -> None:
    path = tmp_path / "kit.json"
    if content is not None:
        path.write_bytes(content)
    done = run("conformance", "http://127.0.0.1:1", "--kit", str(path))
    assert (done.status, done.out) == (2, "")
    assert done.err.startswith("russian-poker: ")
    assert "Traceback" not in done.err


@pytest.mark.parametrize("arguments", [[], ["127.0.0.1:8080"], ["http://127.0.0.1:x"], ["http://a", "--kit"]])
def test_wrong_usage(arguments: list[str], run: Command) -> None:
    done = run("conformance", *arguments)
    assert (done.status, done.out) == (2, "")
    assert done.err.startswith("usage: russian-poker conformance ")


def test_a_terminal_is_shown_how_far_it_is(
    address: str, small: Path, run: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    terminal = io.StringIO()
    monkeypatch.setattr(terminal, "isatty", lambda: True)
    monkeypatch.setattr("sys.stderr", terminal)
    assert run("conformance", address, "--kit", str(small)).status == 0
    assert terminal.getvalue().startswith("\r1 of 20\r2 of 20\r")
    assert terminal.getvalue().endswith("\r20 of 20\r")
