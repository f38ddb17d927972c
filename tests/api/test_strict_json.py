"""Bodies that two JSON readers could understand differently, or that could bring the service down."""

import io
import json
from collections.abc import Callable
from typing import Any

import pytest
from flask.testing import FlaskClient
from werkzeug.test import TestResponse

from service.api.bodies import MAX_BODY
from service.schemas import MAX_CONTEXT_DEPTH
from service.strict_json import MAX_DEPTH
from tests.api.calls import (
    BATCH,
    DECK,
    EVALUATE,
    JSON,
    POSTS,
    SEED,
    SEEDS,
    SETTLE,
    VERIFY,
    VOID,
    Api,
    certified,
    is_problem,
    round_body,
)

TEXT = json.dumps(round_body())
ROUND = TEXT.encode()


def with_ante(number: str) -> str:
    return TEXT.replace('"ante": 100', f'"ante": {number}')


def with_nonce(number: str) -> str:
    return TEXT.replace('"}, "boxes"', f'", "nonce": {number}}}, "boxes"')


def with_context(value: str) -> str:
    """The round with the context ``{"c": value}``; the value is two levels deep."""
    return f'{TEXT[:-1]}, "context": {{"c": {value}}}}}'


def with_client_seed(escaped: str) -> str:
    return TEXT.replace('"}, "boxes"', f'", "client_seed": "{escaped}"}}, "boxes"')


def nested(depth: int, opening: str = "[", closing: str = "]") -> str:
    """Nesting whose innermost bracket is empty, or holds null behind a member's name."""
    return opening * depth + ("null" if opening.endswith(":") else "") + closing * depth


