"""What recorded rounds are worth, line by line. Pure functions of what they are given."""

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import repeat
from typing import Final, NamedTuple, TypeAlias

import orjson

from service.certificate.canonical import MAX_INTEGER, canonical_bytes
from service.certificate.differences import Difference
from service.certificate.jws import VerificationKey, genuine_payload, headers
from service.fairness.sealing import RefusedSeal, Sealer
from service.game.documents import Document
from service.registry import Registry
from service.rounds import ENGINE, Check, names_a_build, settle_request
from service.schemas import ROUND, InvalidRequest, load
from service.strict_json import MalformedJson, parse_json
from service.verification import RefusedRequest, Verification, claim_of, request_of, verify

MAX_LINE: Final = 2**20
"""Most bytes of a record; the longest that the service can answer has less than half of it."""
UNKNOWN: Final = "unknown"
"""Where rounds are counted whose ruleset is not known here; no id of a ruleset reads like this."""
AMOUNTS: Final = ("staked", "returned", "net")


class Finding(NamedTuple):
    """A difference or a failed check: on which line, of which round, and what it is."""

    line: int
    outcome_id: str | None
    ruleset: str
    what: Difference | Check


class Damage(NamedTuple):
    """A line that holds no record, and why."""

    line: int
    why: str


class Tally(NamedTuple):
    """What some lines came to. Lines are numbered from 1; blank ones count as lines and as nothing else.

    ``counts`` are by ruleset, see ``report.COLUMNS``; what is not counted is 0.
    """

    lines: int
    counts: Mapping[str, Mapping[str, int]]
    findings: Sequence[Finding]
    damages: Sequence[Damage]

    @property
    def rounds(self) -> int:
        """Rounds on the lines, of whatever ruleset."""
        return sum(counts["rounds"] for counts in self.counts.values())


class Confirmed(NamedTuple):
    """A round that is as this engine settles it: its ruleset, what was staked and what came back.

    ``certified`` tells that it has a certificate, which is genuine.
    """

    ruleset: str
    staked: int
    returned: int
    certified: bool = False


Lean: TypeAlias = Callable[[Sequence[bytes]], Iterable[Confirmed | None]]
"""What confirms plain outcomes without certificates, one on each line; None where it cannot tell."""


def audit_records(
    lines: Sequence[bytes],
    registry: Registry,
    keys: Mapping[str, VerificationKey],
    certificates: bool,
    lean: Lean | None = None,
) -> Tally:
    """Recompute the record on each line and compare.

    A record is what ``settle`` or ``void`` answered, or what ``verify`` takes: ``{"outcome": …}`` with
    ``request`` or ``server_seed``, or ``{"certificate": …}``. Without ``certificates`` those that stand
    within an outcome are not looked at; one that stands alone always is.
    """
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    findings: list[Finding] = []
    damages: list[Damage] = []
    by_header = headers(keys)
    confirmed: list[Confirmed] = []
    known = _leanly_confirmed(lines, lean, by_header, certificates) if lean else repeat(None, len(lines))
    for number, (line, one) in enumerate(zip(lines, known, strict=True), 1):
        if one:
            confirmed.append(one)
            continue
        if len(line) > MAX_LINE:  # before it could pass for blank: of a longer one only the beginning is here
            damages.append(Damage(number, f"the line is longer than {MAX_LINE} bytes"))
            continue
        record = line.strip(b" \t\r\n")
        if not record:
            continue
        if one := _confirmed(record, registry, by_header, certificates):
            confirmed.append(one)
            continue
        try:
            verified = _verified(record, registry, keys, certificates)
        except (MalformedJson, InvalidRequest) as error:
            damages.append(Damage(number, str(error).removeprefix("line 1, ")))  # it has no other
            continue
        ruleset = _ruleset(verified.outcome, registry)
        _count(counts[ruleset], verified)
        which = number, _outcome_id(verified.outcome), ruleset
        findings += [Finding(*which, check) for check in verified.checks if check.code]
        findings += [Finding(*which, difference) for difference in verified.differences]
    for ruleset in {one.ruleset for one in confirmed}:
        _count_confirmed(counts[ruleset], [one for one in confirmed if one.ruleset == ruleset])
    return Tally(
        len(lines), {ruleset: dict(counter) for ruleset, counter in counts.items()}, findings, damages
    )


# The quick way: it confirms what is, byte for byte, what this engine writes, and leaves the rest.
# Most of that ``lean`` confirms sooner.


def _leanly_confirmed(
    lines: Sequence[bytes], lean: Lean, by_header: Mapping[str, VerificationKey], certificates: bool
) -> Iterator[Confirmed | None]:
    """What the lean path confirms, and the certificates behind it."""
    parted = [
        line.rpartition(_CERTIFICATE) if line.endswith(b'"}') and len(line) <= MAX_LINE else (b"", b"", line)
        for line in lines
    ]
    outcomes = [outcome + b"}" if behind else rest for outcome, behind, rest in parted]
    for outcome, confirmed, (_, behind, rest) in zip(outcomes, lean(outcomes), parted, strict=True):
        if not confirmed or not behind:
            yield confirmed
            continue
        certificate = rest[:-2]
        if not certificates:
            yield confirmed if _COMPACT.fullmatch(certificate) else None
            continue
        try:
            payload = genuine_payload(certificate.decode(), by_header)
        except ValueError:
            payload = None
        same = payload == canonical_bytes(orjson.loads(outcome))
        yield confirmed._replace(certified=True) if same else None


