"""``/v1/rulesets``: the rules as published, which never change."""

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest

from service.api import create_app
from tests.api.calls import EVALUATE, JSON, Api, Document, is_problem, round_body
from tests.api.house import FLUSH, house_ruleset

IDS = ["casino-1", "online-1", "trainer-1"]


def published(api: Api, id: str) -> Document:
    answer = api.client.get(f"/v1/rulesets/{id}")
    assert (answer.status_code, answer.mimetype) == (200, JSON)
    document: Document = answer.get_json()
    return document


def value(document: Any, *path: str) -> Any:
    for name in path:
        document = document[name]
    return document["value"]


def rows(document: Any) -> list[Document]:
    """Every parameter of a ruleset, with what it is based on."""
    if not isinstance(document, dict):
        return []
    if "basis" in document:
        return [document]
    return [row for inner in document.values() for row in rows(inner)]


def test_the_index_names_all(api: Api) -> None:
    answer = api.client.get("/v1/rulesets")
    assert (answer.status_code, answer.mimetype) == (200, JSON)
    index = answer.get_json()["rulesets"]
    assert [one["id"] for one in index] == IDS
    for one in index:
        document = published(api, one["id"])
        assert one == {name: document[name] for name in ("id", "version", "title", "digest")}


@pytest.mark.parametrize("id", IDS)
def test_a_digest_can_be_computed_from_the_document(id: str, api: Api) -> None:
    document = published(api, id)
    claimed = document.pop("digest")
    canonical = json.dumps(document, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    assert claimed == "sha256:" + hashlib.sha256(canonical.encode()).hexdigest()


@pytest.mark.parametrize("id", IDS)
def test_outcomes_and_version_name_the_published_digest(id: str, api: Api) -> None:
    digest = published(api, id)["digest"]
    outcome = api.settle(round_body(id))
    assert outcome["ruleset"] == {"id": id, "version": 1, "digest": digest}
    assert api.client.get("/v1/version").get_json()["rulesets"][id] == digest


@pytest.mark.parametrize("id", IDS)
def test_a_ruleset_may_be_cached_for_long(id: str, api: Api) -> None:
    answer = api.client.get(f"/v1/rulesets/{id}")
    assert answer.headers["ETag"] == f'"{answer.get_json()["digest"]}"'
    assert "immutable" in answer.headers["Cache-Control"]
    assert "public" in answer.headers["Cache-Control"]
    assert answer.cache_control.max_age is not None
    assert answer.cache_control.max_age >= 3600


@pytest.mark.parametrize("id", ["casino", "casino-2", "Casino-1", "casino-1.toml", "🂡", "x" * 1000])
def test_an_unknown_ruleset_is_not_found(id: str, api: Api) -> None:
    problem = is_problem(api.client.get(f"/v1/rulesets/{id}"), "not-found")
    assert problem["status"] == 404
    assert all(known in problem["detail"] for known in IDS)
    assert len(problem["detail"]) < 300


@pytest.mark.parametrize("path", ["/v1/rulesets/", "/v1/rulesets/casino-1/", "/v1/rulesets/../casino-1"])
def test_other_paths_are_not_found(path: str, api: Api) -> None:
    is_problem(api.client.get(path), "not-found")


@pytest.mark.parametrize("id", IDS)
def test_a_ruleset_explains_itself(id: str, api: Api) -> None:
    document = published(api, id)
    for text in ("title", "summary", "source"):
        assert set(document[text]) == {"en", "ru"}
        assert all(document[text].values())
        assert any("а" <= letter <= "я" for letter in document[text]["ru"])
    stated = [decision["id"] for decision in document["decisions"]]
    assert len(set(stated)) == len(stated)
    assert all(decision["en"] and decision["ru"] for decision in document["decisions"])
    assert len(rows(document)) > 20
    for row in rows(document):
        assert (row["basis"] == "assumed") == ("decision" in row)
        assert row["basis"] == "printed" or row["decision"] in stated


BET = [1, 1, 2, 3, 4, 5, 7, 20, 50, 100]
KINDS = [
    "ace_king",
    "pair",
    "two_pair",
    "three_of_a_kind",
    "straight",
    "flush",
    "full_house",
    "four_of_a_kind",
    "straight_flush",
    "royal_flush",
]


@pytest.mark.parametrize("id", IDS)
def test_the_bet_pays_by_the_usual_table(id: str, api: Api) -> None:
    odds = published(api, id)["bet"]["odds"]
    assert {kind: row["value"] for kind, row in odds.items()} == dict(zip(KINDS, BET, strict=True))


@pytest.mark.parametrize(
    ("id", "column", "odds"),
    [
        ("trainer-1", "dealt", [25, 50, 100, 300, 500, 1000]),
        ("trainer-1", "with_sixth", [8, 15, 30, 100, 150, 300]),
        ("casino-1", "dealt", [50, 75, 100, 200, 500, 1000]),
        ("online-1", "dealt", [40, 60, 100, 200, 500, 1000]),
    ],
)
def test_the_bonus_pays_by_the_ruleset(id: str, column: str, odds: list[int], api: Api) -> None:
    table = {kind: row["value"] for kind, row in published(api, id)["bonus"][column].items()}
    expected = dict(zip(KINDS[4:], odds, strict=True))
    if id == "online-1":
        expected |= {"ace_king": 1, "three_of_a_kind": 3}
    assert table == expected


@pytest.mark.parametrize(
    ("path", "trainer", "online", "casino"),
    [
        (("boxes", "maximum"), 4, 3, 4),
        (("boxes", "open"), "all", "one", "one_per_player"),
        (("deal", "order"), "one_by_one", "one_by_one", "one_by_one"),
        (("bet", "combinations"), 1, 2, 2),
        (("purchase", "blind_sixth"), False, False, True),
        (("game_purchase", "price"), "one_more_ante", "the_ante", "one_more_ante"),
        (("game_purchase", "redraw_same_rank"), False, False, True),
        (("game_purchase", "failed_ante"), "paid", "lost", "returned"),
        (("limits", "min_stake"), 1, 10, 1),
    ],
)
def test_parameters_of_section_6(
    path: tuple[str, ...], trainer: Any, online: Any, casino: Any, api: Api
) -> None:
    assert [value(published(api, id), *path) for id in IDS] == [casino, online, trainer]


def test_insurance_and_limits_of_section_6(api: Api) -> None:
    documents = {id: published(api, id) for id in IDS}
    assert {id for id, document in documents.items() if "insurance" in document} == {"casino-1", "online-1"}
    assert {id for id, document in documents.items() if "max_stake" in document["limits"]} == {"online-1"}
    assert value(documents["online-1"], "limits", "max_stake") == 2000


# A house's own rules.


def test_a_house_adds_its_own_rulesets(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    house_ruleset(tmp_path)
    monkeypatch.setenv("RULESETS_DIR", str(tmp_path))
    house = Api(create_app().test_client())
    assert [one["id"] for one in house.client.get("/v1/rulesets").get_json()["rulesets"]] == [*IDS, "house-1"]
    assert published(house, "house-1")["digest"] != published(house, "casino-1")["digest"]
    for id, odds in (("casino-1", 5), ("house-1", 6)):
        assert house.ask(EVALUATE, {"ruleset": id, "cards": FLUSH})["odds"] == odds


def test_a_file_of_the_house_does_not_leak_into_other_apps(api: Api) -> None:
    is_problem(api.client.get("/v1/rulesets/house-1"), "not-found")
