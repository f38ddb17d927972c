"""A ruleset as a player reads it: its odds as one table, its other rows in words, in every language alike."""

import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final, NamedTuple

from service.api import verify
from service.game.hands import KINDS

WORDS: Final = tomllib.loads(Path(__file__).with_name("words.toml").read_text(encoding="utf-8"))
"""The words of the pages, by language."""
_EXAMPLES: Final = {kind: tuple(cards.split()) for kind, cards in WORDS.pop("examples").items()}
_KINDS: Final = {language: texts["kinds"] for language, texts in verify.texts().items()}


class Value(NamedTuple):
    """The value of a row in words, and the decision by which it was assumed; None where it is printed."""

    text: str
    decision: str | None


class Pay(NamedTuple):
    """A combination with an example, and what it pays in each column; None where the stake is lost."""

    kind: str
    cards: tuple[str, ...]
    odds: tuple[Value | None, ...]


class Section(NamedTuple):
    """One part of the terms: its rows, each with a label, and a remark; or the remark that there is none."""

    title: str | None
    rows: list[tuple[str, Value]]
    remark: str | None


class Rules(NamedTuple):
    """What the rows of a ruleset say."""

    columns: list[str]
    pays: list[Pay]
    own_rows: list[tuple[str, Value]]
    sections: list[Section]


def rules_in_words(document: Mapping[str, Any], language: str) -> Rules:
    """The rows of a published ruleset document, in a language of ``WORDS``."""
    words, kinds = WORDS[language], _KINDS[language]

    def spoken(value: int | str) -> str:
        return kinds[value] if isinstance(value, str) else f"{value:,}".replace(",", words["thousands"])

    def odds(row: Mapping[str, Any]) -> Value:
        return Value(f"{spoken(row['value'])}:1", row.get("decision"))

    def term(words: Mapping[str, str], row: Mapping[str, Any]) -> Value:
        value = row["value"]
        text = words.get(str(value).lower()) or words["value"].format(value=spoken(value))
        return Value(text, row.get("decision"))

    def sections() -> Iterator[Section]:
        for name, said in words["sections"].items():
            rows = document.get(name, {})
            terms = [(said[key]["label"], term(said[key], rows[key])) for key in said if key in rows]
            if terms:
                yield Section(said["title"], terms, said.get("remark"))
            elif not rows:
                yield Section(None, [], said["absent"])

    tables = {"bet": document["bet"]["odds"], **document.get("bonus", {})}
    return Rules(
        columns=[words["page"][name] for name in tables],
        pays=[
            Pay(
                kinds[kind].capitalize(),
                _EXAMPLES[kind],
                tuple(odds(table[kind]) if kind in table else None for table in tables.values()),
            )
            for kind in reversed(KINDS[1:])
        ],
        own_rows=[
            (" + ".join(kinds[kind] for kind in pair.split("+")), odds(row))
            for pair, row in document["bet"].get("own_rows", {}).items()
        ],
        sections=list(sections()),
    )
