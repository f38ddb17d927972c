"""Keeps the present contract as released: ``python -m tests.contract.released``.

A version that was released never changes. ``--again`` is for the days before it was.
"""

import argparse
import sys

from tests.contract.document import CONTRACT
from tests.contract.released import keep


def main() -> int:
    """Keep the contract; returns the exit status."""
    parser = argparse.ArgumentParser(prog="python -m tests.contract.released", description=__doc__)
    parser.add_argument("--again", action="store_true", help="replace what is kept under this version")
    options = parser.parse_args()
    try:
        path = keep(CONTRACT.read_bytes(), again=options.again)
    except FileExistsError as error:
        sys.stderr.write(f"{error}\n")
        return 1
    sys.stdout.write(f"{path.name} kept\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
