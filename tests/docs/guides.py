"""The guides' examples: blocks of shell, Python and JavaScript, each with the answer that stands below it."""

import io
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, redirect_stdout
from pathlib import Path
from time import monotonic, sleep
from typing import Any, Final, NamedTuple

from service.api import create_app
from tests.api.servers import serving_here
from tests.docs.commands import CALLER

ROOT: Final = Path(__file__).parents[2]
SHOWN_ADDRESS: Final = "127.0.0.1:8080"
ELLIPSIS: Final = "…"
_FENCE: Final = re.compile(r"^```(\w+)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
_LANGUAGES: Final = ("sh", "python", "js")
_TOOLS: Final = ("curl", "openssl", "base64", "sha256sum")
_BOUNDARY: Final = "---- the next block ----"


class Example(NamedTuple):
    """A block that can be run, the line on which it begins, and the answer below it, if there is one."""

    language: str
    text: str
    line: int
    answer: tuple[str, str] | None

    @property
    def fails(self) -> bool:
        """Whether its last command says with its exit status that something is not valid."""
        command = self.text.rstrip().rpartition("\n")[2]
        return command.startswith(("russian-poker", "KEYS_FILE=")) and '"valid": false' in str(self.answer)


def guide(name: str) -> str:
    """The text of a guide."""
    return (ROOT / "docs" / name).read_text(encoding="utf-8")


def table(text: str, *header: str) -> list[list[str]]:
    """The rows of the one table of a document that begins with these columns, each row as its cells."""
    head = re.escape("| " + " | ".join(header) + " |")
    found = re.findall(rf"^{head}\n\|[-|]+\|\n((?:\|.*\n)+)", text, re.MULTILINE)
    assert len(found) == 1, header
    return [line.strip("| ").split(" | ") for line in found[0].splitlines()]


def examples(text: str) -> list[Example]:
    """All blocks of a guide; every ``json`` and ``text`` block is the answer to the one before it."""
    found: list[Example] = []
    for match in _FENCE.finditer(text):
        language, content = match.groups()
        if language in _LANGUAGES:
            found.append(Example(language, content, text[: match.start()].count("\n") + 1, None))
        else:
            assert found, f"an answer before any question: {content}"
            assert found[-1].answer is None, f"a second answer: {content}"
            found[-1] = found[-1]._replace(answer=(language, content))
    return found


def agrees(shown: Any, told: Any) -> bool:
    """Whether a document is the one shown, where … stands for the rest of a text, an array or an object."""
    if isinstance(shown, dict) and isinstance(told, dict):
        names = [name for name in shown if name != ELLIPSIS]
        whole = len(names) == len(shown)
        return (not whole or shown.keys() == told.keys()) and all(
            name in told and agrees(shown[name], told[name]) for name in names
        )
    if isinstance(shown, list) and isinstance(told, list):
        if shown and shown[-1] == ELLIPSIS:
            shown, told = shown[:-1], told[: len(shown) - 1]
        return len(shown) == len(told) and all(map(agrees, shown, told))
    if isinstance(shown, str) and isinstance(told, str):
        parts = map(re.escape, shown.split(ELLIPSIS))
        return re.fullmatch(".+".join(parts), told, re.DOTALL) is not None
    return type(shown) is type(told) and bool(shown == told)


class Workshop:
    """A folder in which the blocks of a guide are run in order, with a service to talk to.

    The engine's files lie there under ``service``, as in a release.
    """

    def __init__(self, folder: Path, port: int, programs: Path, **environment: str) -> None:
        (folder / "service").symlink_to(ROOT / "service")
        self.folder = folder
        self._port = port
        self._environment = {
            "PATH": f"{programs}{os.pathsep}{os.environ['PATH']}",
            "LC_ALL": "C.UTF-8",
            **environment,
        }
        self._names: dict[str, Any] = {}
        self._modules: list[str] = []

    def run(self, example: Example) -> str:
        """What a block writes to standard output."""
        here = example._replace(text=example.text.replace(SHOWN_ADDRESS, f"127.0.0.1:{self._port}"))
        return {"sh": self._shell, "python": self._python, "js": self._node}[example.language](here)

    def _shell(self, example: Example) -> str:
        return self._program(["sh", "-e", "-u", "-c", example.text], fails=example.fails)

    def _node(self, example: Example) -> str:
        """The block as the end of a module in which those before it run once more."""
        self._modules.append(example.text)
        module = f"\nconsole.log({json.dumps(_BOUNDARY)});\n".join(self._modules)
        told = self._program(["node", "--input-type=module", "--eval", module])
        return told.rpartition(f"{_BOUNDARY}\n")[2]

    def _program(self, command: list[str], *, fails: bool = False) -> str:
        done = subprocess.run(
            command,
            cwd=self.folder,
            env=self._environment,
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )
        assert done.returncode == fails, done.stdout + done.stderr
        assert not done.stderr, done.stderr
        return done.stdout.replace(f"127.0.0.1:{self._port}", SHOWN_ADDRESS)

    def _python(self, example: Example) -> str:
        written = io.StringIO()
        before = Path.cwd()
        os.chdir(self.folder)
        try:
            with redirect_stdout(written):
                exec(compile(example.text, f"line {example.line}", "exec"), self._names)
        finally:
            os.chdir(before)
        return written.getvalue()


def check(example: Example, workshop: Workshop) -> None:
    """Run a block and hold its output against the answer shown."""
    told = workshop.run(example)
    if example.answer is None:
        assert not told, told
    elif example.answer[0] == "json":
        assert agrees(json.loads(example.answer[1]), json.loads(told)), told
    else:
        assert agrees(example.answer[1].strip(), told.strip()), told


def missing_tools(blocks: Sequence[Example]) -> list[str]:
    """Programs that the blocks call and this machine does not have."""
    called = {tool for block in blocks for tool in _TOOLS if block.language == "sh" and tool in block.text}
    called |= {"node" for block in blocks if block.language == "js"}
    return sorted(tool for tool in called if shutil.which(tool) is None)


@contextmanager
def tools(programs: Path) -> Iterator[Callable[[Path], Workshop]]:
    """What makes workshops in empty folders; ``programs`` is an empty folder for the commands."""
    socket = programs / "calls"
    caller = programs / "caller.py"
    caller.write_text(CALLER.format(socket=str(socket)), encoding="utf-8")
    for name, command in (("russian-poker", f"-S {caller}"), ("python3", "")):
        program = programs / name
        program.write_text(f'#!/bin/sh\nexec {sys.executable} {command} "$@"\n', encoding="utf-8")
        program.chmod(0o755)
    with serving_here(create_app()) as port, _commands(socket):
        yield lambda folder: Workshop(folder, port, programs)


@contextmanager
def _commands(socket: Path) -> Iterator[None]:
    """The process that runs ``russian-poker``."""
    with subprocess.Popen([sys.executable, "-m", "tests.docs.commands", str(socket)], cwd=ROOT) as process:
        try:
            deadline = monotonic() + 60
            while not socket.exists():
                assert process.poll() is None, "the commands do not start"
                assert monotonic() < deadline, "the commands do not start in time"
                sleep(0.02)
            yield
        finally:
            process.terminate()
