"""Golden certificates: rounds of every kind, each with the certificate that a version of the engine gave it.

``python -m tests.certificate.golden`` tells where the present engine differs from its own file; with
``--write`` it certifies the rounds anew. They are those of the newest golden file, or those of the files
named, which hold a request a line; one with a ``reason`` is to be voided. A file bears its engine's version
and is frozen with it: once that version is released, results change under a new version only.
"""

import argparse
import json
import sys
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Any, Final, NamedTuple

from service.certificate.canonical import canonical_bytes
from service.certificate.differences import Difference, differences
from service.certificate.jws import open_certificate
from service.game import ENGINE_VERSION
from service.keys import Keys, development_keys, read_keys
from service.registry import Registry, load_rulesets
from service.rounds import settle_request, void_request
from service.schemas import ROUND, VOID, load

DATA: Final = Path(__file__).parents[1] / "data"
Document = dict[str, Any]


class Golden(NamedTuple):
    """A request and the certificate that it once got."""

    request: Document
    certificate: str


def golden_file(version: str = ENGINE_VERSION) -> Path:
    return DATA / f"certificates-{version}.jsonl"


def golden_files() -> list[Path]:
    """All golden files, the newest version last."""
    return sorted(DATA.glob("certificates-*.jsonl"), key=_version)


def _version(path: Path) -> list[int]:
    return [int(part) for part in path.stem.removeprefix("certificates-").split(".")]


def read(path: Path) -> list[Golden]:
    return [Golden(**document) for document in _lines(path)]


def _lines(path: Path) -> Iterator[Document]:
    # Not splitlines(), to which a line separator within a text ends a line too.
    for line in path.read_text(encoding="utf-8").split("\n"):
        if line:
            yield json.loads(line)


@cache
def keys() -> Keys:
    """The development keys, whatever the environment names."""
    return read_keys(development_keys())


@cache
def registry() -> Registry:
    """The built-in rulesets, whatever the environment names."""
    return load_rulesets()


def outcome_of(request: Document) -> Document:
    """What the present engine makes of a request, without a certificate."""
    if "reason" in request:
        round_request, reason = load(VOID, request)
        return void_request(round_request, reason, registry())
    return settle_request(load(ROUND, request), registry())


def certified(request: Document) -> str:
    """The certificate that the present engine gives under the development key."""
    return keys().signer.sign(canonical_bytes(outcome_of(request)))


def changes(golden: Golden) -> Iterator[Difference]:
    """Where the present engine's outcome differs from a golden one, the digest of its files left aside."""
    then, _ = open_certificate(golden.certificate, keys().verifying)
    now = json.loads(canonical_bytes(outcome_of(golden.request)))
    return (found for found in differences(then, now) if found.pointer != "/engine/digest")


def write(sources: Sequence[Path]) -> str:
    if sources:
        requests = [request for path in sources for request in _lines(path)]
    else:
        requests = [golden.request for golden in read(golden_files()[-1])]
    written = (Golden(request, certified(request))._asdict() for request in requests)
    text = "".join(
        json.dumps(one, ensure_ascii=False, separators=(",", ":"), sort_keys=True) + "\n" for one in written
    )
    golden_file().write_text(text, encoding="utf-8")
    return f"{golden_file().name}: {len(requests)} rounds"


def compare() -> str:
    found = [
        f"{golden_file().name}:{line}: {change.pointer}: {change.claimed!r} became {change.computed!r}"
        for line, golden in enumerate(read(golden_file()), 1)
        for change in changes(golden)
    ]
    return "\n".join(found) or "no outcome has changed"


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Compare golden certificates with what is computed today.")
    parser.add_argument("--write", action="store_true", help="certify the rounds anew")
    parser.add_argument(
        "requests", nargs="*", type=Path, metavar="FILE", help="rounds in place of the present"
    )
    options = parser.parse_args()
    sys.stdout.write((write(options.requests) if options.write else compare()) + "\n")