def mixed(depth: int) -> str:
    """Objects in arrays in objects; ``depth`` has to be even."""
    return '[{"a":' * (depth // 2) + "null" + "}]" * (depth // 2)


NOT_JSON = {
    "empty": (b"", "empty"),
    "white space": (b" \t\r\n ", "empty"),
    "a word": (b"hello", "line 1, column 1"),
    "form data": (b"ruleset=casino-1&ante=100", "line 1, column 1"),
    "half": (ROUND[:-20], "line 1, column"),
    "half a text": (b'{"ruleset": "casi', "line 1, column 13"),
    "a lone brace": (b"{", "line 1, column 2"),
    "closed too often": (ROUND + b"}", "more follows"),
    "closed wrongly": (b'{"a": [1}', "line 1, column 9"),
    "garbage behind": (ROUND + b" x", "more follows"),
    "a second document": (ROUND + b"\n" + ROUND, "line 2, column 1"),
    "a null byte behind": (ROUND + b"\x00", "more follows"),
    "a comma behind": (ROUND + b",", "more follows"),
    "a trailing comma": (b'{"a": 1,}', "line 1, column"),
    "a trailing comma in an array": (b'{"a": [1,]}', "line 1, column"),
    "no comma": (b'{"a": 1 "b": 2}', "line 1, column 9"),
    "single quotes": (b"{'a': 1}", "line 1, column 2"),
    "no quotes": (b"{a: 1}", "line 1, column 2"),
    "a comment": (b'{"a": 1 /* one */}', "line 1, column 9"),
    "a wrong space": ('{"a":\u00a01}'.encode(), "line 1, column 6"),
    "a vertical tab": (b'{"a":\x0b1}', "line 1, column 6"),
    "Python's True": (b'{"a": True}', "line 1, column 7"),
    "a leading zero": (with_ante("0100").encode(), "line 1, column"),
    "a plus sign": (with_ante("+100").encode(), "line 1, column"),
    "no integral part": (with_ante(".5").encode(), "line 1, column"),
    "no fraction": (with_ante("100.").encode(), "line 1, column"),
    "no exponent": (with_ante("1e").encode(), "line 1, column"),
    "hexadecimal": (with_ante("0x64").encode(), "line 1, column"),
    "an underscore": (with_ante("1_000").encode(), "line 1, column"),
    "Arabic digits": (with_ante("\u0661\u0662").encode(), "line 1, column"),
    "a raw line feed in a text": (b'{"a": "x\ny"}', "control character"),
    "a raw null in a text": (b'{"a": "x\x00y"}', "control character"),
    "an unknown escape": (rb'{"a": "\x41"}', "escape"),
    "a short escape": (rb'{"a": "\u00"}', "escape"),
    "an escape that Python's int() reads": (rb'{"a": "\u0_41"}', "escape"),
    "NaN": (with_ante("NaN").encode(), "NaN is not JSON"),
    "NaN far within": (with_context('[[{"a": NaN}]]').encode(), "NaN is not JSON"),
    "Infinity": (with_ante("Infinity").encode(), "Infinity is not JSON"),
    "-Infinity": (with_context("[-Infinity]").encode(), "-Infinity is not JSON"),
    "1e400": (with_ante("1e400").encode(), "1e400"),
    "-1e400 far within": (with_context("[[-1e400]]").encode(), "-1e400"),
    "an endless exponent": (with_ante("1e" + "9" * 5000).encode(), "1e9999"),
    "an endless negative exponent": (with_ante("1e-99999999999999999999").encode(), "exponent"),
    "zero with an endless exponent": (with_ante("0e99999999999999999999").encode(), "exponent"),
    "an endless integer": (with_ante("1" + "0" * 5000).encode(), "too many digits"),
    "an endless integer far within": (with_context("[-1" + "0" * 60_000 + "]").encode(), "too many digits"),
    "an endless decimal": (with_ante("1" + "0" * 5000 + ".0").encode(), "1000"),
    "a byte order mark": (b"\xef\xbb\xbf" + ROUND, "byte order mark"),
    "UTF-16": (TEXT.encode("utf-16"), "not UTF-8"),
    "UTF-16-LE without a mark": (TEXT.encode("utf-16-le"), "line 1, column 2"),
    "UTF-16-BE without a mark": (TEXT.encode("utf-16-be"), "line 1, column 1"),
    "UTF-32": (TEXT.encode("utf-32"), "not UTF-8"),
    "UTF-32-BE without a mark": (TEXT.encode("utf-32-be"), "line 1, column 1"),
    "Latin-1": (with_context('"caf\u00e9"').encode("latin-1"), "is not UTF-8"),
    "a stray byte": (ROUND[:5] + b"\xff" + ROUND[5:], "byte 5 is not UTF-8"),
    "a cut sequence": (with_context('"\u20ac"').encode().replace(b"\xac", b""), "is not UTF-8"),
    "an overlong slash": (with_context('"#"').encode().replace(b"#", b"\xc0\xaf"), "is not UTF-8"),
    "an encoded surrogate": (with_context('"#"').encode().replace(b"#", b"\xed\xa0\x80"), "is not UTF-8"),
    "beyond Unicode": (with_context('"#"').encode().replace(b"#", b"\xf4\x90\x80\x80"), "is not UTF-8"),
    "5,000 objects": (nested(5000, '{"a":', "}").encode(), f"more than {MAX_DEPTH} deep"),
    "5,000 arrays": (nested(5000).encode(), f"more than {MAX_DEPTH} deep"),
    "5,000 of both": (mixed(5000).encode(), f"more than {MAX_DEPTH} deep"),
    "5,000 open objects": (b'{"a":' * 5000, f"more than {MAX_DEPTH} deep"),
    "60,000 open arrays": (b"[" * 60_000, f"more than {MAX_DEPTH} deep"),
    "5,000 deep in the context": (with_context(nested(5000)).encode(), f"more than {MAX_DEPTH} deep"),
    "closed first": (b"]" * 100 + b"[" * 100, f"more than {MAX_DEPTH} deep"),
    "deep behind a text": (with_context(r'["\\", "]", "\"]", ' + nested(50) + "]").encode(), "deep"),
}
"""Bodies that are no strict JSON, each with what its refusal has to tell."""


@pytest.mark.parametrize(("body", "told"), NOT_JSON.values(), ids=NOT_JSON)
def test_what_is_no_strict_json_is_refused(body: bytes, told: str, api: Api) -> None:
    problem = is_problem(api.send(SETTLE, body), "malformed-json")
    assert problem["status"] == 400
    assert told.lower() in problem["detail"].lower()
    assert len(problem["detail"]) < 300, "it does not send the body back"


@pytest.mark.parametrize("path", POSTS)
def test_every_resource_reads_as_strictly(path: str, api: Api) -> None:
    for body, _ in NOT_JSON.values():
        is_problem(api.send(path, body), "malformed-json")


@pytest.mark.parametrize(
    ("body", "twice"),
    [
        (TEXT[:-1] + ', "ruleset": "casino-1"}', "ruleset"),
        (TEXT.replace('"ante": 100', '"ante": 100, "ante": 100'), "ante"),
        (TEXT.replace('"ante": 100', '"ante": 100, "bonus": 1, "ante": 1'), "ante"),
        (TEXT.replace('"ante": 100', r'"ante": 100, "\u0061nte": 1'), "ante"),
        (with_context('[[{"x": {"y": null, "z": 0, "y": null}}]]'), "y"),
        (with_context('{"": 1, "": 2}'), ""),
        (with_context('{"\u00e9": 1, "\\u00e9": 2}'), "\u00e9"),
        (with_context('{"__proto__": 1, "__proto__": 2}'), "__proto__"),
    ],
    ids=["body", "box", "apart", "escaped", "far within", "empty name", "accent", "proto"],
)
def test_a_member_that_stands_twice_is_refused(body: str, twice: str, api: Api) -> None:
    problem = is_problem(api.send(SETTLE, body.encode()), "malformed-json")
    assert f"{twice!r} stands twice" in problem["detail"]


def test_members_alike_up_to_case_or_unicode_form_are_different(api: Api) -> None:
    context = {"a": 1, "A": 2, "\u00e9": 3, "e\u0301": 4}
    assert api.settle(round_body(context=context))["context"] == context


LONE = [r"\ud800", r"\uDBFF", r"\udc00", r"\uDFFF", r"\ude00\ud83d", r"\ud83d x", r"\ud800\ud800\udc00"]


@pytest.mark.parametrize("escape", LONE)
@pytest.mark.parametrize(
    "place",
    [
        lambda escape: with_context(f'"x{escape}y"'),
        lambda escape: with_context(f'[[{{"a": "{escape}"}}]]'),
        lambda escape: with_context(f'{{"{escape}": 1}}'),
        with_client_seed,
        lambda escape: TEXT.replace("casino-1", escape),
        lambda escape: TEXT.replace('"ante"', f'"player": "{escape}", "ante"'),
        lambda escape: TEXT.replace('"ante"', f'"{escape}": 1, "ante"'),
        lambda escape: TEXT.replace('"fold"', f'"{escape}"'),
        lambda escape: TEXT.replace('{"server_seed"', f'{{"deck": ["{escape}"], "server_seed"'),
        lambda escape: f'{{"{escape}": 1}}',
        lambda escape: f'"{escape}"',
    ],
    ids=[
        "context",
        "deep",
        "context name",
        "client seed",
        "ruleset",
        "player",
        "box name",
        "action",
        "card",
        "body name",
        "text",
    ],
)
def test_half_a_surrogate_pair_is_refused(escape: str, place: Callable[[str], str], api: Api) -> None:
    problem = is_problem(api.send(SETTLE, place(escape).encode()), "malformed-json")
    assert "surrogate" in problem["detail"]


@pytest.mark.parametrize("escape", LONE)
def test_half_a_surrogate_pair_is_refused_everywhere(escape: str, api: Api) -> None:
    bodies = {
        EVALUATE: f'{{"ruleset": "casino-1", "cards": ["{escape}", "Ah", "Kh", "Qh", "Jh"]}}',
        DECK: f'{{"server_seed": "{SEED}", "client_seed": "{escape}"}}',
        SEEDS: f'{{"{escape}": 1}}',
        VERIFY: f'{{"request": {TEXT}, "outcome": {{"a": "{escape}"}}}}',
    }
    for path, body in bodies.items():
        assert "surrogate" in is_problem(api.send(path, body), "malformed-json")["detail"]


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        (r'"\ud83d\ude00"', "\U0001f600"),
        ('"\U0001f600"', "\U0001f600"),
        (r'"\\ud800"', r"\ud800"),
        (r'"\u0000\u001f"', "\x00\x1f"),
        (r'"\ufeff\uffff"', "\ufeff\uffff"),
        (r'"\"\\\/\b\f\n\r\t"', '"\\/\b\f\n\r\t'),
    ],
)
def test_whole_characters_are_kept_however_they_are_written(written: str, meant: str, api: Api) -> None:
    answer = api.send(SETTLE, with_context(written).encode())
    assert (answer.status_code, answer.get_json()["context"]) == (200, {"c": meant})


