"""The benchmarks run, find numbers and write them down. What the numbers are is no matter of a test."""

import json
from datetime import date
from functools import partial
from math import isfinite
from pathlib import Path
from types import SimpleNamespace
from xml.etree import ElementTree

import orjson
import pytest

from tests.api.calls import SETTLE
from tests.api.servers import ROOT
from tests.benchmarks import audits, evaluator, report, servers
from tests.benchmarks.__main__ import PARTS, main, measured
from tests.benchmarks.evaluator import check_agreement, evaluators
from tests.benchmarks.in_process import rows
from tests.benchmarks.measuring import (
    QUICK,
    Chart,
    Figure,
    Goal,
    Part,
    cpu_in_turns,
    in_turns,
    number,
    ratios,
)
from tests.benchmarks.report import Machine, Report, filled
from tests.benchmarks.specimens import full_round, settled, write_records

TINY = QUICK._replace(
    pairs=2,
    calls=2,
    bursts=1,
    hands=80,
    distinct=40,
    records=400,
    growth=(40, 80),
    workers=(1,),
    boxes=(1,),
    requests=1,
    starts=1,
)
REPORT = Report(
    date(2026, 11, 30),
    Machine("Some CPU", 2, "3.11.7", 0.5),
    {
        "in-process": Part([Figure("`settle`", "× baseline", [1.25, 1.0, 1.5], Goal("≤", 1.3), "9 µs")]),
        "audit": Part(
            [
                Figure("audit", "rounds/s", [30_000.0], Goal("≥", 40_000), "1,000 records"),
                Figure("signatures", "a second", [9_000.0, 9_100.0, 9_300.0]),
            ],
            [
                Chart("audit: rounds a second", "processes", "rounds/s", {"1 box": [(1, 10.0), (2, 19.0)]}),
                Chart("audit: time", "rounds", "s", {"time": [(100, 0.5), (10_000, 20.0)]}, logarithmic=True),
            ],
        ),
    },
    {"http": "needs wrk"},
)


def needs(name: str) -> None:
    if why := PARTS[name].missing():
        pytest.skip(f"the part {name} {why}")


@pytest.mark.parametrize("name", PARTS)
def test_every_part_finds_numbers(name: str) -> None:
    needs(name)
    found = measured([name], TINY)
    assert not found.left_out
    values = [value for figure in found.figures for value in figure.values]
    values += [value for chart in found.charts for line in chart.lines.values() for _, value in line]
    assert values
    assert all(map(isfinite, values))
    ElementTree.fromstring(found.svg())
    assert json.loads(found.json())["date"]


def test_what_cannot_run_is_left_out_and_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(PARTS, "http", SimpleNamespace(missing=lambda: "needs wrk", run=None))
    found = measured(["http"], TINY)
    assert (found.parts, found.left_out) == ({}, {"http": "needs wrk"})


