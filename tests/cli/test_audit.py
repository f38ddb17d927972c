"""``russian-poker audit``: files in, a folder and a summary out, and an exit status that tells."""

import json
import os
from pathlib import Path

import pytest

from service.api import create_app
from service.audit import Interrupted
from service.keys import new_keys
from tests.audit.archive import altered_total, certified, hidden, line, outcomes, write
from tests.cli.conftest import Command

pytestmark = pytest.mark.filterwarnings("ignore:.*multi-threaded, use of fork:DeprecationWarning")


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def right(tmp_path: Path) -> str:
    return write(tmp_path / "right.ndjson", [line(certified(outcome)) for outcome in outcomes()[:10]])


@pytest.fixture
def wrong(tmp_path: Path) -> str:
    return write(tmp_path / "wrong.ndjson", [line(altered_total(outcomes()[0])), b"{", line(hidden())])


def test_all_right_is_status_0_and_the_summary_is_printed(right: str, run: Command, tmp_path: Path) -> None:
    done = run("audit", right)
    assert (done.status, done.err) == (0, "")
    summary = json.loads(done.out)
    assert summary["valid"]
    assert summary["total"]["equal"] == summary["total"]["certificates_valid"] == 10
    assert (tmp_path / "audit" / "summary.json").read_text() == done.out
    assert sorted(os.listdir("audit")) == [
        *("damaged.ndjson", "differences.ndjson", "failed.ndjson"),
        *("state.json", "summary.csv", "summary.json"),
    ]


def test_anything_else_is_status_1(right: str, wrong: str, run: Command) -> None:
    done = run("audit", right, wrong, "--output", "out", "--workers", "2")
    assert (done.status, done.err) == (1, "")
    total = json.loads(done.out)["total"]
    assert (total["equal"], total["differing"], total["unchecked"], total["damaged"]) == (10, 1, 1, 1)
    for place, content in enumerate(Path(wrong).read_bytes().splitlines()):
        assert run("audit", "-", "--output", str(place), stdin=content).status == 1
    assert run("audit", "-", "--output", "blank", stdin=b"\n\n").status == 1


def test_a_second_run_goes_on_only_when_told_to(right: str, run: Command) -> None:
    first = run("audit", right)
    again = run("audit", right)
    assert (again.status, again.out) == (2, "")
    assert "--resume" in again.err
    assert run("audit", right, "--resume") == first


def test_keys_are_given_as_for_verify(right: str, run: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    Path("jwks.json").write_bytes(create_app().test_client().get("/.well-known/jwks.json").data)
    monkeypatch.setenv("KEYS", json.dumps(new_keys()))
    done = run("audit", right, "--output", "a")
    assert done.status == 1
    assert json.loads(done.out)["total"]["unknown-key"] == 10
    assert run("audit", right, "--output", "b", "--jwks", "jwks.json").status == 0
    done = run("audit", right, "--output", "c", "--no-signatures")
    assert done.status == 0
    assert json.loads(done.out)["total"]["certificates"] == 0
    assert not json.loads(done.out)["certificates"]


def test_what_is_wrong_with_the_call_is_status_2(right: str, run: Command) -> None:
    for arguments, told in (
        ([], "FILE"),
        ([right, "--workers", "0"], "--workers"),
        ([right, "--workers", "two"], "two"),
        (["missing.ndjson"], "missing.ndjson"),
        ([right, right], "same file"),
        ([right, "--workers", "2", "--scheduler", "tcp://127.0.0.1:1"], "--scheduler"),
        ([right, "--output", right], right),
    ):
        done = run("audit", *arguments)
        assert (done.status, done.out) == (2, "")
        assert told in done.err
        assert "Traceback" not in done.err


def test_a_name_may_be_no_text(run: Command) -> None:
    name = os.fsdecode(b"caf\xe9.ndjson")
    write(Path(name), [b"{"])
    done = run("audit", name)
    assert done.status == 1
    assert json.loads(done.out)["files"][0]["file"] == name
    assert json.loads(Path("audit/damaged.ndjson").read_bytes())["file"] == name
    assert run("audit", name, "--resume") == done


@pytest.mark.parametrize(
    ("name", "value"), [("KEYS_FILE", "nowhere"), ("KEYS", "{}"), ("RULESETS_DIR", "nowhere")]
)
def test_without_keys_or_rulesets_there_is_no_audit(
    name: str, value: str, right: str, run: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert run("audit", right, "--jwks", "nowhere").status == 2
    monkeypatch.setenv(name, value)
    done = run("audit", right)
    assert (done.status, done.out) == (2, "")
    assert name in done.err
    assert not Path("audit").exists()


def test_an_interruption_is_status_130(right: str, run: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: object, **__: object) -> None:
        raise Interrupted("interrupted; go on")

    monkeypatch.setattr("service.audit.runner.audit", interrupted)
    assert run("audit", right) == (130, "", "russian-poker: interrupted; go on\n")
