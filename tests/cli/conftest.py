"""The command in this process."""

import io
import sys
from collections.abc import Callable
from typing import NamedTuple

import pytest

from service.cli import main


class Run(NamedTuple):
    """What a command left behind."""

    status: int
    out: str
    err: str


Command = Callable[..., Run]


@pytest.fixture
def run(capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Command:
    """Runs the command with these arguments and, where given, bytes on standard input."""

    def command(*arguments: str, stdin: bytes = b"") -> Run:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin)))
        try:
            status = main(arguments)
        except SystemExit as stopped:  # argparse: help, version and wrong usage
            status = int(str(stopped.code))
        sys.stdout.flush()
        return Run(status, *capfd.readouterr())

    return command