def test_without_wrk_no_server_is_put_under_load(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    assert servers.missing()


@pytest.mark.parametrize(
    "options", [["--readme", "--quick"], ["--readme", "--only", "memory"], ["--only", "x"]]
)
def test_wrong_options_are_refused(options: list[str]) -> None:
    with pytest.raises(SystemExit):
        main(options)


def test_every_measure_has_its_place_in_every_turn() -> None:
    called: list[str] = []
    found = in_turns({name: partial(called.append, name) for name in "abc"}, 50)
    assert {name: len(each) for name, each in found.items()} == {"a": 50, "b": 50, "c": 50}
    turns = ["".join(called[place : place + 3]) for place in range(0, 150, 3)]
    assert {"".join(sorted(turn)) for turn in turns} == {"abc"}
    assert len(set(turns)) > 1, "in random order"


def test_a_block_is_a_number_of_calls() -> None:
    called: list[int] = []
    costs = cpu_in_turns({"one": lambda: called.append(1)}, 7, 3)
    assert (len(called), len(costs["one"])) == (21, 3)


def test_ratios_are_those_of_neighbours() -> None:
    assert ratios([2.0, 9.0], [1.0, 3.0]) == [2.0, 3.0]


@pytest.mark.parametrize(
    ("goal", "value", "met"),
    [
        (Goal("≤", 1.3), 1.3, True),
        (Goal("≤", 1.3), 1.31, False),
        (Goal("≥", 8), 8.0, True),
        (Goal("≥", 8), 7.9, False),
    ],
)
def test_goals(goal: Goal, value: float, met: bool) -> None:
    assert goal.met(value) is met


@pytest.mark.parametrize(
    ("value", "text"),
    [(1.2345, "1.23"), (40_000.4, "40,000"), (0.5, "0.5"), (0.01234, "0.0123"), (100, "100")],
)
def test_numbers_are_short(value: float, text: str) -> None:
    assert number(value) == text


def test_the_table() -> None:
    assert (
        REPORT.table()
        == """\
2026-11-30, Some CPU, 2 cores, Python 3.11.7, load before 0.5:

| measured | median | middle half | goal | from |
| -------- | ------ | ----------- | ---- | ---- |
| `settle` | 1.25 × baseline | 1.12 to 1.38 | ≤ 1.3: met | 9 µs |
| audit | 30,000 rounds/s |  | ≥ 40,000: missed | 1,000 records |
| signatures | 9,100 a second | 9,050 to 9,200 |  |  |

Left out: http, which needs wrk."""
    )
    assert (
        REPORT.scaling()
        == """\
Audit: rounds a second

| rounds/s, by processes | 1 | 2 |
| ---------------------- | - | - |
| 1 box | 10 | 19 |

Audit: time

| s, by rounds | 100 | 10,000 |
| ------------ | --- | ------ |
| time | 0.5 | 20 |"""
    )


def test_the_files(tmp_path: Path) -> None:
    REPORT.write(tmp_path / "bench")
    document = json.loads((tmp_path / "bench" / "results.json").read_text())
    assert document["machine"]["cores"] == 2
    assert document["figures"][0] == {
        "part": "in-process",
        "name": "`settle`",
        "unit": "× baseline",
        "median": 1.25,
        "quartiles": [1.125, 1.375],
        "goal": "≤ 1.3",
        "met": True,
        "detail": "9 µs",
        "values": [1.25, 1.0, 1.5],
    }
    assert document["left_out"] == {"http": "needs wrk"}
    plot = ElementTree.fromstring((tmp_path / "bench" / "bench.svg").read_text())
    texts = [text.text or "" for text in plot.iter("{http://www.w3.org/2000/svg}text")]
    assert {"1.25", "30,000", "audit: time", "1 box"} <= set(texts)
    assert any("signatures" in text for text in texts) is False, "what has no goal is not drawn"


def test_documents_are_filled_between_their_marks() -> None:
    marked = 'before\n\n[measured]: # "from here"\n{}[/measured]: # "to here"\nafter\n'
    for old in ("", "old\n"):
        assert filled(marked.format(old), "\\1 new") == marked.format("\n\\1 new\n\n")
    with pytest.raises(AssertionError):
        filled("no marks", "new")


def test_a_run_is_published_in_the_documents(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("README", "GUIDE", "PLOT"):
        copy = tmp_path / getattr(report, name).relative_to(ROOT)
        copy.parent.mkdir(parents=True, exist_ok=True)
        if name != "PLOT":
            copy.write_bytes(getattr(report, name).read_bytes())
        monkeypatch.setattr(report, name, copy)
    REPORT.publish()
    assert REPORT.table() in report.README.read_text(encoding="utf-8")
    assert "](tests/benchmarks/performance.svg)" in report.README.read_text(encoding="utf-8")
    assert REPORT.scaling() in report.GUIDE.read_text(encoding="utf-8")
    ElementTree.fromstring(report.PLOT.read_text(encoding="utf-8"))


def test_the_full_round_is_full() -> None:
    outcome = settled(full_round())
    bets = {bet["name"] for box in outcome["boxes"] for bet in box["bets"]}
    assert bets == {"ante", "bet", "bonus", "insurance", "purchase", "game_purchase"}
    assert len(outcome["boxes"]) == 4


def test_one_row_is_without_certificates_and_only_one() -> None:
    certified = []
    for row in rows():
        with row.prepared():
            answer = row.app.test_client().post(row.path, json=row.body).get_json()
        certified.append("certificate" in answer)
    assert certified == [False, True, False, True]
    assert rows()[2].path != SETTLE


def test_an_evaluator_that_disagrees_is_found() -> None:
    known = evaluators(5)
    check_agreement(5, known)
    wrong = known["treys"]._replace(strength=lambda told: told)
    with pytest.raises(AssertionError):
        check_agreement(5, {**known, "treys": wrong})


def test_an_audit_that_finds_a_difference_is_no_measurement(tmp_path: Path) -> None:
    needs("audit")
    file = write_records(tmp_path / "records.ndjson", 3, 4)
    lines = [orjson.loads(line) for line in file.read_bytes().splitlines()]
    lines[1]["totals"]["net"] += 1
    file.write_bytes(b"".join(orjson.dumps(line) + b"\n" for line in lines))
    with audits.auditor(lean=False) as auditor, pytest.raises(AssertionError):
        auditor.audit(file, 3, 1)


def test_the_start_of_an_audit_is_left_out_where_it_can_be_told() -> None:
    start = audits.Audit(100, 1.0, 50.0)
    assert audits.rate(audits.Audit(1_100, 1.5, 50.0), start) == 2_000
    assert audits.rate(audits.Audit(400, 0.8, 50.0), start) == 500


def test_a_server_that_refuses_is_no_measurement(tmp_path: Path) -> None:
    needs("http")
    body = tmp_path / "body.ndjson"
    body.write_bytes(b"{}")
    with servers.server(servers.GUNICORN) as ours, pytest.raises(AssertionError):
        servers.burst(ours, SETTLE, body, 1)


def test_the_same_hands_in_every_run() -> None:
    assert evaluator.hands(6, 5) == evaluator.hands(6, 5)
    assert {len(set(hand)) for hand in evaluator.hands(6, 5)} == {6}