def settled_ante(answer: TestResponse) -> Any:
    assert answer.status_code == 200, answer.get_json()
    return answer.get_json()["boxes"][0]["bets"][0]["stake"]


@pytest.mark.parametrize(
    "number", ["100", "100.0", "1e2", "1E+2", "10000e-2", "1.00e2", "100.000", "0.00001e7"]
)
def test_a_number_without_a_fraction_is_whole_however_it_is_written(number: str, api: Api) -> None:
    answer = api.send(SETTLE, with_ante(number))
    assert settled_ante(answer) == 100
    assert answer.data == api.send(SETTLE, ROUND).data


@pytest.mark.parametrize(
    "number",
    ["5.5", "0.5", "1e-1", "100.0000000000000000000000000001", "99.99999999999999999999", "1e-400", "5e-324"],
)
def test_a_fraction_is_no_amount_not_even_one_that_a_double_cannot_hold(number: str, api: Api) -> None:
    problem = is_problem(api.send(SETTLE, with_ante(number)), "invalid-request")
    assert problem["errors"][0]["pointer"] == "/boxes/0/ante"
    assert "whole number" in problem["errors"][0]["detail"]


@pytest.mark.parametrize(
    ("number", "got"),
    [
        ("0e999999999", "0"),
        ("-0", "0"),
        ("-0.0", "0"),
        ("0", "0"),
        ("-1", "-1"),
        ("1000000000001", "1000000000001"),
        ("18446744073709551616", "18446744073709551616"),
        ("9007199254740993.0", "9007199254740993"),
        ("9007199254740993", "9007199254740993"),
        ("1e300", "digits"),
        ("1" + "0" * 4000, "digits"),
        ("-1" + "0" * 4000, "digits"),
    ],
)
def test_a_whole_number_outside_the_bounds_is_named_exactly(number: str, got: str, api: Api) -> None:
    problem = is_problem(api.send(SETTLE, with_ante(number)), "invalid-request")
    (error,) = problem["errors"]
    assert (error["pointer"], error["code"]) == ("/boxes/0/ante", "range")
    assert got in error["detail"].partition("got ")[2].split() or got in error["detail"].split()
    assert len(problem["detail"]) < 300


