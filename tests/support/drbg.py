"""Rule book section 7 once more: NIST SP 800-90A 10.1.2 by the letter, with the standard library's HMAC."""

import hmac
from collections.abc import Iterable, Iterator

from tests.support.oracle import RANKS, SUITS


class HmacDrbg:
    """HMAC_DRBG with SHA-256; the names are those of the publication."""

    def __init__(self, entropy_input: bytes, nonce: bytes, personalization_string: bytes) -> None:
        self.key, self.v = 32 * b"\x00", 32 * b"\x01"
        self.update(entropy_input + nonce + personalization_string)

    def update(self, provided_data: bytes) -> None:
        self.key = _hmac(self.key, self.v + b"\x00" + provided_data)
        self.v = _hmac(self.key, self.v)
        if provided_data == b"":
            return
        self.key = _hmac(self.key, self.v + b"\x01" + provided_data)
        self.v = _hmac(self.key, self.v)

    def generate(self, size: int) -> bytes:
        temp = b""
        while len(temp) < size:
            self.v = _hmac(self.key, self.v)
            temp += self.v
        self.update(b"")
        return temp[:size]


def _hmac(key: bytes, data: bytes) -> bytes:
    return hmac.new(key, data, "sha256").digest()


def seed_bytes(server_seed: bytes, client_seed: str, nonce: int) -> Iterator[int]:
    """The bytes of R1 and R2."""
    text = b"russian-poker/deal/v1" + b"\x00" + client_seed.encode("utf-8")
    drbg = HmacDrbg(server_seed, nonce.to_bytes(8, "big"), text)
    while True:
        yield from drbg.generate(128)


def shuffle(stream: Iterable[int]) -> tuple[list[str], list[tuple[int, list[int], int, int]]]:
    """The deck of R3 as codes, and the draws of R4 as (i, rejected, byte, j)."""
    source = iter(stream)
    deck = [rank + suit for rank in RANKS for suit in SUITS]
    draws = []
    for i in reversed(range(1, 52)):
        n = i + 1
        rejected: list[int] = []
        b = next(source)
        while not b < 256 - (256 % n):
            rejected.append(b)
            b = next(source)
        j = b % n
        deck[i], deck[j] = deck[j], deck[i]
        draws.append((i, rejected, b, j))
    return deck, draws
