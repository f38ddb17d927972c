"""Every clause of the rule book is named by a test: ``test_S7_insurance_is_lost_on_a_tie``."""

import ast
import re
from collections import defaultdict
from pathlib import Path

TESTS = Path(__file__).parent.parent
CLAUSES = {
    f"{section}{number}"
    for section, last in {"C": 6, "D": 5, "A": 10, "S": 9, "R": 7}.items()
    for number in range(1, last + 1)
}


def named() -> dict[str, set[str]]:
    """The tests that name each clause, over all of ``tests``."""
    tests: defaultdict[str, set[str]] = defaultdict(set)
    for path in sorted(TESTS.rglob("test_*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.FunctionDef) and node.name.startswith("test_"):
                for clause in re.findall(r"(?<=_)[CDASR][1-9][0-9]?(?=_|$)", node.name):
                    tests[clause].add(f"{path.relative_to(TESTS)}::{node.name}")
    return tests


def test_every_clause_has_a_test() -> None:
    assert CLAUSES - named().keys() == set()


def test_no_test_names_a_clause_that_does_not_exist() -> None:
    tests = named()
    assert {clause: tests[clause] for clause in tests.keys() - CLAUSES} == {}
