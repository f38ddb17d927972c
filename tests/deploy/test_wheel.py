"""The wheel holds all that the service needs, and works away from the repository."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from zipfile import ZipFile

import pytest

import service
from service.api import create_app
from tests.api.servers import Server, serving

ROOT = Path(__file__).parents[2]
PIP = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--quiet", "--no-input"]
ROUND = {
    "ruleset": "casino-1",
    "deal": {"server_seed": "00ffa5c3" * 8},
    "boxes": [{"box": 1, "ante": 100}],
    "actions": [{"box": 1, "action": "fold"}],
}


def pip(*arguments: str | Path) -> None:
    done = subprocess.run([*PIP, *arguments], capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel, built without network."""
    folder = tmp_path_factory.mktemp("wheel")
    pip("wheel", "--no-index", "--no-deps", "--no-build-isolation", "--wheel-dir", folder, ROOT)
    (path,) = folder.iterdir()
    return path


@pytest.fixture(scope="module")
def site(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder in which the wheel is installed; its dependencies come from the environment."""
    folder = tmp_path_factory.mktemp("site")
    pip("install", "--no-index", "--no-deps", "--target", folder, wheel)
    return folder


@pytest.fixture(scope="module")
def elsewhere(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("elsewhere")


@pytest.fixture(scope="module")
def server(site: Path, elsewhere: Path) -> Iterator[Server]:
    command = [sys.executable, str(site / "bin" / "russian-poker"), "serve"]
    with serving(elsewhere / "server", command, elsewhere, PYTHONPATH=str(site)) as server:
        yield server


def test_the_wheel_holds_code_and_data_and_nothing_else(wheel: Path) -> None:
    with ZipFile(wheel) as archive:
        names = set(archive.namelist())
        contract = archive.read("service/openapi.yaml")
        settings = archive.read("service/deploy/gunicorn.conf.py")
    assert contract == (ROOT / "openapi.yaml").read_bytes()
    assert settings == (ROOT / "deploy" / "gunicorn.conf.py").read_bytes()
    package = {
        str(path.relative_to(ROOT))
        for path in (ROOT / "service").rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    assert package <= names
    for name in ("rulesets/casino-1.toml", "api/templates/problem.html", "api/static/page.css"):
        assert f"service/{name}" in names
    top = {name.split("/")[0] for name in names}
    assert top == {"service", f"russian_poker-{service.__version__}.dist-info"}
    assert not [name for name in names if name.endswith(".pyc")]


def test_its_command_works_from_another_folder(site: Path, elsewhere: Path) -> None:
    (entry_points,) = site.glob("*.dist-info/entry_points.txt")
    assert "russian-poker = service.cli:main" in entry_points.read_text()
    code = (
        "import sys, service.cli; print(service.cli.__file__, file=sys.stderr); sys.exit(service.cli.main())"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, "settle", "-"],
        cwd=elsewhere,
        env={**os.environ, "PYTHONPATH": str(site)},
        input=json.dumps(ROUND).encode(),
        capture_output=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0
    assert Path(done.stderr.decode().strip()) == site / "service" / "cli.py", "the wheel, not the repository"
    answer = create_app().test_client().post("/v1/rounds/settle", json=ROUND)
    assert json.loads(done.stdout) == answer.get_json()


def test_it_serves_everything_from_another_folder(server: Server) -> None:
    here = create_app().test_client()
    assert server.ask("/v1/rounds/settle", ROUND).body == here.post("/v1/rounds/settle", json=ROUND).data
    paths = ("/openapi.yaml", "/problems/limits", "/static/page.css", "/v1/rulesets/online-1", "/v1/version")
    for path in paths:
        answer = server.ask(path)
        assert (answer.status, answer.body) == (200, here.get(path, buffered=True).data)


def test_it_runs_with_the_settings_that_were_shipped(server: Server) -> None:
    lines = server.lines()
    assert any("gthread" in line["message"] for line in lines)
    assert all({"time", "level", "logger", "message"} <= set(line) for line in lines)
