"""The workshop in which ``docs/clients.md`` makes its clients, and the servers that they talk to."""

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from functools import cache
from pathlib import Path
from typing import Any, Final

import openapi_generator_cli
import pytest

from tests.api.servers import Server, serving, wait_until
from tests.conftest import NODE_MODULES, need
from tests.docs.guides import SHOWN_ADDRESS, Example, Workshop, check, examples, guide

HERE: Final = Path(__file__).parent
_SOURCES: Final = ("sample.ts", "tsconfig.json", "package.json", ".npmrc", "sample.py", "Sample.java")
# Jackson comes in the generator's own jar, the annotations from Debian's libjakarta-annotation-api-java.
_JARS: Final = (
    Path(openapi_generator_cli.__file__).parent / "openapi-generator.jar",
    Path("/usr/share/java/jakarta-annotation-api.jar"),
)
# These JVMs live for seconds, too short for the better of the two compilers to pay.
_JAVA: Final = "-XX:TieredStopAtLevel=1"
_JAVAC: Final = f"-J{_JAVA} -XDsuppressNotes"


def blocks(heading: str) -> list[Example]:
    """The blocks below one heading of the guide, or those before the first."""
    before, *sections = re.split(r"^## ", guide("clients.md"), flags=re.MULTILINE)
    texts = {section.partition("\n")[0]: section for section in sections}
    return examples(texts[heading] if heading else before)


@pytest.fixture(scope="session")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """The service as it is deployed."""
    with serving(tmp_path_factory.mktemp("service")) as server:
        yield server


@pytest.fixture(scope="session")
def bench(service: Server, tmp_path_factory: pytest.TempPathFactory) -> Workshop:
    """A folder with the sample programs, the contract and the guide's rounds."""
    need("curl")
    folder, programs = tmp_path_factory.mktemp("clients"), tmp_path_factory.mktemp("programs")
    for name in _SOURCES:
        shutil.copy(HERE / name, folder)
    if NODE_MODULES.exists():
        (folder / "node_modules").symlink_to(NODE_MODULES)
    for name in ("mypy", "openapi-generator-cli"):
        (programs / name).symlink_to(Path(sys.executable).with_name(name))
    commands = {"python3": sys.executable}
    for name, options in (("java", _JAVA), ("javac", _JAVAC)):
        if found := shutil.which(name):
            commands[name] = f"{found} {options}"
    for name, command in commands.items():
        (programs / name).write_text(f'#!/bin/sh\nexec {command} "$@"\n', encoding="utf-8")
        (programs / name).chmod(0o755)
    made = Workshop(folder, service.port, programs, CLASSPATH=os.pathsep.join(map(str, _JARS)))
    for block in blocks(""):
        check(block, made)
    return made


class Client:
    """A client that the guide makes, its types checked against the program that uses it."""

    def __init__(self, language: str, bench: Workshop) -> None:
        self._bench = bench
        generating, self._checking, self._running = blocks(language)
        check(generating, bench)
        self.check_types()

    def check_types(self) -> None:
        """Let the compiler, or mypy, say whether the program uses the client as it is."""
        check(self._checking, self._bench)

    def run_as_shown(self) -> None:
        """Hold the guide's own round against the answer below it."""
        check(self._running, self._bench)

    def play(self, address: str, plans: list[dict[str, Any]]) -> Any:
        """What the program says of these rounds, played by what listens at an address."""
        (self._bench.folder / "plans.json").write_text(json.dumps(plans), encoding="utf-8")
        text = self._running.text.replace(SHOWN_ADDRESS, address).replace("rounds.json", "plans.json")
        return json.loads(self._bench.run(self._running._replace(text=text)))


@pytest.fixture(scope="session")
def clients(request: pytest.FixtureRequest, bench: Workshop) -> Callable[[str], Client]:
    """Makes the client of a language, once."""

    @cache
    def make(language: str) -> Client:
        if language == "TypeScript":
            request.getfixturevalue("npm")
        else:
            need("java")  # the generator's own language
        if language == "Java":
            need("javac", *map(str, _JARS))
        return Client(language, bench)

    return make


@pytest.fixture(params=["TypeScript", "Python", "Java"])
def client(request: pytest.FixtureRequest, clients: Callable[[str], Client]) -> Client:
    """One client after the other."""
    return clients(request.param)


@contextmanager
def prism(command: str, bench: Workshop, log: Path) -> Iterator[str]:
    """Prism, started by a command of the guide's, on a free port; yields its address."""
    free = re.sub(r"--port \d+", "--port 0", command).replace("npx prism", "exec node_modules/.bin/prism")
    with (
        log.open("wb") as output,
        subprocess.Popen(["sh", "-c", free], cwd=bench.folder, stdout=output, stderr=output) as process,
    ):

        def listening() -> re.Match[str] | None:
            assert process.poll() is None, log.read_text()
            return re.search(r"listening on http://(127\.0\.0\.1:\d+)", log.read_text())

        try:
            wait_until(lambda: listening() is not None)
            found = listening()
            assert found
            yield found[1]
        finally:
            process.terminate()


def proxying(port: int, bench: Workshop, log: Path) -> AbstractContextManager[str]:
    """A proxy that lets nothing pass in either direction that breaks the contract."""
    return prism(blocks("A mock")[1].text.replace(SHOWN_ADDRESS, f"127.0.0.1:{port}"), bench, log)


@pytest.fixture(scope="session")
def mock(npm: Path, bench: Workshop, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a mock that answers with the contract's examples."""
    with prism(blocks("A mock")[0].text, bench, tmp_path_factory.mktemp("mock") / "log") as address:
        yield address


@pytest.fixture(scope="session")
def proxy(
    npm: Path, bench: Workshop, service: Server, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[str]:
    """The address of a proxy before the service."""
    with proxying(service.port, bench, tmp_path_factory.mktemp("proxy") / "log") as address:
        yield address
