"""The rule book against the engine and against whoever cites it: its clauses, tables and examples."""

import re
from collections import Counter
from collections.abc import Callable, Iterator
from io import StringIO
from pathlib import Path
from tokenize import COMMENT, NAME, TokenInfo, generate_tokens

import pytest

from service.fairness.shuffle import Draw, commitment, shuffled_deck
from service.game.cards import CODES, card_codes
from service.game.documents import view_document
from service.game.hands import GAME_FLOOR, KINDS, Evaluation, Kind, evaluate
from service.game.round import IllegalAction, Round
from service.game.ruleset import Hand, Ruleset
from service.game.stakes import Table
from service.registry import Registry
from tests.conftest import Tally
from tests.docs.guides import guide, table
from tests.support import oracle
from tests.support.cards import cards
from tests.support.rounds import Seat, box_of, play, seat, settled_document

ROOT = Path(__file__).parents[2]
BOOK = ROOT / "docs" / "rulebook.md"
TEXT = BOOK.read_text(encoding="utf-8")
HOUSES = ("trainer", "online", "casino")
FENCE = re.compile(r"^```round (?P<clauses>[^\n]+)\n(?P<lines>.*?)^```$", re.DOTALL | re.MULTILINE)
CLAUSES = [
    clause
    for letter, last in (("C", 6), ("D", 5), ("A", 10), ("S", 9), ("R", 7), ("I", 23))
    for clause in (f"{letter}{number}" for number in range(1, last + 1))
]


# Clauses and who cites them. In tests it is names, comments and docstrings that cite: other texts are data.

CITATION = re.compile(r"(?<![A-Za-z0-9])[CDASRI][1-9][0-9]?(?![A-Za-z0-9])")


def _files(*patterns: str) -> list[Path]:
    return sorted(path for pattern in patterns for path in ROOT.glob(pattern))


def _cited(path: Path) -> set[str]:
    text = path.read_text(encoding="utf-8")
    if path.is_relative_to(ROOT / "tests"):
        words = (token.string for token in generate_tokens(StringIO(text).readline) if _speaks(token))
        text = "\n".join(words)
    return _cited_in(text)


def _cited_in(text: str) -> set[str]:
    """The clauses that a text cites; a string that draws, as in ``d="M1 2C9.7 21 …"``, cites nothing."""
    return set(
        CITATION.findall(_COMMANDS.sub(lambda found: "" if _is_path_data(found[0]) else found[0], text))
    )


# Strings of nothing but SVG path commands. Each command takes numbers by a fixed count, which no citation of
# clauses has: `"C1"` and `"S4 A3"` draw nothing.

_ARITY = {"M": 2, "L": 2, "T": 2, "H": 1, "V": 1, "S": 4, "Q": 4, "C": 6, "A": 7}
_COMMANDS = re.compile(r"""(?<=(["'`]))[MmLlHhVvCcSsQqTtAa][MmLlHhVvCcSsQqTtAaZz0-9 ,.+-]*(?=\1)""")


