"""``python -m tests.benchmarks``: run them all, print the tables, write results and plot to build/bench."""

import argparse
import sys
from collections.abc import Sequence
from datetime import UTC, datetime
from time import perf_counter
from typing import Final, Protocol

from tests.api.servers import ROOT
from tests.benchmarks import audits, evaluator, in_process, memory, over_http, scaling
from tests.benchmarks.measuring import FULL, QUICK, Effort, Part
from tests.benchmarks.report import Report, this_machine


class Benchmark(Protocol):
    """A module that measures one thing."""

    def missing(self) -> str | None:
        """What the part needs and does not find here."""

    def run(self, effort: Effort) -> Part:
        """Measure."""


PARTS: Final[dict[str, Benchmark]] = {
    "in-process": in_process,
    "http": over_http,
    "evaluator": evaluator,
    "audit": audits,
    "scaling": scaling,
    "memory": memory,
}


def measured(names: Sequence[str], effort: Effort) -> Report:
    """These parts, as far as they can run here."""
    machine, day = this_machine(), datetime.now(UTC).date()
    parts: dict[str, Part] = {}
    left_out: dict[str, str] = {}
    for name in names:
        if why := PARTS[name].missing():
            left_out[name] = why
            print(f"{name}: left out, it {why}", file=sys.stderr)
            continue
        began = perf_counter()
        parts[name] = PARTS[name].run(effort)
        print(f"{name}: {perf_counter() - began:.0f} s", file=sys.stderr)
    return Report(day, machine, parts, left_out)


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks", description=__doc__)
    parser.add_argument(
        "--quick", action="store_true", help="under a minute, for numbers to be taken lightly"
    )
    parser.add_argument(
        "--only", nargs="+", choices=PARTS, default=list(PARTS), metavar="NAME", help=", ".join(PARTS)
    )
    parser.add_argument("--readme", action="store_true", help="write tables and plot into README.md and docs")
    options = parser.parse_args(arguments)
    if options.readme and (options.quick or options.only != list(PARTS)):
        parser.error("--readme takes a whole run")
    report = measured(options.only, QUICK if options.quick else FULL)
    report.write(ROOT / "build" / "bench")
    print(report.table(), report.scaling(), sep="\n\n")
    if options.readme:
        report.publish()


if __name__ == "__main__":
    main()