_CERTIFICATE: Final = b',"certificate":"'
_COMPACT: Final = re.compile(rb"[A-Za-z0-9_.-]+")


def _confirmed(
    record: bytes, registry: Registry, by_header: Mapping[str, VerificationKey], certificates: bool
) -> Confirmed | None:
    """The settled round of a record that is beyond doubt, None where only a closer look can tell.

    The record is read leniently and written again from the recomputation, which has to give the same bytes.
    So it holds nothing that a strict reader would take otherwise: no name twice, no number spelt differently.
    """
    try:
        shown = orjson.loads(record)
        payload = None
        if "status" in shown:
            outcome, server_seed = shown, None
        elif shown.keys() - {"server_seed"} == {"certificate"}:
            payload = genuine_payload(shown["certificate"], by_header)
            outcome, server_seed = orjson.loads(payload or b""), shown.get("server_seed")
        elif shown.keys() - {"server_seed"} == {"outcome"}:
            outcome, server_seed = shown["outcome"], shown.get("server_seed")
        else:
            return None
        hidden = outcome["deal"]["source"] == "seed" and "server_seed" not in outcome["deal"]
        if outcome["status"] != "settled" or hidden != ("server_seed" in shown):
            return None
        computed = settle_request(load(ROUND, request_of(outcome, server_seed)), registry)
        if names_a_build(outcome["engine"]["digest"]):
            computed["engine"] = {**ENGINE, "digest": outcome["engine"]["digest"]}
        if payload is not None:
            same, certified = canonical_bytes(computed) == payload and orjson.dumps(shown) == record, True
        else:
            certificate = outcome.get("certificate")
            certified = certificates and certificate is not None
            if certified and genuine_payload(certificate, by_header) != canonical_bytes(computed):
                return None
            again = computed if certificate is None else {**computed, "certificate": certificate}
            same = orjson.dumps(again if outcome is shown else {**shown, "outcome": again}) == record
    except (ValueError, LookupError, TypeError, AttributeError):
        return None
    if not same:
        return None
    totals = computed["totals"]
    return Confirmed(computed["ruleset"]["id"], totals["staked"], totals["returned"], certified)


def _count_confirmed(counter: Counter[str], confirmed: Sequence[Confirmed]) -> None:
    staked, returned = sum([one.staked for one in confirmed]), sum([one.returned for one in confirmed])
    counter["rounds"] += len(confirmed)
    counter["equal"] += len(confirmed)
    for name, amount in zip(AMOUNTS, (staked, returned, returned - staked), strict=True):
        counter[name] += amount
        counter[f"claimed_{name}"] += amount
    if certified := sum([one.certified for one in confirmed]):
        counter["certificates"] += certified
        counter["certificates_valid"] += certified


# The full way: what ``verify`` says.


def _verified(
    record: bytes, registry: Registry, keys: Mapping[str, VerificationKey], certificates: bool
) -> Verification:
    """The verification of a record. Raises ``MalformedJson`` and ``InvalidRequest`` for what is none."""
    claim = claim_of(parse_json(record))
    if not certificates and isinstance(claim, dict) and isinstance(claim.get("outcome"), dict):
        outcome = {name: value for name, value in claim["outcome"].items() if name != "certificate"}
        claim = {**claim, "outcome": outcome}
    try:
        return verify(claim, registry, keys, _NO_SEALER)
    except RefusedRequest as refused:
        check = Check("request", "not-settled", f"the request cannot be settled: {refused}")
        if isinstance(refused.error, RefusedSeal):
            needed = "the request's server seed is sealed; give it as server_seed beside the outcome alone"
            check = Check("deal", "seed-needed", needed)
        return Verification(claim["outcome"], None, [check], [])


_NO_SEALER: Final = Sealer("", {})
"""An audit opens no seals, so it needs no secret."""


def _ruleset(outcome: Document | None, registry: Registry) -> str:
    """The ruleset under which an outcome is counted."""
    named = (outcome or {}).get("ruleset")
    id = named.get("id") if isinstance(named, dict) else None
    return id if isinstance(id, str) and id in registry else UNKNOWN


def _outcome_id(outcome: Document | None) -> str | None:
    id = (outcome or {}).get("outcome_id")
    return id if isinstance(id, str) else None


def _count(counter: Counter[str], verified: Verification) -> None:
    signature = [check.code for check in verified.checks if check.name == "signature"]
    recomputed = [check.code for check in verified.checks if check.name != "signature"]
    counter["rounds"] += 1
    counter["void"] += verified.outcome is not None and verified.outcome.get("status") == "void"
    if not recomputed or "seed-needed" in recomputed:
        counter["unchecked"] += 1
    else:
        counter["differing" if any(recomputed) else "equal"] += 1
    counter["differences"] += len(verified.differences)
    for prefix, document in (("", verified.computed), ("claimed_", verified.outcome)):
        for name, amount in _amounts(document).items():
            counter[prefix + name] += amount
    if signature and "no-certificate" not in signature:
        counter["certificates"] += 1
        counter["certificates_valid"] += signature == [None]
    counter.update(code for code in (*signature, *recomputed) if code)


def _amounts(document: Document | None) -> dict[str, int]:
    """What a document states as its totals, as far as these are amounts."""
    totals = (document or {}).get("totals")
    if not isinstance(totals, dict):
        return {}
    amounts = {name: totals.get(name) for name in AMOUNTS}
    return {name: n for name, n in amounts.items() if type(n) is int and abs(n) <= MAX_INTEGER}