def _is_path_data(text: str) -> bool:
    """Whether a text is SVG path data: commands, each with as many numbers as it takes, or a multiple."""
    for command, numbers in re.findall("([A-Za-z])([^A-Za-z]*)", text):
        count = len(re.findall(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)", numbers))
        if command in "Zz":
            if count:
                return False
        elif not count or count % _ARITY[command.upper()]:
            return False
    return True


def _speaks(token: TokenInfo) -> bool:
    return token.type in (NAME, COMMENT) or token.string.startswith('"""')


def test_the_book_has_each_clause_once_under_its_anchor() -> None:
    anchors = re.findall(r'<a id="([^"]*)"></a>(?:\*\*)?(\w+) ', TEXT)
    assert [clause for _, clause in anchors] == CLAUSES
    assert [anchor for anchor, _ in anchors] == [clause.lower() for clause in CLAUSES]
    assert TEXT.count("<a id=") == len(CLAUSES)


@pytest.mark.parametrize(
    ("text", "clauses"),
    [
        ("test_S4_the_cap", {"S4"}),
        ("(A10, I23) C1–C6", {"A10", "I23", "C1", "C6"}),
        ("A-1 4s As Td casino-1 S606 SHA256 RUF012 D100 R0", set()),
        # Path data of a drawing, in each kind of quotes, cites nothing …
        ('"C9.7 21 10.7 19 10.9 16.4 9.8 17.9 8.2 18.8 6.4 18.8" +', set()),
        ("<path d='M1 2 C1 2 3 4 5 6 S4 1 2 3 A5 5 0 1 1 8 9.6 Z'/>", set()),
        ("`M-30 78 l46-72 A1,2,3,4,5,6,7`", set()),
        # … but nothing else is path data: too few numbers, too many, other words, no quotes or half of them.
        ('"C1" \'S4 A3\' `A10` "C1, C2"', {"C1", "S4", "A3", "A10", "C2"}),
        ('"C1 2 3 4 5" "C2 2 3 4 5 6 7"', {"C1", "C2"}),
        ('"M1 2 C3 2 3 4 5 6 Z1"', {"C3"}),
        ('"see C4 2 3 4 5 6"', {"C4"}),
        ("C5 2 3 4 5 6", {"C5"}),
        ("\"C6 2 3 4 5 6'", {"C6"}),
        ('"R5 1 2" "I2 1" "D3 1"', {"R5", "I2", "D3"}),
    ],
)
def test_what_a_citation_is(text: str, clauses: set[str]) -> None:
    assert _cited_in(text) == clauses


def test_every_clause_that_is_cited_stands_in_the_book() -> None:
    files = _files(
        *(f"service/**/*.{kind}" for kind in ("py", "toml", "html", "js")),
        "tests/**/*.py",
        "docs/**/*.md",
        "openapi.yaml",
        "README.md",
    )
    assert {path.name for path in files} >= {
        *("round.py", "casino-1.toml", "rules.js", "table.js", "test_hands.py", "rulebook.md")
    }
    strangers = {
        str(path.relative_to(ROOT)): sorted(unknown)
        for path in files
        if (unknown := _cited(path) - set(CLAUSES))
    }
    assert strangers == {}


def test_every_clause_is_cited_by_a_test() -> None:
    cited = {clause for fence in FENCE.finditer(TEXT) for clause in fence["clauses"].split()}
    for path in _files("tests/**/test_*.py"):
        cited |= _cited(path)
    assert [clause for clause in CLAUSES if clause not in cited] == []


def test_every_decision_is_stated_by_a_ruleset_and_no_other_is(registry: Registry) -> None:
    stated = {one["id"] for house in HOUSES for one in registry[f"{house}-1"].document["decisions"]}
    assert stated == {clause for clause in CLAUSES if clause[0] == "I"}


def test_links_between_documents_lead_somewhere() -> None:
    for path in _files("docs/**/*.md", "README.md", "CHANGELOG.md"):
        text = path.read_text(encoding="utf-8")
        for target, anchor in re.findall(r"\]\((?!\w+:)([^)#]*)#?([^)]*)\)", text):
            document = path.parent / target if target else path
            assert document.is_file(), f"{path.name}: {target}"
            if document.resolve() == BOOK and anchor:
                assert f'<a id="{anchor}">' in TEXT, f"{path.name}: #{anchor}"


def test_design_places_every_clause_in_code_that_exists() -> None:
    rows = re.findall(r"^\| ([CDASR]\d[^|]*) \| (.+) \|$", guide("design.md"), re.MULTILINE)
    placed = [clause for clauses, _ in rows for clause in clauses.split(", ")]
    assert sorted(placed) == sorted(clause for clause in CLAUSES if clause[0] != "I")
    for _, places in rows:
        names = re.findall(r"`([\w.]+)`", places)
        assert names
        for name in names:
            room, _, what = name.rpartition(".")
            *inner, last = room.split(".")
            module, owner = (inner, last) if last[0].isupper() else ([*inner, last], None)
            code = (ROOT / "service").joinpath(*module).with_suffix(".py").read_text(encoding="utf-8")
            assert owner is None or re.search(rf"^class {owner}\b", code, re.MULTILINE), name
            assert re.search(rf"^(?: *def |class )?{what}\b", code, re.MULTILINE), name


# The tables.


def _kind(words: str) -> Kind:
    name = words.strip("*").replace("-", "_").replace(" ", "_")
    return next(kind for kind in KINDS if kind == {"nothing": "none"}.get(name, name))


def _words(kind: Kind) -> str:
    return "ace-king" if kind == "ace_king" else kind.replace("_", " ")


def _number(cell: str) -> int:
    return int(cell.replace(",", ""))


def _counted(size: int) -> Counter[tuple[Kind, Kind | None]]:
    """How many hands have each result, class of hands by class of hands."""
    counted: Counter[tuple[Kind, Kind | None]] = Counter()
    for codes, alike in [*oracle.classes_without_flush(size), *oracle.classes_with_flush(size)]:
        _, main, second = evaluate(cards(" ".join(codes)))
        counted[main, second] += alike
    return counted


def test_C2_the_kinds_of_the_book_are_those_of_the_engine() -> None:
    assert [_kind(kind) for kind, _ in table(TEXT, "kind", "what it is")] == list(reversed(KINDS))


def test_C3_C4_I21_comparisons() -> None:
    for one, other, higher, _ in table(TEXT, "one hand", "other hand", "the higher", "why"):
        mine, theirs = (evaluate(cards(hand.strip("`"))).strength for hand in (one, other))
        assert higher == ("one" if mine > theirs else "other" if mine < theirs else "tie"), one


def test_C5_I1_examples(casino: Ruleset) -> None:
    for codes, main, second, odds, *_ in table(TEXT, "cards", "main", "second", "pays", "why"):
        _, *found = casino.hand(cards(codes.strip("`")))
        assert found == [_kind(main), None if second == "–" else _kind(second), int(odds)], codes


def test_C5_odds_of_two_combinations_are_those_of_online_and_casino(online: Ruleset, casino: Ruleset) -> None:
    rows = table(TEXT, "main", "second", "odds", "five cards", "six cards")
    assert len(rows) == 21
    for main, second, odds, _, _ in rows:
        of_all, _, of_online = odds.partition(", `online` ")
        result = Evaluation(0, _kind(main), _kind(second))
        assert casino.pay(result).odds == int(of_all), main
        assert online.pay(result).odds == int(of_online or of_all), main


def test_C5_C6_counts_of_all_hands() -> None:
    five, six = _counted(5), _counted(6)
    two = table(TEXT, "main", "second", "odds", "five cards", "six cards")
    one = table(TEXT, "main only", "six cards")
    assert six == Counter(
        {(_kind(main), _kind(second)): _number(count) for main, second, _, _, count in two}
        | {(_kind(main), None): _number(count) for main, count in one}
    )
    for main, second, _, count, _ in two:
        assert five[_kind(main), _kind(second)] == _number(count)
    by_kind: Counter[Kind] = Counter()
    for (kind, _), count_of_hands in five.items():
        by_kind[kind] += count_of_hands
    for words, printed in table(TEXT, "kind", "five cards"):
        assert by_kind.pop(_kind(words)) == _number(printed)
    assert set(by_kind) == {"ace_king", "none"}
    have_game = five.total() - by_kind["none"]
    assert evaluate(cards("Ac Kd 4h 3s 2c")).strength == GAME_FLOOR
    assert f"has game in {have_game:,} of the {five.total():,} deals" in TEXT
    assert f"all {five.total():,} five-card and {six.total():,} six-card hands" in TEXT


def test_I3_I8_I13_I14_section_6_shows_the_rulesets_as_loaded(registry: Registry) -> None:
    shown = {row[0]: row[1:] for row in table(TEXT, "rule", "`trainer`", "`online`", "`casino`")}
    del shown["text behind it"]
    columns = [_section_6(registry[f"{house}-1"].ruleset) for house in HOUSES]
    loaded = {row: [column[row] for column in columns] for row in columns[0]}
    empty = [row for row, cells in loaded.items() if row.startswith("bonus: ") and set(cells) == {"–"}]
    assert [_kind(row.removeprefix("bonus: ")) for row in empty] == ["pair", "two_pair"]
    assert shown == {row: cells for row, cells in loaded.items() if row not in empty}


def _section_6(ruleset: Ruleset) -> dict[str, str]:
    """The rows of the table as a ruleset fills its column."""
    two, limits, purchase = ruleset.combinations == 2, ruleset.limits, ruleset.game_purchase
    assert purchase
    return {
        "boxes": f"1–{ruleset.max_boxes}, {_OPEN[ruleset.open_boxes]}",
        "dealing": {"one_by_one": "one card at a time"}.get(ruleset.deal_order, "five at a time"),
        "exchange": "{}–{} cards".format(*ruleset.exchange) if ruleset.exchange else "none",
        "sixth card": _yes(ruleset.sixth_card),
        "combinations paid": "two" if two else "main only",
        **{f"bet: {_words(kind)}": str(ruleset.bet_odds[kind]) for kind in KINDS[1:]},
        "bet: two pair + two pair": str(ruleset.odds_table["two_pair", "two_pair"]) if two else "–",
        "ante when the box wins": _ANTES[ruleset.ante_on_win],
        "bonus goes by": "dealt five / best five with a sixth card"
        if ruleset.bonus and ruleset.bonus.with_sixth
        else "dealt five",
        **{f"bonus: {_words(kind)}": _bonus(ruleset, kind) for kind in KINDS[1:]},
        "blind sixth card after a bonus win": _yes(ruleset.blind_sixth),
        "insurance": _insurance(ruleset),
        "price of a game purchase": purchase.price.replace("_", " ").replace("the ante", "the ante itself"),
        "dealer draws again on the same rank": _yes(purchase.redraw_same_rank),
        "ante after a failed purchase": _ANTES[purchase.failed_ante],
        "limits of a stake": f"{limits.min_stake}–{limits.max_stake:,}"
        if limits.max_stake
        else f"from {limits.min_stake}",
    }


_OPEN = {"all": "all open", "one": "one open", "one_per_player": "one open per player"}
_ANTES = {"paid": "paid 1:1", "returned": "returns", "lost": "lost"}


def _yes(value: bool) -> str:
    return "yes" if value else "no"


def _bonus(ruleset: Ruleset, kind: Kind) -> str:
    tables = (ruleset.bonus.dealt, ruleset.bonus.with_sixth) if ruleset.bonus else ()
    return " / ".join(str(table[kind]) for table in tables if table and kind in table) or "–"


def _insurance(ruleset: Ruleset) -> str:
    terms = ruleset.insurance
    if terms is None:
        return "none"
    assert (terms.minimum, terms.maximum) == ("min_stake", "win")  # A3
    return f"from {_words(terms.threshold)}, {_LOST[terms.on_tie]} on a tie"


_LOST = {"lose": "lost", "return": "returned"}


def test_R3_R4_R5_the_check_of_section_7() -> None:
    log: list[Draw] = []
    deck = shuffled_deck(bytes(32), log=log)
    printed = re.search(r"```deck\n(.*?)```", TEXT, re.DOTALL)
    assert printed
    assert printed[1].split() == card_codes(deck)
    assert f"`{commitment(bytes(32))}`" in TEXT
    assert [(draw.i, draw.rejected) for draw in log if draw.rejected] == [(48, (246,))]
    assert "52 bytes are used: at i = 48 the byte 246" in TEXT
    assert sum(1 + len(draw.rejected) for draw in log) == 52


# The examples: lines that set a round up and lines that state what comes of it.


@pytest.mark.parametrize(
    "lines", [pytest.param(fence["lines"], id=fence["clauses"]) for fence in FENCE.finditer(TEXT)]
)
def test_example(lines: str, registry: Registry, tally: Tally) -> None:
    set_up: dict[str, str] = {}
    stated = 0
    for line in lines.splitlines():
        name, value = re.fullmatch(r"(\w+(?: \d)?)(?:  +(.*))?", line).groups(default="")  # type: ignore[union-attr]
        what, _, number = name.partition(" ")
        if what in _SAYS:
            said = _SAYS[what](_Example(set_up, registry), int(number or 0))
            assert said == value, f"{line}\n{set_up}"
            stated += 1
        else:
            assert what in {"ruleset", "limits", "box", "dealer", "next", "actions"}, line
            set_up[name] = value
    assert stated
    tally("statements in the rule book's examples", stated)


class _Example:
    """A round as the lines so far set it up."""

    def __init__(self, set_up: dict[str, str], registry: Registry) -> None:
        self.lines = set_up
        self.ruleset = registry[f"{set_up['ruleset']}-1"].ruleset

    def state(self) -> Round:
        """The round after the actions. Raises ``IllegalAction``."""
        limits = self.lines.get("limits", "none").replace("none", "")
        table = Table(**{name: int(value) for name, value in _members(limits)})
        return play(
            self.ruleset,
            list(self._seats()),
            self.lines["dealer"],
            self.lines.get("next", ""),
            self.lines.get("actions", ""),
            table=table,
        )

    def _seats(self) -> Iterator[Seat]:
        for name, value in sorted(self.lines.items()):
            if name.startswith("box "):
                codes, stakes = re.split("  +", value)
                given = dict(_members(stakes))
                yield seat(
                    codes,
                    int(given["ante"]),
                    int(given.get("bonus", 0)),
                    number=int(name[4:]),
                    blind="blind" in given,
                    player=given.get("player"),
                )


def _members(text: str) -> Iterator[tuple[str, str]]:
    """``"ante 100, blind"`` as names and values."""
    for member in filter(None, text.split(", ")):
        name, _, value = member.partition(" ")
        yield name, value


def _result(example: _Example, number: int) -> str:
    state = example.state()
    box = box_of(settled_document(state), number)
    stakes = ", ".join(f"{bet['name']} {_signed(bet['net'])}" for bet in box["bets"])
    return f"{box['result']}: {stakes} → {_signed(box['net'])}"


def _signed(amount: int) -> str:
    return f"{amount:+d}" if amount else "0"


def _hand(example: _Example, number: int) -> str:
    box = next(box for box in example.state().boxes if box.stake.number == number)
    hand: Hand = example.ruleset.hand(box.hand)
    kinds = " + ".join(_words(kind) for kind in (hand.main, hand.second) if kind)
    return f"{kinds}, pays {hand.odds}"


def _legal(example: _Example, number: int) -> str:
    view = view_document(example.state())
    assert view["box"] == number
    return ", ".join(
        f"{one['action']} {one['price']}"
        if "price" in one
        else f"{one['action']} {one['min_amount']} to {one['max_amount']}"
        for one in view["legal"]
    )


def _seen(example: _Example, number: int) -> str:
    box = box_of(view_document(example.state()), number)
    hidden = f"{box['hidden_cards']} hidden" if box["hidden_cards"] else ""
    return " + ".join(filter(None, (" ".join(box["hand"]), hidden)))


def _draws(example: _Example, _: int) -> str:
    return ", ".join(f"{CODES[draw.discarded]} to {CODES[draw.drawn]}" for draw in example.state().draws)


def _refused(example: _Example, index: int) -> str:
    with pytest.raises(IllegalAction) as refusal:
        example.state()
    assert refusal.value.index == index
    return ", ".join(one.name for one in refusal.value.legal) or "nothing"


_SAYS: dict[str, Callable[[_Example, int], str]] = {
    "result": _result,
    "hand": _hand,
    "legal": _legal,
    "seen": _seen,
    "draws": _draws,
    "refused": _refused,
}
