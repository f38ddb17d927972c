import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.fairness.drbg import HmacDrbg
from tests.conftest import Tally
from tests.support import drbg as oracle
from tests.support.vectors import load


def test_R7_published_cases_of_the_algorithm(tally: Tally) -> None:
    cases = load("hmac_drbg_cavp.json")["cases"]
    for case in cases:
        generator = HmacDrbg(
            *(bytes.fromhex(case[name]) for name in ("entropy_input", "nonce", "personalization_string"))
        )
        size = case["returned_bits"] // 8
        first, second = generator.generate(size), generator.generate(size)
        assert second.hex() == case["second_output"]
        assert first != second
    tally("vectors: CAVP cases of HMAC_DRBG", len(cases))
    assert len(cases) == 30
    assert len({case["personalization_string"] == "" for case in cases}) == 2


@given(
    entropy=st.binary(max_size=100),
    nonce=st.binary(max_size=20),
    text=st.binary(max_size=200),
    sizes=st.lists(st.integers(1, 200), max_size=4),
)
def test_R7_another_implementation_agrees(
    entropy: bytes, nonce: bytes, text: bytes, sizes: list[int]
) -> None:
    ours, theirs = HmacDrbg(entropy, nonce, text), oracle.HmacDrbg(entropy, nonce, text)
    assert [ours.generate(size) for size in sizes] == [theirs.generate(size) for size in sizes]


@pytest.mark.parametrize("size", [1, 31, 32, 33, 128, 1000])
def test_R7_generate_gives_as_many_bytes_as_asked(size: int) -> None:
    assert len(HmacDrbg(bytes(32), bytes(8)).generate(size)) == size


def test_R7_what_was_generated_before_counts() -> None:
    """The state is updated after every call: two calls of 64 are not one of 128."""
    twice, once = HmacDrbg(bytes(32), bytes(8)), HmacDrbg(bytes(32), bytes(8))
    assert twice.generate(64) + twice.generate(64) != once.generate(128)
