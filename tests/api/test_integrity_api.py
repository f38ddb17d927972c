"""Integrity over HTTP: what is altered is named, and nothing is settled until the release is restored."""

import hashlib
import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NamedTuple

import pytest
from flask.testing import FlaskClient

from service import __version__, integrity
from service.api import create_app, deployment
from service.integrity import ENGINE_DIGEST, MANIFEST, ROOT, Integrity
from service.observability import metrics

Document = dict[str, Any]
DAY = 24 * 60 * 60
FOLDED = {
    "ruleset": "casino-1",
    "deal": {"server_seed": "0f" * 32},
    "boxes": [{"box": 1, "ante": 100}],
    "actions": [{"box": 1, "action": "fold"}],
}


class House(NamedTuple):
    """An app that watches a copy of the release, to be damaged."""

    root: Path
    client: FlaskClient

    def check(self) -> Document:
        answer = self.client.get("/v1/integrity")
        assert answer.status_code == 200, answer.text
        document = answer.get_json()
        assert isinstance(document, dict)
        return document

    def altered(self) -> dict[str, tuple[str | None, str | None]]:
        checked = self.check()
        assert checked["intact"] == all(file["intact"] for file in checked["files"])
        return {
            file["file"]: (file["stated"], file["found"]) for file in checked["files"] if not file["intact"]
        }

    def gauge(self) -> float:
        text = self.client.get("/metrics").text
        return float(re.findall(r"^russian_poker_altered_files{.*} (\S+)$", text, re.MULTILINE)[0])

    def statuses(self) -> set[int]:
        """The statuses of everything that depends on the files."""
        outcome = {"certificate": "x.y.z"}
        bodies = {
            "settle": FOLDED,
            "step": FOLDED,
            "void": {**FOLDED, "reason": "power cut"},
            "verify": outcome,
        }
        posted = [self.client.post(f"/v1/rounds/{verb}", json=body) for verb, body in bodies.items()]
        given = [*posted, self.client.get("/readyz")]
        for answer in given:
            if answer.status_code == 503:
                assert answer.mimetype == "application/problem+json"
                assert answer.get_json()["type"] == "/problems/integrity-lost"
                assert "/v1/integrity" in answer.get_json()["detail"]
        return {answer.status_code for answer in given}


