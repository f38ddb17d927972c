"""What an audit tells: one line of JSON for each finding, and a summary in integers as JSON and CSV."""

import csv
import io
import json
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any, Final

from service.audit.records import AMOUNTS, Damage, Finding
from service.certificate.differences import ABSENT, Difference

CODES: Final = (
    *("malformed", "wrong-algorithm", "wrong-type", "unknown-key", "revoked-key", "bad-signature"),
    *("not-canonical", "altered-outcome", "no-certificate"),
    *("other-ruleset", "other-engine", "not-settled", "seed-needed", "other-deal", "other-settlement"),
)
"""Why a check fails, in the words of ``verify``."""
COLUMNS: Final = (
    *("rounds", "void", "equal", "differing", "unchecked", "differences"),
    *AMOUNTS,
    *(f"claimed_{name}" for name in AMOUNTS),
    *("certificates", "certificates_valid"),
    *CODES,
)
"""What is counted of each ruleset. Amounts are recomputed ones in minor units, ``claimed_`` as recorded."""
DIFFERENCES: Final = "differences.ndjson"
FAILED: Final = "failed.ndjson"
DAMAGED: Final = "damaged.ndjson"
UNPRINTABLE: Final = "backslashreplace"
"""How names of files that are no UTF-8 are written: as JSON escapes such characters."""
LISTS: Final = (DIFFERENCES, FAILED, DAMAGED)


def listed(file: str, before: int, found: Finding | Damage) -> tuple[str, bytes]:
    """The list to which a finding goes, and its line there; ``before`` its chunk the input has so many."""
    place = {"file": file, "line": before + found.line}
    if isinstance(found, Damage):
        return DAMAGED, _line({**place, "why": found.why})
    place |= {"outcome_id": found.outcome_id, "ruleset": found.ruleset}
    what = found.what
    if isinstance(what, Difference):
        values = {name: value for name, value in what._asdict().items() if value is not ABSENT}
        return DIFFERENCES, _line({**place, **values})
    return FAILED, _line({**place, "check": what.name, "code": what.code, "detail": what.detail})


def _line(document: Any) -> bytes:
    # Not by orjson: what somebody claims may be an integer of any size.
    text = json.dumps(document, ensure_ascii=False, separators=(",", ":"))
    return text.encode(errors=UNPRINTABLE) + b"\n"


def summary(
    identity: Mapping[str, Any],
    files: Iterable[Mapping[str, Any]],
    counts: Mapping[str, Mapping[str, int]],
    damaged: int,
) -> dict[str, Any]:
    """The audit in numbers. ``valid`` is True where there were records, and every one was read and right."""
    total: Counter[str] = Counter()
    for counter in counts.values():
        total.update(counter)
    wrong = ("differing", "unchecked", *CODES)
    return {
        "valid": total["rounds"] > 0 and not damaged and not any(total[name] for name in wrong),
        **{name: identity[name] for name in ("engine", "certificates")},
        "total": {**_row(total), "damaged": damaged},
        "rulesets": {ruleset: _row(counts[ruleset]) for ruleset in sorted(counts)},
        "files": list(files),
    }


def _row(counter: Mapping[str, int]) -> dict[str, int]:
    return {name: counter.get(name, 0) for name in COLUMNS}


def summary_csv(document: Mapping[str, Any]) -> str:
    """The numbers of a summary: a row for each ruleset, then the total. Damaged lines have no ruleset."""
    text = io.StringIO()
    table = csv.DictWriter(text, ("ruleset", *COLUMNS, "damaged"), restval=0, lineterminator="\n")
    table.writeheader()
    table.writerows({"ruleset": ruleset, **row} for ruleset, row in document["rulesets"].items())
    table.writerow({"ruleset": "total", **document["total"]})
    return text.getvalue()
