"""The folder of an audit: its lists grow, its state is saved whole, and after any end it can go on.

The state says how far the inputs are done, what that came to, and how long the lists were by then. It is
replaced in one step, after the lists have reached the disk; what stands in them beyond it is cut off again.
"""

import fcntl
import json
import os
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, BinaryIO, Final

from service.audit import RefusedAudit
from service.audit.reader import Chunk, Input
from service.audit.records import Damage, Finding, Tally
from service.audit.report import LISTS, UNPRINTABLE, listed, summary, summary_csv

STATE: Final = "state.json"
SUMMARY: Final = "summary.json"
SUMMARY_CSV: Final = "summary.csv"
SAVE_EVERY: Final = 1.0
"""Seconds of work that an end without warning may cost."""


class Journal:
    """An audit in its folder. ``file`` and ``end`` tell where it goes on, as ``reader.chunks`` takes them."""

    def __init__(
        self,
        folder: Path,
        inputs: Sequence[Input],
        identity: Mapping[str, Any],
        lists: Mapping[str, BinaryIO],
        state: Mapping[str, Any],
    ) -> None:
        self._folder = folder
        self._inputs = inputs
        self._identity = identity
        self._lists = lists
        self._saved = time.monotonic()
        self.file: int = state["file"]
        self.end: int = state["end"]
        self._files: list[Counter[str]] = [Counter(file) for file in state["files"]]
        self._counts = {ruleset: Counter(counts) for ruleset, counts in state["counts"].items()}

    def add(self, chunk: Chunk, tally: Tally) -> None:
        """Enter what a chunk came to. Chunks come in order, each once."""
        file, name = self._files[chunk.file], self._inputs[chunk.file].name
        damages = list(tally.damages)
        if chunk.fault:
            damages.append(Damage(tally.lines + 1, chunk.fault))
        every: list[Finding | Damage] = [*tally.findings, *damages]
        for found in every:
            list_name, line = listed(name, file["lines"], found)
            self._lists[list_name].write(line)
        for ruleset, counts in tally.counts.items():
            self._counts.setdefault(ruleset, Counter()).update(counts)
        file["rounds"] += tally.rounds
        file["lines"] += tally.lines
        file["damaged"] += len(damages)
        self.file, self.end = (chunk.file + 1, 0) if chunk.fault else (chunk.file, chunk.end)
        if time.monotonic() - self._saved >= SAVE_EVERY:
            self.save()

    def save(self) -> None:
        """Make sure that the audit can go on from here."""
        for file in self._lists.values():
            file.flush()
            os.fsync(file.fileno())
        state = {
            "identity": self._identity,
            "file": self.file,
            "end": self.end,
            "files": self._files,
            "counts": self._counts,
            "lists": {name: file.tell() for name, file in self._lists.items()},
        }
        _replace(self._folder / STATE, json.dumps(state))
        self._saved = time.monotonic()

    def finish(self) -> dict[str, Any]:
        """Write the summary, and answer it."""
        self.save()
        names = ("lines", "rounds", "damaged")
        files = [
            {"file": input.name, **{name: file[name] for name in names}}
            for input, file in zip(self._inputs, self._files, strict=True)
        ]
        damaged = sum(file["damaged"] for file in self._files)
        document = summary(self._identity, files, self._counts, damaged)
        _replace(self._folder / SUMMARY_CSV, summary_csv(document))
        _replace(self._folder / SUMMARY, json.dumps(document, ensure_ascii=False, indent=2) + "\n")
        return document


@contextmanager
def opened(
    folder: Path, inputs: Sequence[Input], identity: Mapping[str, Any], *, resume: bool
) -> Iterator[Journal]:
    """The journal in a folder, to begin in it or, with ``resume``, to go on with what is there.

    Raises ``RefusedAudit`` where the folder holds another audit, or one is at work in it, and ``OSError``.
    """
    folder.mkdir(parents=True, exist_ok=True)
    files = [[input.name, input.size, input.modified] for input in inputs]
    identity = json.loads(json.dumps({**identity, "files": files}))
    with ExitStack() as stack:
        _lock(folder, stack)
        state = _state(folder, inputs, identity, resume=resume)
        lists = {}
        for name in LISTS:
            lists[name] = stack.enter_context((folder / name).open("ab"))
            if lists[name].tell() < state["lists"][name]:
                raise RefusedAudit(f"{folder / name} is shorter than the audit left it")
            lists[name].truncate(state["lists"][name])
            lists[name].seek(0, os.SEEK_END)
        journal = Journal(folder, inputs, identity, lists, state)
        journal.save()
        yield journal


def _lock(folder: Path, stack: ExitStack) -> None:
    """Keep a second audit out of the folder for as long as this process lives."""
    descriptor = os.open(folder, os.O_RDONLY)
    stack.callback(os.close, descriptor)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        raise RefusedAudit(f"another audit is at work in {folder}") from None


def _state(
    folder: Path, inputs: Sequence[Input], identity: Mapping[str, Any], *, resume: bool
) -> Mapping[str, Any]:
    """Where to begin."""
    if resume and (unfit := [input.name for input in inputs if not input.resumable]):
        raise RefusedAudit(f"{unfit[0]} cannot be read a second time, so there is no resuming")
    beginning: dict[str, Any] = {
        "file": 0,
        "end": 0,
        "files": [{} for _ in inputs],
        "counts": {},
        "lists": dict.fromkeys(LISTS, 0),
    }
    try:
        state: dict[str, Any] = json.loads((folder / STATE).read_bytes())
        others = [name for name, value in identity.items() if state["identity"][name] != value]
        state = {name: state[name] for name in beginning}
    except FileNotFoundError:
        lists = [folder / name for name in LISTS]
        if (folder / SUMMARY).exists() or any(path.exists() and path.stat().st_size for path in lists):
            raise RefusedAudit(f"{folder} holds results already; name another folder with --output") from None
        return beginning
    except (ValueError, LookupError, TypeError):
        raise RefusedAudit(f"{folder / STATE} is damaged; audit again, into another folder") from None
    if not resume:
        raise RefusedAudit(
            f"{folder} holds an audit already; go on with it by --resume or name another folder with --output"
        )
    if others:
        raise RefusedAudit(f"the audit in {folder} is another one: its {others[0]} are not those given now")
    return state


def _replace(path: Path, text: str) -> None:
    """Write a file so that it is there whole or not at all, whatever happens."""
    new = path.with_suffix(".new")
    with new.open("w", encoding="utf-8", errors=UNPRINTABLE) as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    os.replace(new, path)
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)
