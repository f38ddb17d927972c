"""A whole audit: the same results however it is done, written so that people and programs can read them."""

import csv
import json
import os
import re
import signal
import sys
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from service.audit import RefusedAudit, progress
from service.audit.journal import opened
from service.audit.reader import inspect
from service.audit.records import audit_records
from service.audit.report import CODES, COLUMNS
from service.audit.terms import Terms, auditor_by, terms
from service.certificate.differences import ABSENT, Difference
from service.integrity import FileCheck
from service.keys import new_keys, read_keys
from service.rounds import ENGINE
from tests.audit.archive import (
    KEYS,
    OUTPUTS,
    REGISTRY,
    archive,
    line,
    listed,
    outcomes,
    results,
    run,
    write,
)
from tests.audit.test_reader import WRITERS
from tests.docs.guides import guide, table

# Other tests may have begun threads in this process; what is forked here uses none of theirs.
pytestmark = pytest.mark.filterwarnings("ignore:.*multi-threaded, use of fork:DeprecationWarning")


@pytest.fixture(scope="module")
def names(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """The archive in two files."""
    folder, lines = tmp_path_factory.mktemp("archive"), archive()
    return [write(folder / "a.ndjson", lines[:90]), write(folder / "b.ndjson", lines[90:])]


@pytest.fixture(scope="module")
def whole(names: list[str], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The results of its audit."""
    folder = tmp_path_factory.mktemp("whole")
    run(*names, output=folder, workers=1)
    return folder


def test_any_number_of_workers_and_any_chunks_give_the_same_bytes(
    names: list[str], whole: Path, tmp_path: Path
) -> None:
    for workers, size in ((2, 2**20), (3, 1), (2, 20_000), (None, 100_000)):
        output = tmp_path / f"{workers}-{size}"
        run(*names, output=output, workers=workers, size=size)
        assert results(output) == results(whole)


def test_each_finding_is_listed_with_its_file_and_line(names: list[str], whole: Path) -> None:
    expected: dict[str, list[Any]] = {"differences": [], "failed": [], "damaged": []}
    for name in names:
        content = Path(name).read_bytes().split(b"\n")[:-1]
        tally = audit_records(content, REGISTRY, KEYS.verifying, True)
        for found in tally.findings:
            of_round = {"outcome_id": found.outcome_id, "ruleset": found.ruleset}
            place = {"file": name, "line": found.line, **of_round}
            if isinstance(found.what, Difference):
                values = found.what._asdict().items()
                told = {name: value for name, value in values if value is not ABSENT}
                expected["differences"].append({**place, **told})
            else:
                check, code, detail = found.what
                expected["failed"].append({**place, "check": check, "code": code, "detail": detail})
        expected["damaged"] += [{"file": name, **damage._asdict()} for damage in tally.damages]
    assert {name: listed(whole / f"{name}.ndjson") for name in expected} == expected
    assert all(len(lines) > 3 for lines in expected.values())


def test_a_planted_difference_can_be_found_again_in_its_file(whole: Path) -> None:
    for found in listed(whole / "differences.ndjson"):
        record = json.loads(Path(found["file"]).read_bytes().split(b"\n")[found["line"] - 1])
        assert record["outcome_id"] == found["outcome_id"]
        if found["pointer"] == "/totals/net":
            assert record["totals"]["net"] == found["claimed"] == found["computed"] + 1


def test_the_summary_adds_up(names: list[str], whole: Path) -> None:
    summary = json.loads((whole / "summary.json").read_bytes())
    assert not summary["valid"]
    assert (summary["engine"], summary["certificates"]) == (ENGINE, True)
    total = Counter[str]()
    for row in summary["rulesets"].values():
        assert list(row) == list(COLUMNS)
        total.update(row)
    assert summary["total"] == {**total, "damaged": 4}
    assert all(type(value) is int for value in summary["total"].values())
    assert total["rounds"] == total["equal"] + total["differing"] + total["unchecked"]
    assert total["differences"] == len(listed(whole / "differences.ndjson"))
    assert [file["file"] for file in summary["files"]] == names
    for column in ("rounds", "damaged"):
        assert sum(file[column] for file in summary["files"]) == summary["total"][column]
    assert sum(file["lines"] for file in summary["files"]) == len(archive())


def test_the_table_has_the_numbers_of_the_summary(whole: Path) -> None:
    summary = json.loads((whole / "summary.json").read_bytes())
    rows = list(csv.DictReader((whole / "summary.csv").read_text().splitlines()))
    assert [row.pop("ruleset") for row in rows] == [*summary["rulesets"], "total"]
    numbers = [{name: int(value) for name, value in row.items()} for row in rows]
    assert numbers == [*({**row, "damaged": 0} for row in summary["rulesets"].values()), summary["total"]]


def test_the_guide_names_every_file_and_column(whole: Path) -> None:
    files = table(guide("audit.md"), "file", "holds")
    assert {name.strip("`") for name, _ in files} == {path.name for path in whole.iterdir()}
    rows = table(guide("audit.md"), "column", "counts")
    columns = [name for cell, _ in rows for name in re.findall("`([^`]+)`", cell)]
    assert columns == [*(name for name in COLUMNS if name not in CODES), "damaged"]


def test_parts_add_up_to_the_whole(names: list[str], whole: Path, tmp_path: Path) -> None:
    apart: Counter[str] = Counter()
    for place, name in enumerate(names):
        apart.update(run(name, output=tmp_path / str(place))["total"])
    together = write(tmp_path / "together", archive())
    assert apart == run(together, output=tmp_path / "whole")["total"]
    assert apart == json.loads((whole / "summary.json").read_bytes())["total"]


@pytest.mark.parametrize("format", ["gz", "zst", "parquet"])
def test_every_format_gives_the_same(format: str, whole: Path, tmp_path: Path) -> None:
    lines = [line for line in archive() if b"\xff" not in line]
    plain, other = tmp_path / "x.ndjson", tmp_path / f"x.{format}"
    write(plain, lines)
    WRITERS[format](other, plain.read_bytes())
    for name in (plain, other):
        run(str(name), output=tmp_path / name.suffix, size=50_000)
    of_other, of_plain = (results(tmp_path / name.suffix) for name in (other, plain))
    for output, told in of_other.items():
        assert told.replace(bytes(other), bytes(plain)) == of_plain[output]


def test_all_right_is_told(tmp_path: Path) -> None:
    lines = [line(outcome) for outcome in outcomes()]
    summary = run(write(tmp_path / "right", lines), output=tmp_path / "out")
    assert summary["valid"]
    assert summary["total"]["equal"] == len(lines)
    assert [(tmp_path / "out" / name).read_bytes() for name in OUTPUTS[:3]] == [b""] * 3


def test_a_stream_that_breaks_is_told_and_the_next_file_goes_on(tmp_path: Path) -> None:
    right = [line(outcome) for outcome in outcomes()[:60]]
    WRITERS["gz"](tmp_path / "a.gz", b"".join(one + b"\n" for one in right))
    content = (tmp_path / "a.gz").read_bytes()
    (tmp_path / "a.gz").write_bytes(content[: len(content) // 2])
    other = write(tmp_path / "b", right)
    summary = run(str(tmp_path / "a.gz"), other, output=tmp_path / "out")
    broken, good = summary["files"]
    assert 0 < broken["rounds"] < 60 == good["rounds"]
    assert (broken["damaged"], good["damaged"]) == (1, 0)
    (damage,) = listed(tmp_path / "out" / "damaged.ndjson")
    assert damage["file"] == str(tmp_path / "a.gz")
    assert damage["line"] == broken["lines"] + 1
    assert "breaks here" in damage["why"]
    assert not summary["valid"]


# What stands in the way.


def refused(*names: str, **options: Any) -> str:
    with pytest.raises(RefusedAudit) as caught:
        run(*names, **options)
    assert caught.value.status == 2
    return str(caught.value)


def test_no_file_is_audited_twice(names: list[str], tmp_path: Path) -> None:
    link = tmp_path / "link"
    link.symlink_to(names[0])
    assert "same file" in refused(*names, str(link), output=tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_results_are_never_written_over(names: list[str], whole: Path) -> None:
    before = results(whole)
    assert "--resume" in refused(*names, output=whole)
    assert results(whole) == before
    (whole / "state.json").rename(whole / "state.away")
    assert "--output" in refused(*names, output=whole)
    (whole / "state.away").rename(whole / "state.json")
    assert results(whole) == before


def test_two_audits_do_not_share_a_folder(names: list[str], tmp_path: Path) -> None:
    by = terms(REGISTRY, KEYS.verifying, True)
    with opened(tmp_path, [inspect(name) for name in names], by.identity(), resume=False):
        assert "at work" in refused(*names, output=tmp_path)


def test_missing_files_and_folders_that_cannot_be_are_told(names: list[str], tmp_path: Path) -> None:
    assert "missing" in refused(names[0], str(tmp_path / "missing"), output=tmp_path / "out")
    assert names[0] in refused(*names, output=Path(names[0]) / "out")


def test_a_file_that_changes_meanwhile_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    name = write(tmp_path / "a", [line(outcome) for outcome in outcomes()[:5]])
    finish = Terms.auditor

    def appended(self: Terms) -> Any:
        with Path(name).open("ab") as file:
            file.write(b"\n")
        return finish(self)

    monkeypatch.setattr(Terms, "auditor", appended)
    assert "changed" in refused(name, output=tmp_path / "out")
    assert not (tmp_path / "out" / "summary.json").exists()


@pytest.mark.parametrize("state", ["", "{", "[]", "{}", '{"identity": {}}'])
def test_a_damaged_state_is_told(state: str, names: list[str], tmp_path: Path) -> None:
    run(*names, output=tmp_path)
    (tmp_path / "state.json").write_text(state)
    with pytest.raises(RefusedAudit, match=r"state\.json is damaged"):
        run(*names, output=tmp_path, resume=True)


def test_a_worker_that_dies_is_told(
    names: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def dies(lines: Iterable[bytes]) -> None:
        os.kill(os.getpid(), signal.SIGKILL)

    with monkeypatch.context() as patch:
        patch.setattr(Terms, "auditor", lambda _: dies)
        assert "--resume" in refused(*names, output=tmp_path)
    assert run(*names, output=tmp_path, resume=True)["total"]["rounds"] > 100


def test_an_engine_that_is_not_its_releases_audits_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    by = terms(REGISTRY, KEYS.verifying, True)
    with pytest.raises(RefusedAudit, match=r"0\.9\.0"):
        auditor_by(by._replace(engine={**by.engine, "version": "0.9.0"}).packed())
    altered = [FileCheck("game/hands.py", "a", "b"), FileCheck("cli.py", "a", "a")]
    monkeypatch.setattr("service.audit.terms.check_files", lambda: altered)
    with pytest.raises(RefusedAudit, match=r"release: game/hands\.py$"):
        by.auditor()


def test_terms_hold_no_secret() -> None:
    file = new_keys()
    told = str(terms(REGISTRY, read_keys(file).verifying, True))
    assert file["keys"][0]["x"] in told
    for key in file["keys"]:
        assert key.get("d", key.get("k")) not in told


# How far it is.


def test_progress_is_told_line_by_line(
    names: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(progress, "TELL_EVERY", 0)
    run(*names, output=tmp_path, size=100_000)
    told = capsys.readouterr().err.splitlines()
    assert len(told) > 3
    assert all(text.startswith("audit: ") and "rounds" in text and "/s" in text for text in told)
    assert "100%, 0 min left" in told[-1]
    shares = [int(text.split("%")[0].split()[-1]) for text in told]
    assert shares == sorted(shares)


def test_progress_is_a_bar_on_a_terminal(
    names: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("tqdm")
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    run(*names, output=tmp_path)
    told = capsys.readouterr().err
    assert "100%" in told
    assert "rounds" in told
    monkeypatch.setattr(progress, "import_module", lambda _: (_ for _ in ()).throw(ImportError))
    run(*names, output=tmp_path / "again")
    assert capsys.readouterr().err == "", "without the library there is no bar, and nothing breaks"
