"""HMAC_DRBG of NIST SP 800-90A Rev. 1 (10.1.2) with SHA-256, without reseeding (clauses R1, R7)."""

from hashlib import sha256
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from _hashlib import HASH

_BLOCK: Final = 64
_INNER: Final = bytes(byte ^ 0x36 for byte in range(256))
_OUTER: Final = bytes(byte ^ 0x5C for byte in range(256))


def _keyed(key: bytes) -> tuple["HASH", "HASH"]:
    """Two states from which every HMAC starts until the key changes: half the cost of ``hmac.digest``."""
    padded = key.ljust(_BLOCK, b"\x00")
    return sha256(padded.translate(_INNER)), sha256(padded.translate(_OUTER))


_FIRST: Final = _keyed(bytes(32))


class HmacDrbg:
    """The generator, instantiated from an entropy input, a nonce and a personalization string (bytes)."""

    def __init__(self, entropy_input: bytes, nonce: bytes, personalization_string: bytes = b"") -> None:
        self._inner, self._outer = _FIRST
        self._value = b"\x01" * 32
        self._update(entropy_input + nonce + personalization_string)
        self._spent = False

    def generate(self, size: int) -> bytes:
        """One Generate call: the next ``size`` bytes, then the update of the state."""
        if self._spent:
            self._update(b"")
        self._spent = True  # the update that ends this call is made by the next one: most decks need one call
        output = b""
        while len(output) < size:
            self._value = self._hmac(self._value)
            output += self._value
        return output[:size]

    def _update(self, provided_data: bytes) -> None:
        for separator in (b"\x00", b"\x01") if provided_data else (b"\x00",):
            self._inner, self._outer = _keyed(self._hmac(self._value + separator + provided_data))
            self._value = self._hmac(self._value)

    def _hmac(self, message: bytes) -> bytes:
        inner, outer = self._inner.copy(), self._outer.copy()
        inner.update(message)
        outer.update(inner.digest())
        return outer.digest()
