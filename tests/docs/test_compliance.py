"""The compliance matrix: every requirement once, and nothing named in it that does not exist."""

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Final, NamedTuple

import pytest

from tests.docs.guides import ROOT, guide, table

TEXT: Final = guide("compliance.md")
IDS: Final = [
    f"{group}-{number:02}"
    for group, last in (("R", 10), ("G", 9), ("D", 3), ("S", 3), ("I", 1), ("M", 2))
    for number in range(1, last + 1)
]
STATUSES: Final = ["met", "operator", "not applicable", "open"]
PATH: Final = re.compile(r"`((?:service|tests|deploy|docs)/[^`]*)`")


class Row(NamedTuple):
    """One requirement as the matrix has it."""

    id: str
    clause: str
    asks: str
    where: str
    proof: str
    status: str

    @property
    def code(self) -> list[str]:
        """Files of the service, or names in them."""
        return PATH.findall(self.where)

    @property
    def tests(self) -> list[str]:
        """Files of tests, or tests in them."""
        return PATH.findall(self.proof)


ROWS: Final = [Row(*cells) for cells in table(TEXT, *Row._fields)]


def _resolve(path: str, separator: str) -> bool:
    """Whether a file exists and has the name behind the separator, if one is given."""
    file, _, name = path.partition(separator)
    return (ROOT / file).is_file() and (not name or name in _names(ROOT / file))


@cache
def _names(file: Path) -> frozenset[str]:
    """All that a module defines at its top and in its classes, the latter as ``Class.name``."""
    return frozenset(_defined(ast.parse(file.read_text(encoding="utf-8")).body))


def _defined(body: list[ast.stmt], owner: str = "") -> Iterator[str]:
    for statement in body:
        match statement:
            case ast.FunctionDef(name=name):
                yield owner + name
            case ast.ClassDef(name=name, body=inner):
                yield owner + name
                yield from _defined(inner, f"{owner}{name}.")
            case ast.AnnAssign(target=ast.Name(id=name)) | ast.Assign(targets=[ast.Name(id=name)]):
                yield owner + name


@pytest.mark.parametrize(
    ("path", "separator", "there"),
    [
        ("tests/docs/test_compliance.py", ":", True),
        ("tests/docs/test_compliance.py:Row", ":", True),
        ("tests/docs/test_compliance.py:Row.code", ":", True),
        ("tests/docs/test_compliance.py:Row.status", ":", True),
        ("tests/docs/test_compliance.py:IDS", ":", True),
        ("tests/docs/test_compliance.py:code", ":", False),
        ("tests/docs/test_compliance.py:Row.parse", ":", False),
        ("tests/docs/nothing.py", ":", False),
        ("tests/docs/test_compliance.py::test_what_exists", "::", True),
        ("tests/docs/test_compliance.py::test_nothing", "::", False),
    ],
)
def test_what_exists(path: str, separator: str, there: bool) -> None:
    assert _resolve(path, separator) is there


def test_every_requirement_stands_once_and_in_order() -> None:
    assert [row.id for row in ROWS] == IDS


def test_statuses_are_those_explained() -> None:
    assert [status.strip("`") for status, _ in table(TEXT, "status", "meaning")] == STATUSES
    assert {row.status for row in ROWS} <= set(STATUSES)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.id)
def test_what_a_row_names_exists(row: Row) -> None:
    assert row.clause
    assert row.asks
    for path in row.code:
        assert path.startswith(("service/", "deploy/"))
        assert _resolve(path, ":"), path
    for path in row.tests:
        assert re.fullmatch(r"tests/(\w+/)*test_\w+\.py(::test_\w+)?", path), path
        assert _resolve(path, "::"), path


@pytest.mark.parametrize("row", [row for row in ROWS if row.status == "met"], ids=lambda row: row.id)
def test_what_is_met_has_code_and_a_test(row: Row) -> None:
    assert row.code
    assert row.tests


@pytest.mark.parametrize(
    ("heading", "status"), [("What the operator has to add", "operator"), ("What is open", "open")]
)
def test_what_is_not_met_is_explained(heading: str, status: str) -> None:
    section = TEXT.partition(f"## {heading}\n")[2].partition("\n## ")[0]
    told = re.findall(r"^- ([A-Z]-\d\d): \w", section, re.MULTILINE)
    assert told == [row.id for row in ROWS if row.status == status]


def test_no_laboratory_is_claimed() -> None:
    for name in ("certificates.md", "compliance.md"):
        text = " ".join(guide(name).split())
        assert re.search(r"(No|no) (test )?laboratory|a test laboratory has .* None has", text), name
