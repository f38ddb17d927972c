"""How ``russian-poker`` is called: help, version, exit status, and as a process of its own."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from gunicorn.app import wsgiapp

import service
from tests.cli.conftest import Command

ROOT = Path(service.__file__).parents[1]
COMMANDS = ["serve", "settle", "deck", "evaluate", "verify", "audit", "keys", "rulesets", "conformance"]
SEED = "00ffa5c3" * 8


def test_help_lists_every_command(run: Command) -> None:
    done = run("--help")
    assert (done.status, done.err) == (0, "")
    assert re.findall(r"^    ([a-z]+)\s+\S", done.out, re.M) == COMMANDS
    assert "RULESETS_DIR" in done.out
    assert "Exit status" in done.out


@pytest.mark.parametrize(
    ("command", "told"),
    [
        ("serve", ["--host", "--port", "127.0.0.1", "8080"]),
        ("settle", ["FILE", "standard input", "/v1/rounds/settle"]),
        ("deck", ["SERVER_SEED", "--client-seed", "--nonce", "64 hex digits"]),
        ("evaluate", ["RULESET", "CARD", "casino-1"]),
        ("audit", ["FILE", "--output", "--resume", "--scheduler", ".parquet", "130 interrupted"]),
        ("rulesets", ["ID"]),
        ("conformance", ["URL", "--kit", "--json", "/v1/conformance"]),
    ],
)
def test_every_command_has_help(
    command: str, told: list[str], run: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("HOST", "PORT"):
        monkeypatch.delenv(name, raising=False)
    done = run(command, "--help")
    assert (done.status, done.err) == (0, "")
    assert done.out.startswith(f"usage: russian-poker {command} ")
    assert all(text in done.out for text in told)


def test_version(run: Command) -> None:
    assert run("--version") == (0, f"russian-poker {service.__version__}\n", "")


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ([], "COMMAND"),
        (["sette", "x"], "sette"),
        (["settle"], "FILE"),
        (["settle", "a", "b"], "b"),
        (["settle", "--no-such-option", "a"], "--no-such-option"),
        (["deck"], "SERVER_SEED"),
        (["deck", SEED, "--nonce", "seven"], "seven"),
        (["deck", SEED, "--nonce", "1.0"], "1.0"),
        (["evaluate"], "RULESET"),
        (["evaluate", "casino-1"], "CARD"),
        (["rulesets", "a", "b"], "b"),
        (["serve", "--port", "http"], "http"),
    ],
)
def test_wrong_usage_is_told_and_exits_with_2(arguments: list[str], told: str, run: Command) -> None:
    done = run(*arguments)
    assert (done.status, done.out) == (2, "")
    assert done.err.startswith("usage: russian-poker ")
    assert told in done.err


def test_serve_becomes_gunicorn_with_the_settings_that_are_shipped(
    run: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    started: list[Any] = []
    monkeypatch.setattr("sys.argv", [])
    monkeypatch.setattr(
        "gunicorn.app.wsgiapp.run", lambda prog: started.append((prog, *sys.argv, dict(os.environ)))
    )
    for name in ("HOST", "PORT"):
        monkeypatch.setenv(name, "unset")
    monkeypatch.setenv("PORT", "8080")
    run("serve", "--host", "::1", "--port", "0")
    ((prog, script, option, settings, environment),) = started
    assert (prog, Path(script), option) == ("gunicorn", Path(wsgiapp.__file__), "--config")
    assert Path(settings) == ROOT / "deploy" / "gunicorn.conf.py"
    assert Path(settings).is_file()
    assert (environment["HOST"], environment["PORT"]) == ("::1", "0")


def test_serve_takes_address_and_port_from_the_environment(
    run: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    started: list[dict[str, str]] = []
    monkeypatch.setattr("sys.argv", [])
    monkeypatch.setattr("gunicorn.app.wsgiapp.run", lambda prog: started.append(dict(os.environ)))
    monkeypatch.setenv("HOST", "127.0.0.2")
    monkeypatch.setenv("PORT", "12345")
    run("serve")
    assert (started[0]["HOST"], started[0]["PORT"]) == ("127.0.0.2", "12345")
    monkeypatch.setenv("PORT", "http")
    done = run("serve")
    assert done.status == 2
    assert "http" in done.err


def process(*arguments: str | bytes, stdin: bytes = b"", **environment: str) -> tuple[int, bytes, str]:
    done = subprocess.run(
        [sys.executable, "-m", "service.cli", *arguments],
        cwd=ROOT,
        env={**os.environ, **environment},
        input=stdin,
        capture_output=True,
        timeout=60,
        check=False,
    )
    return done.returncode, done.stdout, done.stderr.decode()


def test_as_a_process_of_its_own(run: Command) -> None:
    body = {
        "ruleset": "casino-1",
        "deal": {"server_seed": SEED},
        "boxes": [{"box": 1, "ante": 100}],
        "actions": [{"box": 1, "action": "fold"}],
        "context": {"ü": "🂡"},
    }
    data = json.dumps(body, ensure_ascii=False).encode()
    here = run("settle", "-", stdin=data)
    # The locale has no say in what is JSON.
    assert process("settle", "-", stdin=data, LC_ALL="C", PYTHONUTF8="0") == (0, here.out.encode(), "")


def test_a_refusal_of_a_process_of_its_own() -> None:
    # A Latin-1 terminal: the argument is no UTF-8.
    status, out, err = process("deck", SEED, "--client-seed", b"caf\xe9")
    assert (status, out) == (1, b"")
    assert "/client_seed" in err
    assert "Traceback" not in err
