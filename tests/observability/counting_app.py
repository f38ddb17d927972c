"""The least application that counts its requests, for gunicorn to run."""

import os
from collections.abc import Iterable
from wsgiref.types import StartResponse, WSGIEnvironment

from service.observability import metrics

metrics.publish_info("1.2.3", "some-shuffle/1")


def application(environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
    path = environ["PATH_INFO"]
    if path.startswith("/fail/"):
        raise ValueError(f"cannot digest {path}")
    if path == "/metrics":
        body, content_type = metrics.exposition()
    elif path == "/directory":
        body, content_type = os.environ["PROMETHEUS_MULTIPROC_DIR"].encode(), "text/plain"
    else:
        metrics.count_request("probe", 200, 0.0003)
        body, content_type = str(os.getpid()).encode(), "text/plain"
    start_response("200 OK", [("Content-Type", content_type), ("Content-Length", str(len(body)))])
    return [body]
