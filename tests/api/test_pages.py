"""The documentation as it is served: complete, closed to the outside, every link leading somewhere."""

import html
import json
import re
import sys
from collections.abc import Iterator
from hashlib import sha256
from importlib.metadata import distribution
from pathlib import Path
from typing import Any
from urllib.parse import urldefrag, urljoin

import pytest
from flask.testing import FlaskClient

from service.api import create_app, verify
from service.api.guides import _MARKDOWN, BOOKS, GUIDES, read_text
from service.api.problems import PROBLEM_TYPES
from service.api.rules_in_words import _EXAMPLES, WORDS, rules_in_words
from service.fields import Choice, Flag
from service.game.cards import parse_cards
from service.game.hands import KINDS, evaluate
from service.registry import Registry
from tests.api.calls import Api, is_problem
from tests.api.test_rulesets import rows
from tests.support.html import Page
from tests.support.parameters import parameters
from tests.support.rulesets import CARIBBEAN, LUNAR, changed, document, write

ROOT = Path(__file__).parents[2]
IDS = ("casino-1", "online-1", "trainer-1")
RULES = [f"/docs/rulesets/{id}{tail}" for id in IDS for tail in ("", "/en", "/ru")]
LINKED_RULES = [path for path in RULES if not path.endswith("/en")]  # English is linked without its name
TEXTS = [*(f"/docs/guides/{name}" for name in GUIDES), *(f"/docs/{name}" for name in BOOKS)]
PAGES = ["/docs", "/docs/reference", *TEXTS, *RULES]
LOADED = ("/static/page.css", "/static/reference.js", "/docs/reference/swagger-ui.css")


# Every page.


@pytest.mark.parametrize("path", PAGES)
def test_a_page_runs_and_loads_nothing_but_what_is_served_here(path: str, api: Api) -> None:
    answer = api.client.get(path)
    assert (answer.status_code, answer.content_type) == (200, "text/html; charset=utf-8")
    policy = dict(part.split(" ", 1) for part in answer.headers["Content-Security-Policy"].split("; "))
    of_the_reference = {"script-src": "'self'", "connect-src": "'self'", "img-src": "data:"}
    assert policy == {
        **dict.fromkeys(("default-src", "base-uri", "form-action", "frame-ancestors"), "'none'"),
        "style-src": "'self'",
        **(of_the_reference if path == "/docs/reference" else {}),
    }
    page = Page(answer.text)
    assert page.inline == []
    assert not {"iframe", "form", "base", "img"} & set(page.tags)
    assert page.tags["script"] == (2 if path == "/docs/reference" else 0)
    assert page.tags["h1"] == (0 if path == "/docs/reference" else 1)
    assert page.title.endswith(" – Russian Poker settlement")
    assert not page.title.startswith(" ")


@pytest.mark.parametrize("path", PAGES)
def test_a_page_is_not_sent_again(path: str, api: Api) -> None:
    answer = api.client.get(path)
    etag = answer.headers["ETag"]
    assert etag == f'"{sha256(answer.data).hexdigest()}"'
    assert answer.headers["Cache-Control"] == "no-cache"
    again = api.client.get(path, headers={"If-None-Match": etag})
    assert (again.status_code, again.data, again.headers["ETag"]) == (304, b"", etag)


@pytest.mark.parametrize("path", [*PAGES, "/problems", "/problems/limits"])
def test_each_page_leads_to_the_others(path: str, api: Api) -> None:
    links = Page(api.client.get(path).text).links
    assert {"/docs", "/docs/reference", "/problems", "/verify"} <= set(links)


@pytest.mark.parametrize(
    "path",
    [
        *("/docs/", "/docs/nothing", "/docs/guides", "/docs/guides/nothing", "/docs/guides/verify.md"),
        *("/docs/rulesets/casino", "/docs/rulesets/casino-1/de", "/docs/rulesets/casino-1/ru/"),
        *("/docs/..%2fopenapi.yaml", "/docs/guides/..%2frulebook", "/docs/" + "x" * 1000),
        *("/docs/reference/oauth2-redirect.html", "/docs/reference/..%2f__init__.py"),
    ],
)
def test_there_are_no_other_pages(path: str, api: Api) -> None:
    problem = is_problem(api.client.get(path), "not-found")
    assert len(problem["detail"]) < 300


