"""What a verdict costs is bounded, and what was not compared does not pass."""

from typing import Any

from service.rounds import ENGINE, compare_outcome


def test_no_check_passes_once_the_comparison_has_ended() -> None:
    """A claim with more differences than are looked at could hide one in any part behind them."""
    claimed: dict[str, Any] = {"engine": ENGINE, "context": list(range(100_000))}
    checks, found = compare_outcome(claimed, {"engine": ENGINE, "context": []})
    assert all(check.code for check in checks)
    assert len(found) < 1_000


def test_an_engine_digest_has_to_be_a_digest() -> None:
    for digest, passes in (
        ("sha256:" + "0" * 64, True),
        ("sha256:", False),
        (None, False),
        ("0" * 64, False),
    ):
        claimed = {"engine": {**ENGINE, "digest": digest}}
        engine = next(
            check for check in compare_outcome(claimed, {"engine": ENGINE})[0] if check.name == "engine"
        )
        assert (engine.code is None) is passes


def test_a_missing_engine_digest_is_found() -> None:
    claimed = {"engine": {name: value for name, value in ENGINE.items() if name != "digest"}}
    assert [check.name for check in compare_outcome(claimed, {"engine": ENGINE})[0] if check.code] == [
        "engine"
    ]
