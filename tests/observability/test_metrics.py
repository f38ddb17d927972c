import os

import pytest
from prometheus_client.parser import text_string_to_metric_families

from service.observability import metrics


def exposed(sample: str, **labels: str) -> float:
    """The sum of the samples with this name and at least these labels."""
    body, _ = metrics.exposition()
    return sum(
        found.value
        for family in text_string_to_metric_families(body.decode())
        for found in family.samples
        if found.name == sample and labels.items() <= found.labels.items()
    )


def test_a_request_is_counted_by_operation_and_status() -> None:
    before = exposed("russian_poker_requests_total", operation="settle", status="422")
    metrics.count_request("settle", 422, 0.001)
    assert exposed("russian_poker_requests_total", operation="settle", status="422") == before + 1


def test_a_request_without_an_endpoint_is_unmatched() -> None:
    before = exposed("russian_poker_requests_total", operation="unmatched", status="404")
    metrics.count_request(None, 404, 0.001)
    assert exposed("russian_poker_requests_total", operation="unmatched", status="404") == before + 1


@pytest.mark.parametrize(
    ("seconds", "below", "bound"),
    [(0.0003, "0.0002", "0.0005"), (0.001, "0.0005", "0.001"), (7.0, "1.0", "+Inf")],
)
def test_a_duration_falls_into_its_bucket(seconds: float, below: str, bound: str) -> None:
    operation = f"took {seconds}"
    metrics.count_request(operation, 200, seconds)
    assert exposed("russian_poker_request_seconds_sum", operation=operation) == seconds
    assert exposed("russian_poker_request_seconds_bucket", operation=operation, le=bound) == 1
    assert exposed("russian_poker_request_seconds_bucket", operation=operation, le=below) == 0


def test_rounds_and_problems_are_counted() -> None:
    rounds = exposed("russian_poker_rounds_total", ruleset="casino-1", status="settled")
    problems = exposed("russian_poker_problems_total", type="illegal-action")
    metrics.count_round("casino-1", "settled")
    metrics.count_problem("illegal-action")
    assert exposed("russian_poker_rounds_total", ruleset="casino-1", status="settled") == rounds + 1
    assert exposed("russian_poker_problems_total", type="illegal-action") == problems + 1


def test_info_may_be_published_again() -> None:
    metrics.publish_info("0.0.1", "test/1")
    metrics.publish_info("0.0.1", "test/1")
    assert exposed("russian_poker_info", version="0.0.1", shuffle="test/1") == 1


def test_the_content_type_is_the_text_format() -> None:
    _, content_type = metrics.exposition()
    assert content_type == "text/plain; version=0.0.4; charset=utf-8"


def test_this_process_shares_with_nobody() -> None:
    assert "PROMETHEUS_MULTIPROC_DIR" not in os.environ
