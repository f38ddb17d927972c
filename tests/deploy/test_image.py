"""What can be told of the container image without building it."""

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Thread
from typing import NamedTuple

import pytest
from flask import Flask
from werkzeug.serving import make_server

from service.api import create_app
from service.cli import main
from service.keys import new_keys
from tests.api.servers import serving

ROOT = Path(__file__).parents[2]
ROUND = {
    "ruleset": "casino-1",
    "deal": {"server_seed": "00ffa5c3" * 8},
    "boxes": [{"box": 1, "ante": 100}],
    "actions": [{"box": 1, "action": "fold"}],
}


@pytest.fixture(autouse=True)
def _nothing_configured(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("KEYS_FILE", "KEYS", "PRODUCTION"):
        monkeypatch.delenv(name, raising=False)


class Step(NamedTuple):
    """One instruction of the Dockerfile."""

    name: str
    arguments: str


def stages() -> list[list[Step]]:
    """The Dockerfile's instructions by stage, long lines joined and comments left out."""
    text = (ROOT / "Dockerfile").read_text()
    lines = [line for line in text.splitlines() if not line.lstrip().startswith("#")]
    joined = "\n".join(lines).replace("\\\n", " ")
    found: list[list[Step]] = []
    for line in joined.splitlines():
        if line.strip():
            step = Step(*line.split(maxsplit=1))
            if step.name == "FROM":
                found.append([])
            found[-1].append(step)
    return found


def shipped() -> dict[str, str]:
    """The last instruction of each name in the stage that ships."""
    return dict(stages()[-1])


def image_environment() -> dict[str, str]:
    """What the image sets."""
    return dict(word.split("=", 1) for word in shipped()["ENV"].split())


def settings_of_the_service() -> dict[str, str]:
    """The same without the places of the image."""
    return {name: value for name, value in image_environment().items() if name not in ("PATH", "PORT")}


def copied() -> Iterator[str]:
    """What is copied into the image from this repository."""
    for stage in stages():
        for step in stage:
            if step.name in ("COPY", "ADD") and "--from=" not in step.arguments:
                yield from (word for word in step.arguments.split()[:-1] if not word.startswith("--"))


def health_check() -> list[str]:
    command: list[str] = json.loads(shipped()["HEALTHCHECK"].partition("CMD")[2])
    return [sys.executable, *command[1:]]


def test_hadolint_has_nothing_to_say() -> None:
    hadolint = Path(sys.executable).with_name("hadolint")
    done = subprocess.run([hadolint, ROOT / "Dockerfile"], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_the_image_does_not_run_as_root() -> None:
    found = re.fullmatch(r"(\d+):(\d+)", shipped()["USER"])
    assert found, "numbers, so that an orchestrator can tell"
    assert int(found[1]) >= 1000
    assert int(found[2]) >= 1000
    names = [step.name for step in stages()[-1]]
    assert not {"RUN", "COPY", "ADD"} & set(names[names.index("USER") :])
    assert f"--uid {found[1]}" in " ".join(step.arguments for step in stages()[-1] if step.name == "RUN")


def test_the_base_images_have_a_version_and_no_registry() -> None:
    for stage in stages():
        image = stage[0].arguments.split()[0]
        name, _, tag = image.partition(":")
        assert "/" not in name
        assert re.match(r"3\.\d+", tag)
    assert len({stage[0].arguments.split()[0] for stage in stages()}) == 1


def test_what_is_copied_exists_and_is_not_ignored() -> None:
    ignored = (ROOT / ".dockerignore").read_text().splitlines()
    allowed = {line[1:] for line in ignored if line.startswith("!")}
    assert "*" in ignored
    sources = set(copied())
    assert sources == allowed, "neither more nor less"
    for source in sources:
        assert (ROOT / source).exists(), source


def test_all_that_the_service_reads_is_in_the_image() -> None:
    read = {"service", "openapi.yaml", "docs", "deploy/gunicorn.conf.py"}
    assert read | {"requirements.lock"} <= set(copied())


def test_the_dependencies_are_installed_by_their_hashes() -> None:
    runs = [step.arguments for stage in stages() for step in stage if step.name == "RUN"]
    (install,) = (arguments for arguments in runs if "pip" in arguments)
    assert "--require-hashes" in install
    lock = (ROOT / "requirements.lock").read_text().replace("\\\n", "")
    pinned = [line for line in lock.splitlines() if line and not line.lstrip().startswith("#")]
    assert len(pinned) >= 5
    for line in pinned:
        assert re.match(r"[a-z0-9.\[\]_-]+==\S+ ", line)
        assert "--hash=sha256:" in line


def test_the_image_serves_to_the_outside_on_the_port_it_exposes(monkeypatch: pytest.MonkeyPatch) -> None:
    program = json.loads(shipped()["ENTRYPOINT"])
    assert program[-2:] == ["-m", "service.cli"]
    environment = image_environment()
    assert environment["PORT"] == shipped()["EXPOSE"]
    started: list[dict[str, str]] = []
    monkeypatch.setattr("sys.argv", [])
    monkeypatch.setattr("gunicorn.app.wsgiapp.run", lambda prog: started.append(dict(os.environ)))
    monkeypatch.setenv("PORT", environment["PORT"])
    monkeypatch.setenv("HOST", "127.0.0.1")
    main(json.loads(shipped()["CMD"]))
    assert (started[0]["HOST"], started[0]["PORT"]) == ("0.0.0.0", environment["PORT"])


def test_the_image_is_for_production_and_brings_no_keys() -> None:
    assert image_environment()["PRODUCTION"] == "1"
    assert not {"KEYS", "KEYS_FILE"} & set(image_environment())
    texts = [step.arguments for stage in stages() for step in stage if step.name in ("ENV", "ARG", "COPY")]
    assert not [text for text in texts if "keys" in text.lower()]


def test_the_image_does_not_start_with_the_published_keys(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, *json.loads(shipped()["ENTRYPOINT"])[1:], *json.loads(shipped()["CMD"])],
        cwd=ROOT,
        env={**os.environ, **settings_of_the_service(), "PORT": "0"},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert (done.returncode, done.stdout) == (1, "")
    assert "PRODUCTION is set" in done.stderr
    assert "KEYS_FILE" in done.stderr
    assert "Traceback" not in done.stderr
    assert "Listening" not in done.stderr


def test_the_image_serves_with_keys_of_its_own(tmp_path: Path) -> None:
    keys = tmp_path / "keys.json"
    keys.write_text(json.dumps(new_keys()))
    command = [sys.executable, *json.loads(shipped()["ENTRYPOINT"])[1:], "serve"]
    settings = {**settings_of_the_service(), "KEYS_FILE": str(keys)}
    with serving(tmp_path / "server", command, ROOT, **settings) as server:
        assert checked(server.port) == 0
        published = server.ask("/.well-known/jwks.json").json()["keys"]
        assert [key["status"] for key in published] == ["active", "next"]
        assert not any("development" in key for key in published)
        outcome = server.ask("/v1/rounds/settle", ROUND).json()
        verdict = server.ask("/v1/rounds/verify", {"certificate": outcome["certificate"]}).json()
        assert verdict["valid"] is True
        signature = verdict["checks"][0]
        assert (signature["name"], published[0]["kid"] in signature["detail"]) == ("signature", True)


@contextmanager
def listening(app: Flask) -> Iterator[int]:
    """The app on a free port, served by a thread."""
    server = make_server("127.0.0.1", 0, app)
    thread = Thread(target=server.serve_forever)
    thread.start()
    try:
        yield server.port
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def checked(port: int) -> int:
    """The exit status of the image's health check."""
    environment = {**os.environ, "PORT": str(port)}
    done = subprocess.run(health_check(), env=environment, capture_output=True, timeout=60, check=False)
    return done.returncode


def test_the_health_check_asks_a_route_of_the_app() -> None:
    (path,) = re.findall(r"}(/[a-z]+)'", health_check()[-1])
    app = create_app()
    assert path in {rule.rule for rule in app.url_map.iter_rules()}
    with listening(app) as port:
        assert checked(port) == 0


def test_the_health_check_fails_where_nothing_is_ready() -> None:
    with listening(Flask("empty")) as port:
        assert checked(port) == 1
    assert checked(port) == 1