@pytest.mark.parametrize("number", ["9007199254740991", "9007199254740991.0", "9.007199254740991e15"])
def test_the_largest_nonce_is_not_rounded(number: str, api: Api) -> None:
    answer = api.send(SETTLE, with_nonce(number))
    assert (answer.status_code, answer.get_json()["deal"]["nonce"]) == (200, 2**53 - 1)


@pytest.mark.parametrize(
    "number", ["9007199254740992", "9007199254740992.0", "9007199254740990.5", "9007199254740991.4"]
)
def test_a_nonce_is_not_rounded_into_its_bounds(number: str, api: Api) -> None:
    problem = is_problem(api.send(SETTLE, with_nonce(number)), "invalid-request")
    assert [error["pointer"] for error in problem["errors"]] == ["/deal/nonce"]


@pytest.mark.parametrize("value", ["9007199254740992", "-9007199254740992", "1e300", "1.5", "1e-400"])
def test_numbers_of_a_context_that_readers_round_are_refused(value: str, api: Api) -> None:
    problem = is_problem(api.send(SETTLE, with_context(f'[{{"deep": {value}}}]')), "invalid-request")
    (error,) = problem["errors"]
    assert error["pointer"] == "/context/c/0/deep"
    assert "write this one as a text" in error["detail"]


DEPTHS: dict[str, Callable[[int], str]] = {
    "arrays": nested,
    "objects": lambda depth: nested(depth, '{"a":', "}"),
    "mixed": lambda depth: mixed(depth - depth % 2) if depth % 2 == 0 else f"[{mixed(depth - 1)}]",
}


def innermost(document: Any, pointer: str = "") -> str:
    """The JSON pointer to the innermost object or array, along the first members."""
    places = document.items() if isinstance(document, dict) else enumerate(document)
    place, inner = next(iter(places), ("", None))
    return innermost(inner, f"{pointer}/{place}") if isinstance(inner, dict | list) else pointer