def test_every_link_leads_somewhere(client: FlaskClient) -> None:
    """From the entrance and the problems to everything that can be reached, anchors included."""
    to_visit, pages = ["/docs", "/problems"], dict[str, Page]()
    anchors = set[tuple[str, str]]()
    while to_visit:
        path = to_visit.pop()
        answer = client.get(path, buffered=True)
        assert answer.status_code == 200, path
        pages[path] = Page(answer.text if answer.mimetype == "text/html" else "")
        for link in pages[path].links:
            target, fragment = urldefrag(urljoin(path, html.unescape(link)))
            if target.startswith("/"):
                anchors.add((target, fragment))
                to_visit += [target] if target not in [*pages, *to_visit] else []
            elif not target.startswith("data:"):
                assert target.startswith("https://"), "to another host only where a text says so"
    problems = [f"/problems/{slug}" for slug in PROBLEM_TYPES]
    assert {*TEXTS, *LINKED_RULES, *LOADED, *problems, "/openapi.yaml", "/verify"} <= set(pages)
    drawn_later = ("/docs/reference", "operations-tag-rounds")  # by the contract, in the browser
    broken = {(page, id) for page, id in anchors - {drawn_later} if id and id not in pages[page].ids}
    assert broken == set()
    assert len([id for _, id in anchors if id]) > 60


def test_the_entrance_lists_everything(api: Api) -> None:
    links = Page(api.client.get("/docs").text).links
    assert {*TEXTS, *LINKED_RULES, "/openapi.yaml"} <= set(links)
    assert {f"/problems/{slug}" for slug in PROBLEM_TYPES} <= set(links)
    assert {path: links[path] for path in LINKED_RULES} == {
        path: "ru" if path.endswith("/ru") else "en" for path in LINKED_RULES
    }


# The reference.


def test_the_reference_is_drawn_by_the_files_of_the_package(api: Api) -> None:
    page = Page(api.client.get("/docs/reference").text)
    assert 'data-contract="/openapi.yaml"' in api.client.get("/docs/reference").text
    for name in ("swagger-ui.css", "swagger-ui-bundle.js"):
        assert f"/docs/reference/{name}" in page.links
        answer = api.client.get(f"/docs/reference/{name}")
        package = distribution("flask-swagger-ui")
        assert answer.data == Path(str(package.locate_file(f"flask_swagger_ui/dist/{name}"))).read_bytes()
        assert answer.mimetype == ("text/css" if name.endswith("css") else "text/javascript")
        assert answer.headers["Cache-Control"] == "no-cache"
        again = api.client.get(f"/docs/reference/{name}", headers={"If-None-Match": answer.headers["ETag"]})
        assert (again.status_code, again.data) == (304, b"")
    assert "flask_swagger_ui" not in sys.modules, "the package is files to serve and nothing to run"


# The texts.


@pytest.mark.parametrize("path", TEXTS)
def test_a_text_is_shown_whole(path: str, api: Api) -> None:
    source = (ROOT / f"{path[1:]}.md").read_text(encoding="utf-8")
    page = Page(api.client.get(path).text)
    shown = page.text
    assert page.title.startswith(source.partition("\n")[0].removeprefix("# "))
    for block in re.findall(r"^```.*?\n(.*?)^```$", source, re.DOTALL | re.MULTILINE):
        assert " ".join(block.split()) in shown
    prose = re.sub(r"^```.*?^```$", "", source, flags=re.DOTALL | re.MULTILINE)
    for heading in re.findall(r"^#+ (.*)$", prose, re.MULTILINE):
        assert heading.replace("`", "") in shown
    assert page.tags["table"] == len(re.findall(r"^\| ?-", prose, re.MULTILINE))
    assert not re.search(r"\]\(|\*\*|\n```", re.sub(r"(?s)<code.*?</code>", "", api.client.get(path).text))


