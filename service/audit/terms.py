"""What records are held against: engine, rulesets and public keys, the same wherever chunks are audited."""

import pickle
from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache, partial
from importlib import import_module
from typing import Any, NamedTuple, TypeAlias

from service.audit import RefusedAudit, present
from service.audit.records import Lean, Tally, audit_records
from service.certificate.jws import VerificationKey
from service.integrity import check_files
from service.keys import verification_keys
from service.registry import PublishedRuleset, Registry
from service.rounds import ENGINE

Auditor: TypeAlias = Callable[[Iterable[bytes]], Tally]


class Terms(NamedTuple):
    """All that an audit depends on beside its records. Can be sent: it holds no secret and names no file.

    ``lean`` says how, and changes nothing of what comes out.
    """

    engine: Mapping[str, str]
    registry: Registry
    jwks: Mapping[str, Any]
    certificates: bool
    lean: bool

    def identity(self) -> dict[str, Any]:
        """What must not change while an audit goes on."""
        return {
            "engine": self.engine,
            "rulesets": {id: published.ruleset.digest for id, published in self.registry.items()},
            "keys": self.jwks["keys"],
            "certificates": self.certificates,
        }

    def packed(self) -> bytes:
        """The terms to be sent. The engine can be read without the rest, which another might not know."""
        return pickle.dumps((self.engine, pickle.dumps(self)))

    def auditor(self) -> Auditor:
        """What audits lines in this process. Raises ``RefusedAudit`` where files are not the release's."""
        if altered := [check.file for check in check_files() if not check.intact]:
            raise RefusedAudit(f"these files are not those of the engine's release: {', '.join(altered)}")
        return partial(
            audit_records,
            registry=self.registry,
            keys=verification_keys(self.jwks),
            certificates=self.certificates,
            lean=self._confirmer() if self.lean else None,
        )

    def _confirmer(self) -> Lean:
        present("numba", "audit")
        confirmer: Lean = import_module("service.audit.lean").Confirmer(self.registry)
        return confirmer


def terms(
    registry: Registry, keys: Mapping[str, VerificationKey], certificates: bool, lean: bool = False
) -> Terms:
    """The terms of an audit by this engine. Published texts stay behind: nothing is settled by them."""
    rules = {id: PublishedRuleset(published.ruleset, {}) for id, published in registry.items()}
    return Terms(ENGINE, rules, {"keys": [key.document() for key in keys.values()]}, certificates, lean)


@lru_cache(maxsize=4)
def auditor_by(packed: bytes) -> Auditor:
    """The auditor by packed terms, made once in each process.

    Raises ``RefusedAudit`` where the engine here is another one, and what ``Terms.auditor`` raises.
    """
    engine, rest = pickle.loads(packed)  # noqa: S301  # from the client of the worker's own cluster
    if engine != ENGINE:
        raise RefusedAudit(f"the audit is one by engine {engine}, but here is {ENGINE}")
    by: Terms = pickle.loads(rest)  # noqa: S301
    return by.auditor()