@pytest.fixture
def house(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> House:
    for name in ("KEYS_FILE", "KEYS", "PRODUCTION"):
        monkeypatch.delenv(name, raising=False)
    root = tmp_path / "service"
    shutil.copytree(ROOT, root, ignore=shutil.ignore_patterns("__pycache__"))
    monkeypatch.setattr(deployment, "Integrity", partial(Integrity, root=root))
    return House(root, create_app().test_client())


@pytest.fixture(autouse=True)
def _gauge_left_at_zero() -> Iterator[None]:
    """The gauge is that of the process."""
    yield
    metrics.publish_altered_files(__version__, 0)


def test_the_release_is_intact(house: House) -> None:
    checked = house.check()
    lines = MANIFEST.read_text(encoding="utf-8").splitlines()
    assert checked["intact"] is True
    assert checked["engine"]["digest"] == ENGINE_DIGEST
    assert "sha256:" + hashlib.sha256(MANIFEST.read_bytes()).hexdigest() == ENGINE_DIGEST
    manifest, *files = checked["files"]
    assert (manifest["file"], f"sha256:{manifest['found']}") == (MANIFEST.name, ENGINE_DIGEST)
    assert [f"{file['found']}  {file['file']}" for file in files] == lines
    assert all(file["intact"] and file["stated"] == file["found"] for file in checked["files"])
    assert house.statuses() == {200}
    assert house.gauge() == 0


def test_outcomes_and_version_name_the_engine_by_the_manifest(house: House) -> None:
    outcome = house.client.post("/v1/rounds/settle", json=FOLDED).get_json()
    assert (
        outcome["engine"] == house.client.get("/v1/version").get_json()["engine"] == house.check()["engine"]
    )
    assert outcome["engine"]["digest"] == ENGINE_DIGEST


def alter(root: Path) -> None:
    with (root / "game" / "cards.py").open("ab") as file:
        file.write(b"\n")


def remove(root: Path) -> None:
    (root / "rulesets" / "casino-1.toml").unlink()


def add(root: Path) -> None:
    (root / "fairness" / "luck.py").touch()


@pytest.mark.parametrize(
    ("damage", "file"),
    [(alter, "game/cards.py"), (remove, "rulesets/casino-1.toml"), (add, "fairness/luck.py")],
    ids=["altered", "missing", "added"],
)
def test_a_loss_is_named_stops_the_service_and_is_over_once_restored(
    house: House, damage: Callable[[Path], None], file: str, caplog: pytest.LogCaptureFixture
) -> None:
    damage(house.root)
    assert house.statuses() == {200}, "not looked at yet"
    found = house.altered()
    assert list(found) == [file]
    stated, present = found[file]
    assert stated == (
        hashlib.sha256((ROOT / file).read_bytes()).hexdigest() if (ROOT / file).exists() else None
    )
    path = house.root / file
    assert present == (hashlib.sha256(path.read_bytes()).hexdigest() if path.exists() else None)
    assert f"integrity lost: {file}" in caplog.text
    assert house.statuses() == {503}
    assert house.gauge() == 1
    if (ROOT / file).exists():
        shutil.copy(ROOT / file, path)
    else:
        path.unlink()
    assert house.statuses() == {503}, "until it is checked again"
    assert house.altered() == {}
    assert house.statuses() == {200}
    assert house.gauge() == 0


def test_all_losses_are_named_and_counted(house: House) -> None:
    alter(house.root)
    remove(house.root)
    add(house.root)
    assert set(house.altered()) == {"game/cards.py", "rulesets/casino-1.toml", "fairness/luck.py"}
    assert house.gauge() == 3


def test_what_depends_on_no_file_goes_on(house: House) -> None:
    alter(house.root)
    house.check()
    for path in ("/livez", "/metrics", "/v1/version", "/.well-known/jwks.json", "/v1/rulesets", "/problems"):
        assert house.client.get(path).status_code == 200, path
    assert house.client.get("/problems/integrity-lost").status_code == 200


def test_bad_requests_are_refused_for_the_loss_first(house: House) -> None:
    alter(house.root)
    house.check()
    assert house.client.post("/v1/rounds/settle", data="no JSON").status_code == 503


def test_a_loss_is_noticed_within_a_day(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    now = time.monotonic()
    clock = SimpleNamespace(monotonic=lambda: now)
    monkeypatch.setattr(integrity, "time", clock)
    assert house.check()["intact"], "and the day begins anew"
    alter(house.root)
    now += DAY - 1
    assert house.statuses() == {200}
    now += 2
    assert house.statuses() == {503}
    assert house.gauge() == 1
    shutil.copy(ROOT / "game" / "cards.py", house.root / "game" / "cards.py")
    now += DAY + 1
    assert house.statuses() == {200}
    assert house.gauge() == 0


@pytest.mark.parametrize("content", [None, b"garbage\n", b"\xff\n"], ids=repr)
def test_a_manifest_that_cannot_be_read_is_a_loss_and_no_failure(house: House, content: bytes | None) -> None:
    if content is None:
        (house.root / MANIFEST.name).unlink()
    else:
        (house.root / MANIFEST.name).write_bytes(content)
    assert not house.check()["intact"]
    assert house.statuses() == {503}


def run_python(program: str, root: Path) -> str:
    run = subprocess.run(
        [sys.executable, "-c", program],
        env={"PATH": os.environ["PATH"], "PYTHONPATH": str(root)},
        cwd=root,
        capture_output=True,
        text=True,
        check=True,
    )
    return run.stdout.strip()


# The copy itself runs here, as an installation would.
START = """
import service
from service.api import create_app
client = create_app().test_client()
print(service.__file__, client.get("/readyz").status_code, client.get("/livez").status_code)
"""


def test_a_damaged_release_starts_and_settles_nothing(house: House) -> None:
    alter(house.root)
    assert run_python(START, house.root.parent) == f"{house.root / '__init__.py'} 503 200"


WORKERS = """
import os, re
from pathlib import Path
from service.observability import metrics
metrics.share_between_workers()
from service.api import create_app

app = create_app()
cards = Path("service/game/cards.py")
text = cards.read_bytes()

def in_worker(slot, work):
    process = os.fork()
    if process == 0:
        metrics.take_slot(slot)
        work()
        os._exit(0)
    os.waitpid(process, 0)

def check():
    app.test_client().get("/v1/integrity")

def seen():
    client = app.test_client()
    found = re.findall(r"^russian_poker_altered_files{.*} (\\S+)$", client.get("/metrics").text, re.MULTILINE)
    print(found, client.get("/readyz").status_code)

seen()
cards.write_bytes(text + b"\\n")
in_worker(0, check)
seen()
cards.write_bytes(text)
in_worker(1, check)
seen()
"""


def test_all_workers_know_of_a_loss_and_of_its_end(house: House) -> None:
    """One worker finds the loss, another that it is over; gauge and readiness are those of the last check."""
    assert run_python(WORKERS, house.root.parent).splitlines() == [
        "['0.0'] 200",
        "['1.0'] 503",
        "['0.0'] 200",
    ]
