"""Rounds a second over HTTP by workers, for rounds of one to four boxes."""

from pathlib import Path
from tempfile import TemporaryDirectory

import orjson

from tests.api.calls import SETTLE
from tests.benchmarks.measuring import Chart, Effort, Part, boxes_named
from tests.benchmarks.servers import GUNICORN, burst, missing, server
from tests.benchmarks.specimens import full_round

__all__ = ["missing", "run"]


def run(effort: Effort) -> Part:
    lines: dict[str, list[tuple[float, float]]] = {boxes_named(boxes): [] for boxes in effort.boxes}
    with TemporaryDirectory() as folder:
        body = Path(folder) / "round.ndjson"
        for workers in effort.workers:
            with server(GUNICORN, workers) as ours:
                for boxes in effort.boxes:
                    body.write_bytes(orjson.dumps(full_round(boxes)))
                    rate = burst(ours, SETTLE, body, effort.seconds).rate
                    lines[boxes_named(boxes)].append((workers, rate))
    return Part([], [Chart("settle over HTTP: rounds a second", "workers", "rounds/s", lines)])