@pytest.mark.parametrize("file", [f"{path[1:]}.md" for path in TEXTS])
def test_a_link_between_texts_leads_somewhere_as_a_file_too(file: str) -> None:
    source = ROOT / file
    for target in re.findall(r"\]\((?!https://)([^)\s]+)\)", source.read_text(encoding="utf-8")):
        path, fragment = urldefrag(target)
        other = (source.parent / path).resolve() if path else source
        assert other.is_file(), f"{file}: {target}"
        if fragment:
            name = other.relative_to(ROOT / "docs").with_suffix("").as_posix()
            assert f'id="{fragment}"' in read_text(name).html, f"{file}: {target}"


def test_raw_html_is_shown_not_obeyed() -> None:
    for source in ("<script>alert(1)</script>", 'x <img src=x onerror="alert(1)"> y', "<b>x</b>"):
        told = _MARKDOWN.render(source)
        assert "&lt;" in told
        assert set(Page(told).tags) <= {"p"}
    assert "href" not in _MARKDOWN.render("[x](javascript:alert(1))")
    assert 'x <a id="s4"></a>' in _MARKDOWN.render('x <a id="s4"></a>')


def test_a_text_is_rendered_once(api: Api) -> None:
    api.client.get("/docs/rulebook")
    before = read_text.cache_info()
    api.client.get("/docs/rulebook")
    after = read_text.cache_info()
    assert (after.misses, after.hits) == (before.misses, before.hits + 1)


# The rules for players.


def test_every_parameter_has_words_in_every_language() -> None:
    spoken = {"bet.odds", "bet.own_rows", "bonus.dealt", "bonus.with_sixth"}  # in the table of what is paid
    fields = {key: field for key, field, _ in parameters() if key.rpartition(".")[0] not in spoken}
    for words in WORDS.values():
        terms = {
            f"{section}.{key}": term
            for section, its in words["sections"].items()
            for key, term in its.items()
            if isinstance(term, dict)
        }
        assert terms.keys() == fields.keys()
        for key, field in fields.items():
            said, values = terms[key].keys() - {"label"}, {str(value).lower() for value in _values(field)}
            assert said == {"value"} or said - {"0", "value"} == values, key
        assert {name for name, its in words["sections"].items() if "absent" in its} == {
            *("bonus", "insurance", "game_purchase")
        }


def _values(field: object) -> tuple[object, ...]:
    if isinstance(field, Flag):
        return True, False
    return tuple(field.values) if isinstance(field, Choice) else ()


def test_the_languages_say_the_same_things() -> None:
    def shape(words: Any) -> Any:
        return {name: shape(inner) for name, inner in words.items()} if isinstance(words, dict) else None

    assert len({json.dumps(shape(words), sort_keys=True) for words in WORDS.values()}) == 1
    places = [re.findall(r"\{\w+\}", json.dumps(words)) for words in WORDS.values()]
    assert [sorted(names) for names in places] == [sorted(places[0])] * len(places)
    assert set(WORDS) == set(verify.texts()) == {"en", "ru"}
    russian = re.sub(r'"\w+":|\{\w+\}', "", json.dumps(WORDS["ru"], ensure_ascii=False))
    assert re.findall("[A-Za-z]{2,}", russian) == ["API"]


def test_an_example_is_a_hand_of_its_kind() -> None:
    assert set(_EXAMPLES) == set(KINDS[1:])
    for kind, cards in _EXAMPLES.items():
        assert evaluate(parse_cards(cards)).main == kind


@pytest.mark.parametrize("id", IDS)
@pytest.mark.parametrize("language", WORDS)
def test_a_rule_page_says_all_that_the_ruleset_says(
    id: str, language: str, api: Api, registry: Registry
) -> None:
    document, source = registry[id].document, api.client.get(f"/docs/rulesets/{id}/{language}").text
    page = Page(source)
    assert page.language == language
    assert {link: said for link, said in page.links.items() if link.startswith("/docs/rulesets/")} == {
        f"/docs/rulesets/{id}{'' if other == 'en' else f'/{other}'}": other for other in WORDS
    }
    assert page.title.startswith(document["title"][language])
    for text in (*document["summary"][language].split("\n\n"), document["source"][language]):
        assert " ".join(text.split()) in page.text
    for decision in document["decisions"]:
        assert decision["id"] in page.ids
        assert " ".join(decision[language].split()) in page.text
    marks = re.findall(r'<a class="mark" href="#(\w+)">\1</a>', source)
    assumed = [row["decision"] for row in rows(document) if row["basis"] == "assumed"]
    assert sorted(marks) == sorted(assumed)
    assert document["digest"] in page.text
    assert f"/v1/rulesets/{id}" in page.links
    assert "None" not in page.text


