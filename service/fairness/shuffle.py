"""From seeds to a deck, every draw shown (clauses R1 to R6)."""

from collections.abc import Iterator
from hashlib import sha256
from itertools import chain, repeat
from typing import Final, NamedTuple

from service.fairness.drbg import HmacDrbg
from service.game.cards import FRESH_DECK

MAX_NONCE: Final = 2**53 - 1
MAX_CLIENT_SEED_BYTES: Final = 128
SERVER_SEED_BYTES: Final = 32

_GENERATE_BYTES: Final = 128
_STEPS: Final = tuple((n - 1, n, 256 - 256 % n) for n in range(52, 1, -1))
_DOMAIN: Final = b"russian-poker/deal/v1\x00"


class MalformedSeed(ValueError):
    """A seed or nonce outside its range (section 7, R6)."""


class Draw(NamedTuple):
    """One step of the shuffle (R4): place ``i`` was swapped with place ``j`` = ``byte`` mod (i + 1)."""

    i: int
    rejected: tuple[int, ...]
    byte: int
    j: int


def commitment(server_seed: bytes) -> str:
    """SHA-256 of the raw seed bytes, in hex (R5)."""
    return sha256(server_seed).hexdigest()


def shuffled_deck(
    server_seed: bytes, client_seed: str = "", nonce: int = 0, *, log: list[Draw] | None = None
) -> tuple[int, ...]:
    """The deck of these seeds, the top card first (R1 to R3).

    ``log``, where given, gets every draw (R4). Raises ``MalformedSeed`` for a server seed that is not
    32 bytes, a client seed of more than 128 bytes and a nonce beyond 0 … 2⁵³−1.
    """
    stream = _byte_stream(server_seed, client_seed, nonce)
    deck = list(FRESH_DECK)
    for i, n, limit in _STEPS:
        rejected: tuple[int, ...] = ()
        while (byte := next(stream)) >= limit:
            rejected += (byte,)
        j = byte % n
        deck[i], deck[j] = deck[j], deck[i]
        if log is not None:
            log.append(Draw(i, rejected, byte, j))
    return tuple(deck)


def _byte_stream(server_seed: bytes, client_seed: str, nonce: int) -> Iterator[int]:
    """The generator's bytes in order, from Generate calls of 128 bytes made as they are needed (R1, R2)."""
    client_bytes = client_seed.encode()
    if len(server_seed) != SERVER_SEED_BYTES:
        raise MalformedSeed(f"the server seed must be {SERVER_SEED_BYTES} bytes; got {len(server_seed)}")
    if len(client_bytes) > MAX_CLIENT_SEED_BYTES:
        raise MalformedSeed(
            f"the client seed must be at most {MAX_CLIENT_SEED_BYTES} bytes of UTF-8; got {len(client_bytes)}"
        )
    if not 0 <= nonce <= MAX_NONCE:
        raise MalformedSeed(f"the nonce must be from 0 to {MAX_NONCE}; got {nonce}")
    drbg = HmacDrbg(server_seed, nonce.to_bytes(8, "big"), _DOMAIN + client_bytes)
    return chain.from_iterable(map(drbg.generate, repeat(_GENERATE_BYTES)))
