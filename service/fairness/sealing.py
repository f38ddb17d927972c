"""Server seeds sealed until the round is over: a compact JWE (RFC 7516), direct A256GCM.

Whoever keeps a sealed seed, a frontend or a database, sees no card of the deal; only this service opens it.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from joserfc import jwe
from joserfc.errors import JoseError
from joserfc.jwk import GuestProtocol, OctKey

from service.fairness.deal import SeedDeal
from service.fairness.shuffle import SERVER_SEED_BYTES

TYPE: Final = "russian-poker-seed+jwe"
_ALGORITHMS: Final = ["dir", "A256GCM"]


class RefusedSeal(ValueError):
    """A sealed seed that this deployment cannot open."""


@dataclass(frozen=True)
class Sealer:
    """The sealing keys by kid; ``active`` names the one that seals, the others only open."""

    active: str
    keys: Mapping[str, OctKey]

    def seal(self, server_seed: bytes) -> str:
        """The seed as a compact JWE."""
        header = {"alg": "dir", "enc": "A256GCM", "kid": self.active, "typ": TYPE}
        return jwe.encrypt_compact(header, server_seed, self.keys[self.active], algorithms=_ALGORITHMS)

    def open(self, sealed_seed: str) -> bytes:
        """The 32 bytes of a sealed seed. Raises ``RefusedSeal``."""
        if sealed_seed.count(".") != 4:
            raise RefusedSeal("a sealed seed is a compact JWE: five parts with dots between")
        try:
            seed = jwe.decrypt_compact(sealed_seed, self._key_of, algorithms=_ALGORITHMS).plaintext
        except RefusedSeal:
            raise
        except (JoseError, ValueError, TypeError):
            seed = None
        if seed is None or len(seed) != SERVER_SEED_BYTES:
            raise RefusedSeal("the sealed seed was altered or cut short")
        return seed

    def _key_of(self, token: GuestProtocol) -> OctKey:
        kid = str(token.headers().get("kid"))
        if kid not in self.keys:
            raise RefusedSeal(
                f"the key {kid!r} that sealed this seed is not known here; was it rotated away?"
            )
        return self.keys[kid]


class SealedDeal(NamedTuple):
    """A deal whose server seed is sealed; ``members`` are those that ``SeedDeal`` takes beside it."""

    sealed_seed: str
    members: Mapping[str, Any]

    def open(self, sealer: Sealer) -> SeedDeal:
        """The deal with its seed in the clear. Raises ``RefusedSeal``."""
        return SeedDeal(sealer.open(self.sealed_seed), **self.members)
