"""The guide to ruleset files tells the truth: its example is loaded and played, its tables are compared."""

import json
import re
from pathlib import Path

import pytest
from marshmallow import fields

from service.fields import Choice, Flag, Text, Whole
from service.game.hands import KINDS
from service.game.ruleset import MalformedRuleset
from service.registry import _RULESET, BUILT_IN, configured_rulesets, load_ruleset
from service.rounds import settle_request
from service.schemas import ROUND, load
from tests.docs.guides import table
from tests.support.parameters import parameters, schema_of
from tests.support.rounds import box_of

GUIDE = (Path(__file__).parents[2] / "docs" / "rulesets.md").read_text(encoding="utf-8")
ID = "harbour-oasis-1"
PER_KIND = {
    "bet.odds": "bet.odds.*",
    "bet.own_rows": 'bet.own_rows."*+*"',
    "bonus.dealt": "bonus.dealt.*",
    "bonus.with_sixth": "bonus.with_sixth.*",
}


def _fences(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", GUIDE, re.DOTALL | re.MULTILINE)


@pytest.fixture
def houses(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with the guide's example, named in ``RULESETS_DIR``."""
    (example,) = _fences("toml")
    (tmp_path / f"{ID}.toml").write_text(example, encoding="utf-8")
    monkeypatch.setenv("RULESETS_DIR", str(tmp_path))
    return tmp_path


def test_the_example_is_served_beside_the_built_in_rulesets(houses: Path) -> None:
    assert set(configured_rulesets()) == {ID, *(path.stem for path in BUILT_IN.glob("*.toml"))}


def test_the_round_of_the_example_is_settled_as_shown(houses: Path) -> None:
    request, shown = map(json.loads, _fences("json"))
    outcome = settle_request(load(ROUND, request), configured_rulesets())
    assert set(shown) == {"dealer", "boxes", "totals"}
    assert {name: outcome[name] for name in shown} == shown
    ante, bet, *_ = box_of(outcome)["bets"]
    assert (ante["returned"], bet["odds"]) == (2 * ante["stake"], 3)


@pytest.mark.parametrize(("line", "refusal"), table(GUIDE, "this line", "is refused with"))
def test_a_wrong_line_is_refused_as_the_guide_says(houses: Path, line: str, refusal: str) -> None:
    line = line.strip("`")
    path = houses / f"{ID}.toml"
    key = line.partition(" = ")[0]
    example = path.read_text(encoding="utf-8")
    wrong, replaced = re.subn(rf"^{key} = .*$", line, example, count=1, flags=re.MULTILINE)
    assert replaced
    path.write_text(wrong, encoding="utf-8")
    with pytest.raises(MalformedRuleset) as error:
        load_ruleset(path)
    assert str(error.value) == f"{path}: {refusal}"


def test_the_table_of_keys_is_what_the_loader_reads() -> None:
    shown = {key.strip("`"): (value, needed) for key, value, needed, *_ in table(GUIDE, *_COLUMNS)}
    read = {
        PER_KIND.get(key.rpartition(".")[0], key): (_value(row), needed) for key, row, needed in parameters()
    }
    assert shown == read
    kinds = re.findall("`(\\w+)`", GUIDE[GUIDE.index("stands a kind:") : GUIDE.index("is refused.")])
    assert kinds == list(KINDS[1:])


def test_the_lengths_of_texts_are_those_of_the_loader() -> None:
    decisions = _RULESET.fields["decisions"]
    assert isinstance(decisions, fields.List)
    nested = {**_RULESET.fields, "[[decisions]]": decisions.inner}
    for key, length, what in table(GUIDE, "text", "characters", "what it says"):
        texts = schema_of(nested[key.strip("`")]).fields
        assert {_length(texts[language]) for language in ("en", "ru")} == {length}
        if "id" in texts:
            assert f"`id` of {_length(texts['id'])} characters" in what


_COLUMNS = ("key", "value", "needed", "meaning", "clause")


def _length(field: object) -> str:
    assert isinstance(field, Text)
    return f"{field.minimum} to {field.maximum:,}"


def _value(field: object) -> str:
    """A row's allowed values as the guide writes them."""
    if isinstance(field, Whole):
        return f"{field.minimum} to {'10¹²' if field.maximum == 10**12 else f'{field.maximum:,}'}"
    if isinstance(field, Flag):
        return "`true`, `false`"
    assert isinstance(field, Choice)
    if field.values == KINDS[1:]:
        return "a kind"
    return ", ".join(f"`{json.dumps(value)}`" for value in field.values)