@pytest.mark.parametrize("shape", DEPTHS.values(), ids=DEPTHS)
def test_32_levels_are_read_and_33_are_not(shape: Callable[[int], str], api: Api) -> None:
    assert MAX_DEPTH == 32
    claim = f'{{"request": {TEXT}, "outcome": {{"c": @}}}}'
    # The body and the claimed outcome are two levels.
    within, beyond = (claim.replace("@", shape(depth)) for depth in (30, 31))
    answer = api.send(VERIFY, within)
    assert answer.status_code == 200
    claimed = {"pointer": "/c", "claimed": json.loads(within)["outcome"]["c"]}
    assert claimed in answer.get_json()["differences"]
    assert "32" in is_problem(api.send(VERIFY, beyond), "malformed-json")["detail"]


@pytest.mark.parametrize("shape", DEPTHS.values(), ids=DEPTHS)
def test_a_context_has_20_levels_and_not_21(shape: Callable[[int], str], api: Api) -> None:
    assert MAX_CONTEXT_DEPTH == 20
    # The context itself is one level.
    within = with_context(shape(19))
    answer = api.send(SETTLE, within)
    assert answer.status_code == 200
    assert answer.get_json()["context"] == json.loads(within)["context"]
    assert json.loads(certified(answer.get_json()))["context"] == json.loads(within)["context"]

    beyond = with_context(shape(20))
    (error,) = is_problem(api.send(SETTLE, beyond), "invalid-request")["errors"]
    assert (error["pointer"], error["code"]) == (
        innermost(json.loads(beyond)["context"], "/context"),
        "context",
    )
    assert "20" in error["detail"]
    # However deep: up to 32 levels of the body it is the context's fault, from there on the JSON's.
    deepest = is_problem(api.send(SETTLE, with_context(shape(30))), "invalid-request")
    assert [error["code"] for error in deepest["errors"]] == ["context"]
    assert "32" in is_problem(api.send(SETTLE, with_context(shape(31))), "malformed-json")["detail"]


def test_a_body_may_be_32_levels_of_nothing(api: Api) -> None:
    detail = is_problem(api.send(SETTLE, nested(32)), "invalid-request")["detail"]
    assert "must be an object; got an array" in detail
    is_problem(api.send(SETTLE, nested(33)), "malformed-json")


@pytest.mark.parametrize(
    "text",
    [
        "[" * 100,
        "{[" * 50 + "]}" * 50,
        '"' + "[" * 100,
        "\\" + "[" * 100,
        "\\\\" + "{" * 100,
        '\\"' + "[" * 100,
    ],
)
def test_brackets_within_a_text_do_not_count(text: str, api: Api) -> None:
    context = {"before": [[]], text[:90]: [[text]], "after": {"a": [text]}}
    assert api.settle(round_body(context=context))["context"] == context


def test_many_brackets_side_by_side_are_not_deep(api: Api) -> None:
    context: dict[str, Any] = {"a": [[[]]] * 1000, "b": [{}] * 1000}
    assert api.settle(round_body(context=context))["context"] == context


@pytest.mark.parametrize("path", POSTS)
@pytest.mark.parametrize(
    ("body", "got"),
    [
        ("[]", "an array"),
        ('"text"', "a text"),
        ("5", "a number"),
        ("5.5", "a number with a fraction"),
        ("true", "true or false"),
        ("null", "null"),
    ],
)
def test_a_body_that_is_no_object_is_refused(path: str, body: str, got: str, api: Api) -> None:
    problem = is_problem(api.send(path, body), "invalid-request")
    assert problem["errors"] == [{"pointer": "", "code": "type", "detail": f"must be an object; got {got}"}]


def test_white_space_around_and_within_changes_nothing(api: Api) -> None:
    spaced = b"\r\n\t " + json.dumps(json.loads(TEXT), indent="\t").encode() + b"\n"
    assert api.send(SETTLE, spaced).data == api.send(SETTLE, ROUND).data


def padded(body: bytes, size: int) -> bytes:
    return body + b" " * (size - len(body))


