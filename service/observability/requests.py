"""One request answered: counted and logged, by operation, never by path or body."""

from time import perf_counter

from service.observability import logs, metrics


def record(
    operation: str | None,
    method: str,
    status: int,
    began: float,
    request_id: str,
    ruleset: str | None = None,
    problem: str | None = None,
) -> None:
    """Count and log a request that began at ``began`` of ``perf_counter`` and is answered now.

    ``operation`` is the name of the endpoint, None for a path that leads nowhere; ``ruleset`` is a known id,
    ``problem`` the short name of a problem type.
    """
    seconds = perf_counter() - began
    metrics.count_request(operation, status, seconds)
    if problem:
        metrics.count_problem(problem)
    logs.log_request(
        operation=operation,
        method=method,
        status=status,
        milliseconds=1000 * seconds,
        request_id=request_id,
        ruleset=ruleset,
        problem=problem,
    )
