"""The guide for operators names every setting and every metric that there is, and no other."""

import re
from collections.abc import Iterator

from prometheus_client import REGISTRY

from service.observability import metrics
from tests.docs.guides import ROOT, guide, table

OPERATIONS = guide("operations.md")
SETTING = re.compile(r'(?:os\.environ(?:\.get\(|\[)|whole_setting\()"([A-Z_]+)"')


def read_somewhere() -> Iterator[str]:
    for path in (*ROOT.glob("service/**/*.py"), ROOT / "deploy" / "gunicorn.conf.py"):
        yield from SETTING.findall(path.read_text(encoding="utf-8"))


def test_the_settings_are_those_of_the_table() -> None:
    stated = [name.strip("`") for name, *_ in table(OPERATIONS, "variable", "default", "is")]
    assert len(stated) == len(set(stated))
    assert set(stated) == set(read_somewhere())


def test_the_metrics_are_those_of_the_table() -> None:
    stated = {
        name.strip("`"): re.findall(r"`(\w+)`", labels)
        for name, labels, _ in table(OPERATIONS, "metric", "labels", "counts")
    }
    ours = [one for one in vars(metrics).values() if getattr(one, "_labelnames", None)]
    assert all(one in REGISTRY._collector_to_names for one in ours)
    assert stated == {one._name + "_total" * (one._type == "counter"): list(one._labelnames) for one in ours}


def test_the_signals_and_paths_are_real() -> None:
    conf = (ROOT / "deploy" / "gunicorn.conf.py").read_text(encoding="utf-8")
    assert "graceful_timeout = 20\n" in conf
    assert "has 20 seconds to end" in OPERATIONS
    contract = (ROOT / "openapi.yaml").read_text(encoding="utf-8")
    for path, *_ in table(OPERATIONS, "path", "for", "answers"):
        assert f"\n  {path.strip('`')}:\n" in contract
