"""Settings and fixtures of all tests."""

import os
import shutil
import subprocess
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final

import pytest
from flask.testing import FlaskClient
from hypothesis import HealthCheck, settings

from service.api import create_app
from service.game.ruleset import Ruleset
from service.registry import Registry, load_rulesets

Tally = Callable[[str, int], None]

NODE_MODULES: Final = Path(__file__).parent / "clients" / "node_modules"
"""What ``package.json`` beside it names, once it is installed."""

# The same examples in every run, and no clock: a red test is red everywhere.
settings.register_profile(
    "suite", derandomize=True, deadline=None, database=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("suite")

_COUNTED = pytest.StashKey[Counter[str]]()


def pytest_configure(config: pytest.Config) -> None:
    config.stash[_COUNTED] = Counter()


@pytest.fixture
def tally(request: pytest.FixtureRequest) -> Tally:
    """Adds to a count that the run reports at its end: ``tally("vector rounds through the engine", 1)``."""
    counted = request.config.stash[_COUNTED]

    def add(what: str, number: int) -> None:
        counted[what] += number

    return add


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Where CI is set nothing may be skipped: the tools are there, or the run has failed.

    A process that shares the work hands its counts over.
    """
    if hasattr(session.config, "workeroutput"):
        counted = session.config.stash[_COUNTED]
        session.config.workeroutput["counted"] = dict(counted)
        return
    reporter: Any = session.config.pluginmanager.get_plugin("terminalreporter")
    if os.environ.get("CI") and reporter.stats.get("skipped"):
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any) -> None:
    """Add what a process that shared the work has counted."""
    config: pytest.Config = node.config
    config.stash[_COUNTED].update(getattr(node, "workeroutput", {}).get("counted", {}))


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    if counted := config.stash[_COUNTED]:
        terminalreporter.section("counted")
        for what, number in sorted(counted.items()):
            terminalreporter.line(f"{number:>12,}  {what}")


def need(*tools: str) -> None:
    """Skip the test where a command or a file is missing."""
    for tool in tools:
        if shutil.which(tool) is None and not Path(tool).is_file():
            pytest.skip(f"{tool} is not installed")


@pytest.fixture(scope="session")
def npm() -> Path:
    """The folder of what ``tests/clients/package.json`` names, as ``make test`` installs it."""
    need("node", "npm")
    version = subprocess.run(["node", "--version"], capture_output=True, text=True, check=True).stdout
    if int(version.strip("v\n").partition(".")[0]) < 20:
        pytest.skip(f"the tools of npm need Node.js 20 or newer, this is {version.strip()}")
    installed, locked = NODE_MODULES / ".package-lock.json", NODE_MODULES.with_name("package-lock.json")
    if not installed.exists() or installed.stat().st_mtime < locked.stat().st_mtime:
        pytest.skip("the tools of npm are not installed: run make test")
    return NODE_MODULES


@pytest.fixture(scope="session", autouse=True)
def _nothing_configured() -> Iterator[None]:
    """Whatever the shell has, apps are made with the development keys and the built-in rulesets."""
    with pytest.MonkeyPatch.context() as patch:
        for name in ("KEYS_FILE", "KEYS", "PRODUCTION", "RULESETS_DIR", "CORS_ORIGINS"):
            patch.delenv(name, raising=False)
        yield


@pytest.fixture(scope="session")
def client() -> FlaskClient:
    """Of an app in this process."""
    return create_app().test_client()


@pytest.fixture(scope="session")
def registry() -> Registry:
    """The built-in rulesets."""
    return load_rulesets()


@pytest.fixture(scope="session")
def trainer(registry: Registry) -> Ruleset:
    return registry["trainer-1"].ruleset


@pytest.fixture(scope="session")
def online(registry: Registry) -> Ruleset:
    return registry["online-1"].ruleset


@pytest.fixture(scope="session")
def casino(registry: Registry) -> Ruleset:
    return registry["casino-1"].ruleset
