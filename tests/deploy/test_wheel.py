"""The wheel holds all that the service needs, and works away from the repository."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from hashlib import sha256
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


@pytest.fixture(scope="module", autouse=True)
def _nothing_configured() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        for name in ("KEYS_FILE", "KEYS", "PRODUCTION"):
            patch.delenv(name, raising=False)
        yield


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
        manifest = archive.read("service/MANIFEST.sha256")
        digests = {name: sha256(archive.read(name)).hexdigest() for name in names}
    assert contract == (ROOT / "openapi.yaml").read_bytes()
    assert settings == (ROOT / "deploy" / "gunicorn.conf.py").read_bytes()
    package = {
        str(path.relative_to(ROOT))
        for path in (ROOT / "service").rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    texts = {f"service/{path.relative_to(ROOT)}" for path in (ROOT / "docs").rglob("*.md")}
    inside = {name for name in names if name.startswith("service/")}
    assert inside == package | texts | {"service/openapi.yaml", "service/deploy/gunicorn.conf.py"}
    for name in (
        *("rulesets/casino-1.toml", "api/templates/problem.html", "api/static/page.css"),
        *("MANIFEST.sha256", "api/verify/page.html", "api/verify/verdict.js", "api/verify/texts.json"),
        *("docs/rulebook.md", "docs/guides/verify.md", "api/words.toml", "api/static/reference.js"),
    ):
        assert f"service/{name}" in names
    top = {name.split("/")[0] for name in names}
    assert top == {"service", f"russian_poker-{service.__version__}.dist-info"}
    assert not [name for name in names if name.endswith(".pyc")]
    # The wheel fits the manifest that it brings, and that is the one of the repository.
    assert manifest == (ROOT / "service" / "MANIFEST.sha256").read_bytes()
    stated = {f"service/{file}": digest for digest, file in map(str.split, manifest.decode().splitlines())}
    assert stated == {name: digests[name] for name in stated}
    assert len(stated) > 40


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
    void = {**ROUND, "reason": "power cut"}
    assert server.ask("/v1/rounds/void", void).body == here.post("/v1/rounds/void", json=void).data
    paths = ("/openapi.yaml", "/problems/limits", "/static/page.css", "/v1/rulesets/online-1", "/v1/version")
    documentation = ("/docs", "/docs/rulebook", "/docs/guides/verify", "/docs/rulesets/online-1/ru")
    reference = ("/docs/reference", "/docs/reference/swagger-ui-bundle.js")
    others = ("/v1/integrity", "/readyz", "/.well-known/jwks.json", "/verify")
    for path in (*paths, *documentation, *reference, *others):
        answer = server.ask(path)
        assert (answer.status, answer.body) == (200, here.get(path, buffered=True).data)


def test_it_runs_with_the_settings_that_were_shipped(server: Server) -> None:
    lines = server.lines()
    assert any("gthread" in line["message"] for line in lines)
    assert all({"time", "level", "logger", "message"} <= set(line) for line in lines)


def test_it_is_intact_as_installed(server: Server, site: Path) -> None:
    checked = server.ask("/v1/integrity").json()
    assert checked["intact"] is True
    assert all(file["intact"] for file in checked["files"])
    manifest = site / "service" / "MANIFEST.sha256"
    digest = sha256(manifest.read_bytes()).hexdigest()
    assert checked["engine"]["digest"] == f"sha256:{digest}"
    by_file = {file["file"]: file["found"] for file in checked["files"]}
    lines = manifest.read_text().splitlines()
    assert by_file == {"MANIFEST.sha256": digest, **{line[66:]: line[:64] for line in lines}}
    assert server.ask("/readyz").status == 200
    outcome = server.ask("/v1/rounds/settle", ROUND).json()
    assert outcome["engine"] == checked["engine"]


def test_its_manifest_can_be_checked_with_nothing_of_this_project(site: Path) -> None:
    done = subprocess.run(
        ["sha256sum", "--check", "--strict", "--quiet", "MANIFEST.sha256"],
        cwd=site / "service",
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_a_damaged_installation_serves_no_round(site: Path, tmp_path: Path) -> None:
    """What is watched is the installation, not the repository."""
    damaged = tmp_path / "site"
    shutil.copytree(site, damaged)
    rules = damaged / "service" / "rulesets" / "online-1.toml"
    rules.write_bytes(rules.read_bytes() + b"\n")
    command = [sys.executable, str(damaged / "bin" / "russian-poker"), "serve"]
    with serving(tmp_path / "server", command, tmp_path, PYTHONPATH=str(damaged)) as server:
        for answer in (server.ask("/readyz"), server.ask("/v1/rounds/settle", ROUND)):
            assert (answer.status, answer.json()["type"]) == (503, "/problems/integrity-lost")
        files = server.ask("/v1/integrity").json()["files"]
        assert [file["file"] for file in files if not file["intact"]] == ["rulesets/online-1.toml"]
        assert any("integrity lost: rulesets/online-1.toml" in line["message"] for line in server.lines())