@pytest.mark.parametrize("language", WORDS)
def test_the_table_pays_what_the_ruleset_pays(language: str, api: Api, registry: Registry) -> None:
    kinds = verify.texts()[language]["kinds"]
    for id, published in registry.items():
        source = api.client.get(f"/docs/rulesets/{id}/{language}").text
        (table,) = re.findall(r'<table class="pays">.*?</table>', source, re.DOTALL)
        shown = {}
        for row in re.findall(r"<tr><th.*?</tr>", table, re.DOTALL)[1:]:
            cells = [Page(cell).text for cell in re.findall(r"<t[hd].*?</t[hd]>", row, re.DOTALL)]
            shown[cells[0]] = [re.sub(r"\D", "", cell.partition(":")[0]) for cell in cells[1:]]
        tables = [published.document["bet"]["odds"], *published.document["bonus"].values()]
        assert len(shown) == 10
        for (label, odds), kind in zip(shown.items(), reversed(KINDS), strict=False):
            assert label.startswith(kinds[kind].capitalize())
            assert odds == [str(one[kind]["value"]) if kind in one else "" for one in tables]
    assert (
        f"{kinds['two_pair']} + {kinds['two_pair']} 5:1"
        in Page(api.client.get(f"/docs/rulesets/online-1/{language}").text).text
    )


@pytest.fixture(scope="module")
def houses(tmp_path_factory: pytest.TempPathFactory) -> Iterator[FlaskClient]:
    """A service that has other houses' rulesets too, one of them with texts that look like markup."""
    folder = tmp_path_factory.mktemp("houses")
    texts = dict.fromkeys(("en", "ru"), "<script>alert('{x}')</script> & {{ 7 * 7 }}")
    marked = {"id": "marked-1", "title": texts, "summary": texts, "source": texts}
    for content in (CARIBBEAN, LUNAR, changed(document(), marked)):
        write(folder, content)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RULESETS_DIR", str(folder))
        yield create_app().test_client()


def test_a_house_without_bonus_insurance_and_purchase_says_so(houses: FlaskClient) -> None:
    text = Page(houses.get("/docs/rulesets/caribbean-1").text).text
    for sentence in ("There is no bonus.", "There is no insurance.", "There is no game purchase:"):
        assert sentence in text
    assert "Cards of an exchange, at least there is no exchange" in text
    assert "Most that the bet of a box wins, and largest insurance 10,000" in text
    assert "mark beside" not in text


def test_another_house_has_its_own_terms(houses: FlaskClient) -> None:
    text = Page(houses.get("/docs/rulesets/lunar-1/ru").text).text
    for words in (
        "Предлагается начиная с комбинации «стрит»",
        "Не больше половины того, что видимые на этот момент карты принесли бы на бете",
        "При равных руках возвращается",
        "Дилер сбрасывает младшую карту",
        "Анте, если игры так и нет оплачивается 1:1",
        "фулл-хаус + фулл-хаус 30:1",
    ):
        assert words in text
    assert "lunar-1" in Page(houses.get("/docs").text).text


def test_the_texts_of_a_house_are_texts(houses: FlaskClient) -> None:
    for path in ("/docs", "/docs/rulesets/marked-1", "/docs/rulesets/marked-1/ru"):
        page = Page(houses.get(path).text)
        assert page.tags["script"] == 0
        assert "<script>alert('{x}')</script> & {{ 7 * 7 }}" in page.text


def test_what_a_row_says_depends_on_its_value(registry: Registry) -> None:
    """Two rulesets that differ in one row differ in one sentence."""
    first = document()
    second = changed(first, {"insurance.on_tie.value": "return"})
    told = [rules_in_words(one, "en").sections for one in (first, second)]
    different = [
        (one, other)
        for section, its in zip(*told, strict=True)
        for one, other in zip(section.rows, its.rows, strict=True)
        if one != other
    ]
    assert [(one[1].text, other[1].text) for one, other in different] == [("it is lost", "it returns")]
