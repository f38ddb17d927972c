"""An audit from its files to its summary."""

import os
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import closing
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final

from service.audit import Interrupted, RefusedAudit, present
from service.audit.cluster import in_cluster
from service.audit.journal import opened
from service.audit.processes import in_processes
from service.audit.progress import Progress, announce
from service.audit.reader import CHUNK, Chunk, Input, chunks, inspect, passed
from service.audit.records import Tally
from service.audit.terms import Terms, terms
from service.certificate.jws import VerificationKey
from service.registry import Registry

LEAN_FROM: Final = 2**30
"""Bytes of records from which the lean path is taken: on two cores it then saves a minute or more."""
_COMPRESSED: Final = 8
"""How much larger records are than the compressed file that they come from."""


def audit(
    names: Sequence[str],
    registry: Registry,
    keys: Mapping[str, VerificationKey],
    *,
    output: Path,
    certificates: bool = True,
    resume: bool = False,
    workers: int | None = None,
    scheduler: str | None = None,
    lean: bool | None = None,
    size: int = CHUNK,
) -> dict[str, Any]:
    """Audit the records in some files; the summary, which ``output`` holds too.

    ``workers`` is how many processes share the work, None for one on each core; with the address of a
    ``scheduler`` a Dask cluster does it. ``lean`` takes the lean path or not, None where it pays, and on a
    cluster not. ``size`` is that of a chunk in bytes. Raises ``RefusedAudit``.
    """
    try:
        inputs = _inspected(names)
        if lean is None:  # a cluster's workers may not have what compiles it
            lean = scheduler is None and _pays(inputs)
        by = terms(registry, keys, certificates, lean)
        if by.lean:
            if scheduler is None:
                present("numba", "audit")
            announce("compiling the lean path, which takes half a minute")
        with opened(output, inputs, by.identity(), resume=resume) as journal:
            pieces = chunks(inputs, journal.file, journal.end, size)
            before = passed(inputs, journal.file, journal.end)
            with (
                closing(_audited(pieces, by, workers, scheduler)) as audited,
                closing(Progress(sum(input.size for input in inputs), before)) as progress,
            ):
                for chunk, tally in audited:
                    journal.add(chunk, tally)
                    progress.advance(chunk.read, tally.rounds)
            _unchanged(inputs)
            return journal.finish()
    except KeyboardInterrupt:
        raise Interrupted(
            "interrupted; files go on where they were by the same command with --resume"
        ) from None
    except OSError as error:
        raise RefusedAudit(str(error)) from error


def _inspected(names: Sequence[str]) -> list[Input]:
    """The inputs. Raises ``RefusedAudit`` for one that is named twice: no round is counted twice."""
    inputs = [inspect(name) for name in names]
    seen: dict[tuple[int, int], str] = {}
    for input in inputs:
        if input.identity in seen:
            raise RefusedAudit(f"{input.name} and {seen[input.identity]} are the same file")
        seen[input.identity] = input.name
    return inputs


def _pays(inputs: Sequence[Input]) -> bool:
    """Whether it saves more time than it takes to compile the lean path, should there be what compiles it."""
    expected = sum(input.size * (1 if input.format == "plain" else _COMPRESSED) for input in inputs)
    return expected >= LEAN_FROM and find_spec("numba") is not None


def _audited(
    pieces: Iterator[Chunk], by: Terms, workers: int | None, scheduler: str | None
) -> Generator[tuple[Chunk, Tally]]:
    if scheduler is not None:
        return in_cluster(pieces, by, scheduler)
    return in_processes(pieces, by.auditor(), workers or _cores())


def _cores() -> int:
    """The cores that this process may use, as far as the system tells."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _unchanged(inputs: Sequence[Input]) -> None:
    for input in inputs:
        if inspect(input.name) != input:
            raise RefusedAudit(
                f"{input.name} was changed while it was audited; audit it again, into another folder"
            )
