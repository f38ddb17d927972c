"""Prometheus metrics, exact over all gunicorn workers and their successors.

A lone process keeps its numbers in memory. Workers write theirs to memory-mapped files in a directory that
any of them can sum. Such a file bears the name of a *slot*: a worker that replaces another takes over its
slot and counts on in its files, so that recycling loses no number and adds no file.

Every label value must come from a bounded set: endpoint names, status codes, ruleset ids, problem types.
"""

import atexit
import os
import shutil
import tempfile
from functools import cache
from typing import Final

from prometheus_client import REGISTRY, CollectorRegistry, Counter, Gauge, Histogram, generate_latest, values
from prometheus_client.exposition import CONTENT_TYPE_PLAIN_0_0_4
from prometheus_client.multiprocess import MultiProcessCollector

_DIRECTORY: Final = "PROMETHEUS_MULTIPROC_DIR"
# From a rules page, by way of a settled round (some 0.5 ms), to a machine in trouble.
_BUCKETS: Final = (0.0002, 0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0)

_REQUESTS: Final = Counter("russian_poker_requests_total", "Requests answered.", ["operation", "status"])
_SECONDS: Final = Histogram(
    "russian_poker_request_seconds", "Time to answer a request, in seconds.", ["operation"], buckets=_BUCKETS
)
_ROUNDS: Final = Counter("russian_poker_rounds_total", "Rounds answered.", ["ruleset", "status"])
_PROBLEMS: Final = Counter(
    "russian_poker_problems_total", "Requests, and rounds of batches, refused, by type of problem.", ["type"]
)
# "max", because a worker's file holds 0 where the master, before the fork, has set 1.
_INFO: Final = Gauge(
    "russian_poker_info", "What is running; always 1.", ["version", "shuffle"], multiprocess_mode="max"
)
_ALTERED: Final = Gauge(
    "russian_poker_altered_files",
    "Files that are not those of the release, at the last check.",
    ["version"],  # a gauge without labels would be made before the workers' directory is known
    multiprocess_mode="mostrecent",
)

# Looking a child up by its labels costs more than counting on it.
_requests = cache(_REQUESTS.labels)
_seconds = cache(_SECONDS.labels)
_rounds = cache(_ROUNDS.labels)
_problems = cache(_PROBLEMS.labels)


def count_request(operation: str | None, status: int, seconds: float) -> None:
    """Count an answered request and the time it took.

    ``operation`` is the name of the endpoint, never the path; None, as for a path that leads nowhere, is
    counted as ``unmatched``.
    """
    operation = operation or "unmatched"
    _requests(operation, status).inc()
    _seconds(operation).observe(seconds)


def count_round(ruleset: str, status: str) -> None:
    """Count a round played under a known ruleset, by the status of its answer such as ``settled``."""
    _rounds(ruleset, status).inc()


def count_problem(type: str) -> None:
    """Count a refusal under the short name of its problem type."""
    _problems(type).inc()


def publish_info(version: str, shuffle: str) -> None:
    """Tell which version of the service runs and which shuffle it deals with."""
    _INFO.labels(version, shuffle).set(1)


def publish_altered_files(version: str, count: int) -> None:
    """Tell how many of the files that decide outcomes are not those of the release of this version."""
    _ALTERED.labels(version).set(count)


def exposition() -> tuple[bytes, str]:
    """All metrics in the Prometheus text format, and its content type.

    Where processes share their metrics this is the sum over all of them, dead ones included.
    """
    registry = REGISTRY
    if _DIRECTORY in os.environ:
        registry = CollectorRegistry()
        MultiProcessCollector(registry)  # type: ignore[no-untyped-call]
    return generate_latest(registry), CONTENT_TYPE_PLAIN_0_0_4


class _Process:
    """Names the files of this process: after its slot in a worker, after its process id elsewhere."""

    slot: str | None = None

    def __call__(self) -> str | int:
        return self.slot or os.getpid()


_process: Final = _Process()


@cache  # gunicorn reads its settings again on SIGHUP; the workers' directory has to stay the same
def share_between_workers(parent: str | None = None) -> str:
    """Make this process and the workers it will fork count together, in a fresh directory that is returned.

    To be called before anything is counted. The directory lies in ``parent``, or where temporary files go,
    and is removed when this process exits.
    """
    directory = tempfile.mkdtemp(prefix="russian-poker-metrics-", dir=parent)
    os.environ[_DIRECTORY] = directory
    values.ValueClass = values.MultiProcessValue(_process)  # type: ignore[no-untyped-call]
    atexit.register(_remove, directory, owner=os.getpid())
    return directory


def _remove(directory: str, owner: int) -> None:
    # Workers inherit the exit handlers of their master.
    if os.getpid() == owner:
        shutil.rmtree(directory, ignore_errors=True)


def take_slot(slot: int) -> None:
    """Count in the files of this slot from now on. No two living workers may hold the same one."""
    # In a container the master is process 1: a bare number could be mistaken for a process id.
    _process.slot = f"slot{slot}"
