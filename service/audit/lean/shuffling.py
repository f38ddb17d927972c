"""The deck of a round's seeds (R1 to R3), from SHA-256 up."""

from itertools import islice
from typing import Any, Final

import numpy as np

from service.audit.lean.layout import Bytes, Record, Words, copy, inner, unchecked

_GENERATED: Final = 128


def _fractions(count: int, root: int) -> Words:
    """The first 32 bits of the fractions of the roots of primes, as FIPS 180-4 defines its constants."""
    primes = (number for number in range(2, 312) if all(number % other for other in range(2, number)))
    return np.array([_bits_of_root(prime, root) for prime in islice(primes, count)], np.uint32)


def _bits_of_root(prime: int, root: int) -> int:
    low, high = 0, 1 << 40
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if middle**root <= prime << 32 * root else (low, middle)
    return low & 0xFFFFFFFF


_START: Final = _fractions(8, 2)
_ROUND_CONSTANTS: Final = _fractions(64, 3)


@inner(inline="always")
def _rotated(word: np.uint32, by: int) -> Any:
    return (word >> np.uint32(by)) | (word << np.uint32(32 - by))


@unchecked("void(uint32[::1], uint32[::1])")
def _compress(state: Words, words: Words) -> None:
    """One block (FIPS 180-4, 6.2.2), which is the first 16 of the words."""
    for place in range(16, 64):
        x, y = words[place - 15], words[place - 2]
        s0 = _rotated(x, 7) ^ _rotated(x, 18) ^ (x >> np.uint32(3))
        s1 = _rotated(y, 17) ^ _rotated(y, 19) ^ (y >> np.uint32(10))
        words[place] = words[place - 16] + s0 + words[place - 7] + s1
    a, b, c, d, e, f, g, h = state[0], state[1], state[2], state[3], state[4], state[5], state[6], state[7]
    for place in range(64):
        s1 = _rotated(e, 6) ^ _rotated(e, 11) ^ _rotated(e, 25)
        t1 = np.uint32(h + s1 + ((e & f) ^ (~e & g)) + _ROUND_CONSTANTS[place] + words[place])
        s0 = _rotated(a, 2) ^ _rotated(a, 13) ^ _rotated(a, 22)
        t2 = np.uint32(s0 + ((a & b) ^ (a & c) ^ (b & c)))
        h, g, f, e, d, c, b, a = g, f, e, np.uint32(d + t1), c, b, a, np.uint32(t1 + t2)
    state[0] += a
    state[1] += b
    state[2] += c
    state[3] += d
    state[4] += e
    state[5] += f
    state[6] += g
    state[7] += h


@inner("void(uint8[::1], int64, uint32[::1])")
def _take(message: Bytes, first: int, words: Words) -> None:
    """The words of a block of a message, the high byte first."""
    for place in range(16):
        at = first + 4 * place
        high = np.uint32(message[at]) << np.uint32(24) | np.uint32(message[at + 1]) << np.uint32(16)
        words[place] = high | np.uint32(message[at + 2]) << np.uint32(8) | np.uint32(message[at + 3])


@inner("void(uint32[::1], uint8[::1], int64, int64, uint32[::1], uint8[::1])")
def _hash(state: Words, message: Bytes, size: int, before: int, words: Words, digest: Bytes) -> None:
    """The digest of a message, of which ``before`` bytes are in the state; behind it is room to pad it."""
    end = (size + 72) // 64 * 64
    message[size] = 0x80
    message[size + 1 : end] = 0
    for place in range(4):
        message[end - 1 - place] = (8 * (before + size)) >> 8 * place & 0xFF
    for first in range(0, end, 64):
        _take(message, first, words)
        _compress(state, words)
    for place in range(32):
        digest[place] = state[place // 4] >> np.uint32(24 - 8 * (place % 4)) & np.uint32(0xFF)


@inner()
def sha256(round: Record, message: Bytes, size: int, digest: Bytes) -> None:
    """The digest of the first bytes of a message, which has room behind them."""
    round.state[:] = _START
    _hash(round.state[:], message, size, 0, round.words[:], digest)


@inner()
def _set_key(round: Record) -> None:
    _pad(round, 0x36, round.inner[:])
    _pad(round, 0x5C, round.outer[:])


@inner()
def _pad(round: Record, pad: int, state: Words) -> None:
    """The state after the padded key, from which half of an HMAC starts (FIPS 198-1)."""
    for place in range(64):
        round.message[place] = round.key[place] ^ pad if place < 32 else pad
    _take(round.message[:], 0, round.words[:])
    state[:] = _START
    _compress(state, round.words[:])


@inner()
def _hmac(round: Record, size: int, digest: Bytes) -> None:
    """HMAC of the first bytes of the message."""
    round.state[:] = round.inner
    _hash(round.state[:], round.message[:], size, 64, round.words[:], round.message[:32])
    round.state[:] = round.outer
    _hash(round.state[:], round.message[:], 32, 64, round.words[:], digest)


@inner()
def _next_value(round: Record) -> None:
    round.message[:32] = round.value
    _hmac(round, 32, round.value[:])


@inner()
def shuffled(line: Bytes, round: Record) -> bool:
    """Shuffle the deck of the seeds (R1 to R3). The generator's blocks are made as they are needed."""
    round.key[:] = 0
    round.value[:] = 1
    _set_key(round)
    for separator in range(2):
        at = copy(round.message[:], 0, round.value[:])
        round.message[at] = separator
        at = copy(round.message[:], at + 1, round.server_seed[:])
        for place in range(8):
            round.message[at + place] = round.nonce >> 8 * (7 - place) & 0xFF
        at = copy(round.message[:], at + 8, b"russian-poker/deal/v1\0")
        at = copy(round.message[:], at, line[round.client_seed : round.client_seed_end])
        _hmac(round, at, round.key[:])
        _set_key(round)
        _next_value(round)
    for card in range(52):
        round.deck[card] = card
    taken = 0
    for place in range(51, 0, -1):
        limit = 256 - 256 % (place + 1)
        byte = limit
        while byte >= limit:
            if taken == _GENERATED:  # a second call of Generate would be needed, which is next to impossible
                return False
            if taken % 32 == 0:
                _next_value(round)
            byte = round.value[taken % 32]
            taken += 1
        other = byte % (place + 1)
        round.deck[place], round.deck[other] = round.deck[other], round.deck[place]
    return True