@pytest.mark.parametrize(
    ("path", "body"),
    [(SETTLE, ROUND), (VOID, json.dumps(round_body(reason="power cut")).encode())],
    ids=["settle", "void"],
)
def test_the_size_of_a_body_is_limited_to_the_byte(path: str, body: bytes, api: Api) -> None:
    answer = api.send(path, body)
    assert answer.status_code == 200
    assert api.send(path, padded(body, MAX_BODY)).data == answer.data
    problem = is_problem(api.send(path, padded(body, MAX_BODY + 1)), "body-too-large")
    assert problem["status"] == 413
    assert str(MAX_BODY + 1) in problem["detail"]
    assert str(MAX_BODY) in problem["detail"]


def test_a_claim_may_be_larger_than_a_round(api: Api) -> None:
    body = json.dumps({"request": round_body(), "outcome": api.settle(round_body())}).encode()
    for size in (MAX_BODY + 1, 4 * MAX_BODY):
        answer = api.send(VERIFY, padded(body, size))
        assert (answer.status_code, answer.get_json()["valid"]) == (200, True)
    is_problem(api.send(VERIFY, padded(body, 4 * MAX_BODY + 1)), "body-too-large")


@pytest.mark.parametrize("path", [path for path in POSTS if path not in (BATCH, VERIFY)])
def test_every_size_is_limited(path: str, api: Api) -> None:
    is_problem(api.send(path, b" " * (MAX_BODY + 1)), "body-too-large")
    is_problem(api.send(path, b" " * MAX_BODY), "malformed-json")


def chunked(client: FlaskClient, path: str, body: bytes) -> TestResponse:
    return client.post(
        path,
        input_stream=io.BytesIO(body),
        headers={"Transfer-Encoding": "chunked", "Content-Type": JSON},
        environ_overrides={"wsgi.input_terminated": True},
    )


@pytest.mark.parametrize(
    "body", [ROUND, b"", padded(ROUND, MAX_BODY), padded(ROUND, MAX_BODY) + b"garbage"], ids=len
)
@pytest.mark.parametrize("path", POSTS)
def test_a_chunked_body_is_refused_not_cut(path: str, body: bytes, api: Api) -> None:
    problem = is_problem(chunked(api.client, path, body), "length-required")
    assert problem["status"] == 411
    assert "Content-Length" in problem["detail"]


@pytest.mark.parametrize(
    "content_type",
    [
        "application/json",
        "Application/JSON",
        "application/json; charset=utf-8",
        "application/json;charset=UTF-8",
        'application/json; charset="utf-8"',
    ],
)
def test_json_in_utf_8_is_taken(content_type: str, api: Api) -> None:
    assert api.send(SETTLE, ROUND, {"Content-Type": content_type}).status_code == 200


@pytest.mark.parametrize(
    "content_type",
    [
        "text/plain",
        "text/json",
        "application/x-www-form-urlencoded",
        "multipart/form-data; boundary=x",
        "application/problem+json",
        "application/jsonl",
        "application/json; charset=latin-1",
        "application/json; charset=utf-16",
        "application/json, text/plain",
        "json",
        "*/*",
        ";",
        "text/plain; " + "x" * 4000,
    ],
)
@pytest.mark.parametrize("path", POSTS)
def test_another_content_type_is_refused(path: str, content_type: str, api: Api) -> None:
    problem = is_problem(api.send(path, ROUND, {"Content-Type": content_type}), "unsupported-media-type")
    assert problem["status"] == 415
    assert "application/json" in problem["detail"]
    assert content_type[:40] in problem["detail"]
    assert len(problem["detail"]) < 300


@pytest.mark.parametrize("path", POSTS)
def test_a_missing_content_type_is_refused(path: str, api: Api) -> None:
    problem = is_problem(api.client.post(path, data=ROUND), "unsupported-media-type")
    assert "no Content-Type" in problem["detail"]


@pytest.mark.parametrize("encoding", ["gzip", "br", "deflate", "zstd", "GZIP", "gzip, gzip", "nonsense"])
@pytest.mark.parametrize("path", POSTS)
def test_an_encoded_body_is_refused(path: str, encoding: str, api: Api) -> None:
    problem = is_problem(api.send(path, ROUND, {"Content-Encoding": encoding}), "unsupported-media-type")
    assert "Content-Encoding" in problem["detail"]
