// The parts below the verdict, each by itself: node --test units.test.mjs
import assert from "node:assert/strict";
import { createHash, createHmac, randomBytes } from "node:crypto";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { HmacDrbg, hmacSha256, sha256 } from "../../service/api/verify/crypto.js";
import {
  cardNumber, commitmentOf, evaluateHand, shuffledDeck, shuffleSeed, strength,
} from "../../service/api/verify/hands.js";
import { differences, fromBase64url, fromHex, toBase64url, toHex } from "../../service/api/verify/values.js";

const here = (path) => new URL(path, import.meta.url);
const source = (name) => readFileSync(here(`../../service/api/verify/${name}`), "utf8");
const json = (path) => JSON.parse(readFileSync(here(path), "utf8"));

test("SHA-256 and HMAC are those of Node", () => {
  for (const length of [0, 1, 31, 32, 55, 56, 63, 64, 65, 119, 120, 128, 1000, 100_000]) {
    const [key, bytes] = [randomBytes(length % 150), randomBytes(length)];
    assert.equal(toHex(sha256(bytes)), createHash("sha256").update(bytes).digest("hex"));
    assert.equal(toHex(hmacSha256(key, bytes)), createHmac("sha256", key).update(bytes).digest("hex"));
  }
});

test("HMAC_DRBG passes the published vectors (R7)", () => {
  const { cases } = json("../data/hmac_drbg_cavp.json");
  assert.ok(cases.length > 0);
  for (const one of cases) {
    const generator = new HmacDrbg(...[one.entropy_input, one.nonce, one.personalization_string].map(fromHex));
    generator.generate(one.returned_bits / 8);
    assert.equal(toHex(generator.generate(one.returned_bits / 8)), one.second_output);
  }
});

test("decks of the published seeds, with their rejected bytes (R1-R5)", () => {
  for (const one of json("../data/decks.json")) {
    const { deck, draws, bytes } = shuffledDeck(one.server_seed, one.client_seed, one.nonce);
    assert.equal(deck.join(" "), one.deck);
    assert.equal(bytes, one.bytes_used);
    assert.equal(commitmentOf(one.server_seed), one.commitment);
    const rejected = draws.filter((draw) => draw.rejected.length).map((draw) => [draw.i, draw.rejected]);
    assert.deepEqual(rejected, one.rejected);
  }
});

test("the published example of a beacon", () => {
  const beacon = { source: "example-beacon/4711", value: "5D41402ABC4B2A76B9719D911017C592" };
  const bound = "beacon/1:001e984240b9d2c414b0bb312016469efb0de26a7056a3f0fc107c1bf5c6a6c9";
  assert.equal(shuffleSeed("lucky", beacon), bound);
  assert.equal(shuffleSeed("lucky", undefined), "lucky");
});

test("published hands (C2, C5)", () => {
  for (const one of json("../data/hands.json")) {
    const { main, second } = evaluateHand(one.cards.split(" "));
    assert.deepEqual({ main, second }, { main: one.main, second: one.second }, one.cards);
  }
});

test("hands compare by their best five cards (C3, C4)", () => {
  const strengthOf = (hand) => strength(hand.split(" ").map(cardNumber));
  const order = [
    "2c 4d 5h 7s Kc", "2c 4d 5h 7s Ac", "2c 3d 5h Ks Ac", "2c 4d 5h Ks Ac", "2c 2d 3h 4s 5c", "2c 2d 3h 4s Ac",
    "3c 3d 2h 2s 4c", "3c 3d 2h 2s 5c", "2c 2d 2h 3s 4c", "Ac 2d 3h 4s 5c", "2c 3d 4h 5s 6c", "2c 3c 4c 5c 7c",
    "2c 2d 2h 3s 3c", "2c 2d 2h 2s 3c", "Ac 2c 3c 4c 5c", "Tc Jc Qc Kc Ac",
  ].map(strengthOf);
  assert.deepEqual([...new Set(order)].sort((a, b) => a - b), order);
  assert.equal(strengthOf("2c 2d 9h Js Kc 3d"), strengthOf("2h 2s 9c Jd Kh"));
  assert.equal(strengthOf("2c 3d 4h 5s 6c Ah"), strengthOf("2h 3s 4c 5d 6h"));
});

test("base64url is that of Node, and strict", () => {
  for (let length = 0; length < 70; length += 1) {
    const bytes = randomBytes(length);
    assert.equal(toBase64url(bytes), bytes.toString("base64url"));
    assert.deepEqual(fromBase64url(bytes.toString("base64url")), Uint8Array.from(bytes));
  }
  const loose = ["A", "AB", "AAB", "AA==", "A+A/", "AA A", "\u00e9"];
  assert.deepEqual(loose.map(fromBase64url), loose.map(() => null));
});

test("differences name every place, in the order of the computed document", () => {
  const claimed = { a: [1, 2], "x/y~": { b: null }, more: 1 };
  const computed = { "x/y~": { b: 0 }, a: [1, 3, 4], absent: undefined, gone: true };
  const places = differences(claimed, computed).map(({ pointer }) => pointer);
  assert.deepEqual(places, ["/x~1y~0/b", "/a/1", "/a/2", "/gone", "/more"]);
  assert.deepEqual(differences({ toString: 1 }, {}), [{ pointer: "/toString", claimed: 1, computed: undefined }]);
  assert.deepEqual(differences(JSON.parse('{"__proto__": 1}'), {}).map(({ pointer }) => pointer), ["/__proto__"]);
});

// Where a code is given that has its text, in the verifier's files and in the page's.
const CODES = [
  /\bneed\(.*?, "([a-z_]+)"(?:\)|, ["`p])/g, /\b(?:new Problem|refuse|fault|ok)\("([a-z_]+)"/g,
  /\bfinding\([^,]+, [^,]+, "([a-z_]+)"/g, /\bfound\("\w+", "([a-z_]+)"/g,
];
const COMPOSED = /_(same|differs|unknown)$|^(failed|key)_|_six$|_not_json$/;

test("every code has its text in both languages, and every text is used", () => {
  const names = ["crypto", "hands", "outcome", "page", "round", "rules", "table", "values", "verdict", "words"];
  const code = names.map((name) => source(`${name}.js`)).join("\n") + source("page.html");
  const texts = JSON.parse(source("texts.json"));
  const inside = (value) => Object.entries(value).sort().map(([name, inner]) => [name, shape(inner)]);
  const shape = (value) => (typeof value === "string" ? (value.match(/\{\w+\}/g) ?? []).sort().join() : inside(value));
  assert.deepEqual(shape(texts.ru), shape(texts.en));
  const { problems, messages, reasons, page, verdicts, sentences, notices } = texts.en;
  const given = CODES.flatMap((pattern) => [...code.matchAll(pattern)].map(([, name]) => name));
  assert.ok(given.length > 80);
  assert.deepEqual(given.filter((name) => !(name in problems) && !(name in messages)), []);
  const isUsed = (name) => COMPOSED.test(name) || new RegExp(`["\`.]${name}\\b|\\b${name}[:?]`).test(code);
  const all = [problems, messages, reasons, page, verdicts, sentences, notices].flatMap(Object.keys);
  assert.deepEqual(all.filter((name) => !isUsed(name)), []);
});
