"""Audits on demand, in a process of its own that compiles the lean path once: an order a line, in and out."""

import json
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter

from service.audit.runner import audit
from tests.benchmarks.specimens import KEYS, REGISTRY


def main() -> None:
    for line in sys.stdin:
        order = json.loads(line)
        file = order.pop("file")
        with TemporaryDirectory() as folder:
            began = perf_counter()
            summary = audit([file], REGISTRY, KEYS.verifying, output=Path(folder) / "audit", **order)
            seconds = perf_counter() - began
        sys.stdout.write(json.dumps({"equal": summary["total"]["equal"], "seconds": seconds}) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
