"""Chunks audited by the workers of a Dask cluster."""

import uuid
from collections import deque
from collections.abc import Generator, Iterator, Sequence
from concurrent.futures import CancelledError
from importlib import import_module
from typing import Any, Final

from service.audit import RefusedAudit, present
from service.audit.reader import Chunk, lines, loaded
from service.audit.records import Tally
from service.audit.terms import Terms, auditor_by

AHEAD: Final = 3
"""Chunks under way for each thread of the cluster, so that none waits for the network."""
PATIENCE: Final = 30
"""Seconds to wait for the scheduler, and without any worker."""


def in_cluster(chunks: Iterator[Chunk], terms: Terms, address: str) -> Generator[tuple[Chunk, Tally]]:
    """Audit chunks on a cluster; the results come in the order of the chunks, each once.

    The records travel with their chunk and the terms with them, so that workers need neither the files nor
    any setting. A chunk whose worker is lost is done again by another: it is merged here, when its one result
    has come. Raises ``RefusedAudit`` where there is no cluster, or none with this engine.
    """
    present("distributed", "dask")
    distributed = import_module("distributed")
    packed = terms.packed()
    audit = uuid.uuid4().hex  # results are kept by key: another audit's are never taken for this one's
    waiting: deque[tuple[Chunk, Any]] = deque()
    try:
        with distributed.Client(address, timeout=PATIENCE, set_as_default=False) as client:
            client.wait_for_workers(1, timeout=PATIENCE)
            sent = 0
            while True:
                most = AHEAD * max(1, sum(client.nthreads().values()))
                while len(waiting) < most and (chunk := next(chunks, None)):
                    key = f"audit-{audit}-{sent}"
                    future = client.submit(audit_lines, loaded(chunk.payload), packed, key=key, pure=False)
                    waiting.append((chunk._replace(payload=b""), future))
                    sent += 1
                if not waiting:
                    return
                chunk, future = waiting.popleft()
                yield chunk, _result(future, client)
    except (TimeoutError, CancelledError, distributed.scheduler.KilledWorker) as error:
        raise RefusedAudit(f"the cluster at {address} does not do its work: {error}") from error


def _result(future: Any, client: Any) -> Tally:
    """What a chunk came to. Raises ``TimeoutError`` once no worker is left to wait for."""
    while True:
        try:
            tally: Tally = future.result(timeout=PATIENCE)
        except TimeoutError:
            if not client.nthreads():
                raise
        else:
            return tally


def audit_lines(content: bytes | Sequence[bytes], packed: bytes) -> Tally:
    """What a worker does with a chunk."""
    return auditor_by(packed)(lines(content))
