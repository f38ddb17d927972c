"""How far an audit is, on standard error: a bar on a terminal, otherwise a line now and then."""

import sys
import time
from importlib import import_module
from typing import Any, Final

TELL_EVERY: Final = 10.0
"""Seconds between two lines."""


def announce(what: str) -> None:
    """Say what is about to be done."""
    sys.stderr.write(f"audit: {what}\n")


class Progress:
    """Counts bytes and rounds; ``total`` bytes, 0 where nobody knows, of which ``done`` were read before."""

    def __init__(self, total: int, done: int) -> None:
        self._total = total
        self._done = self._read = done
        self._rounds = 0
        self._begun = self._told = time.monotonic()
        self._bar = _bar(total, done)

    def advance(self, read: int, rounds: int) -> None:
        """Some more is done."""
        self._read += read
        self._rounds += rounds
        now = time.monotonic()
        if self._bar is not None:
            self._bar.set_postfix_str(self._rate(now), refresh=False)
            self._bar.update(read)
        elif now - self._told >= TELL_EVERY:
            self._told = now
            announce(f"{self._share(now)}{self._rate(now)}")

    def close(self) -> None:
        """Leave the terminal as it should be."""
        if self._bar is not None:
            self._bar.close()

    def _rate(self, now: float) -> str:
        return f"{self._rounds:,} rounds, {self._rounds / max(now - self._begun, 1e-9):,.0f}/s"

    def _share(self, now: float) -> str:
        if not self._total or self._read == self._done:
            return ""
        left = (now - self._begun) * (self._total - self._read) / (self._read - self._done)
        return f"{self._read / self._total:.0%}, {left / 60:.0f} min left, "


def _bar(total: int, done: int) -> Any:
    """A bar, None where there is no terminal to draw it on or no library to draw it."""
    if not sys.stderr.isatty():
        return None
    try:
        tqdm = import_module("tqdm").tqdm
    except ImportError:
        return None
    return tqdm(total=total or None, initial=done, unit="B", unit_scale=True, desc="audit", file=sys.stderr)
