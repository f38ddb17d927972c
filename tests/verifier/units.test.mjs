// Parts of the verifier by themselves: node --test units.test.mjs
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { createHash, createHmac, randomBytes, webcrypto } from "node:crypto";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import * as verifier from "../../service/api/verify/verifier.js";

const here = (path) => new URL(path, import.meta.url);
const json = (path) => JSON.parse(readFileSync(here(path), "utf8"));
const hex = (bytes) => Buffer.from(bytes).toString("hex");

test("SHA-256 and HMAC are those of Node", () => {
  for (const length of [0, 1, 31, 32, 55, 56, 63, 64, 65, 119, 120, 128, 1000, 100_000]) {
    const [key, bytes] = [randomBytes(length % 150), randomBytes(length)];
    assert.equal(hex(verifier.sha256(bytes)), createHash("sha256").update(bytes).digest("hex"));
    assert.equal(hex(verifier.hmacSha256(key, bytes)), createHmac("sha256", key).update(bytes).digest("hex"));
  }
});

test("HMAC_DRBG passes the published vectors (R7)", () => {
  const { cases } = json("../data/hmac_drbg_cavp.json");
  assert.ok(cases.length > 0);
  for (const one of cases) {
    const inputs = [one.entropy_input, one.nonce, one.personalization_string].map(verifier.fromHex);
    const generator = new verifier.HmacDrbg(...inputs);
    generator.generate(one.returned_bits / 8);
    assert.equal(hex(generator.generate(one.returned_bits / 8)), one.second_output);
  }
});

test("decks of the published seeds, with their rejected bytes (R1-R5)", () => {
  for (const one of json("../data/decks.json")) {
    const { deck, draws, bytes } = verifier.shuffledDeck(one.server_seed, one.client_seed, one.nonce);
    assert.equal(deck.join(" "), one.deck);
    assert.equal(bytes, one.bytes_used);
    assert.equal(verifier.commitmentOf(one.server_seed), one.commitment);
    const rejected = draws.filter((draw) => draw.rejected.length).map((draw) => [draw.i, draw.rejected]);
    assert.deepEqual(rejected, one.rejected);
  }
});

test("published hands (C2, C5)", () => {
  for (const one of json("../data/hands.json")) {
    const { main, second } = verifier.evaluateHand(one.cards.split(" "));
    assert.deepEqual({ main, second }, { main: one.main, second: one.second }, one.cards);
  }
});

test("hands compare by their best five cards (C3, C4)", () => {
  const order = [
    "2c 4d 5h 7s Kc", "2c 4d 5h 7s Ac", "2c 3d 5h Ks Ac", "2c 4d 5h Ks Ac", "2c 2d 3h 4s 5c", "2c 2d 3h 4s Ac", "3c 3d 2h 2s 4c",
    "3c 3d 2h 2s 5c", "2c 2d 2h 3s 4c", "Ac 2d 3h 4s 5c", "2c 3d 4h 5s 6c", "2c 3c 4c 5c 7c", "2c 2d 2h 3s 3c", "2c 2d 2h 2s 3c",
    "Ac 2c 3c 4c 5c", "Tc Jc Qc Kc Ac",
  ].map((hand) => hand.split(" "));
  order.forEach((first, i) => order.forEach((second, j) => assert.equal(verifier.compareHands(first, second), Math.sign(i - j))));
  assert.equal(verifier.compareHands("2c 2d 9h Js Kc 3d".split(" "), "2h 2s 9c Jd Kh".split(" ")), 0);
  assert.equal(verifier.compareHands("2c 3d 4h 5s 6c Ah".split(" "), "2h 3s 4c 5d 6h".split(" ")), 0);
});

// ---------------------------------------------------------------------------- outcomes, certificates, problems

const settled = (request) => {
  const python = process.env.PYTHON ?? "python3";
  const root = new URL("../../", import.meta.url);
  return JSON.parse(execFileSync(python, ["-m", "service.cli", "settle", "-"], { cwd: root, input: JSON.stringify(request), encoding: "utf8" }));
};
const published = (id) => {
  const root = new URL("../../", import.meta.url);
  return JSON.parse(execFileSync(process.env.PYTHON ?? "python3", ["-m", "service.cli", "rulesets", id], { cwd: root, encoding: "utf8" }));
};
const REQUEST = {
  ruleset: "trainer-1", deal: { server_seed: "ab".repeat(32), client_seed: "me", nonce: 3 },
  boxes: [{ box: 1, ante: 100, bonus: 10 }, { box: 2, ante: 50 }], actions: [{ box: 1, action: "buy_sixth" }, { box: 1, action: "bet" }, { box: 2, action: "fold" }],
};
const rulesets = { "trainer-1": published("trainer-1") };
const complete = (() => {
  try {
    return settled(REQUEST);
  } catch {
    return settled({ ...REQUEST, actions: [...REQUEST.actions, { box: 1, action: "buy_game" }] });
  }
})();
const { certificate: _, ...outcome } = complete;
const { jwks, certificates } = JSON.parse(
  execFileSync("node", [new URL("certificates.mjs", import.meta.url).pathname], { input: JSON.stringify(outcome), encoding: "utf8" }),
);
const { subtle } = webcrypto;
const verify = (given, more = {}) => verifier.verify(typeof given === "string" ? given : JSON.stringify(given), { rulesets, jwks, subtle, ...more });
const codes = (report, wanted) => report.checks.filter(({ state }) => state === wanted).map(({ code }) => code);

for (const [name, verdict, state, code] of [
  ["active", "good", "ok", "key_active"], ["retired", "good", "ok", "key_retired"], ["next", "good", "note", "key_next"],
  ["development", "good", "note", "key_development"], ["revoked", "bad", "bad", "key_revoked"], ["stranger", "bad", "bad", "key_unknown"],
  ["wrong_alg", "bad", "bad", "wrong_alg"], ["wrong_typ", "bad", "bad", "wrong_typ"], ["wrong_header", "bad", "bad", "wrong_header"],
  ["not_canonical", "bad", "bad", "not_canonical"], ["altered", "bad", "bad", "signature_forged"], ["forged", "bad", "bad", "signature_forged"],
  ["signed_lie", "bad", "bad", "totals_differs"],
]) {
  test(`certificate: ${name}`, async () => {
    const report = await verify(certificates[name]);
    assert.equal(report.verdict, verdict);
    assert.ok(codes(report, state).includes(code), JSON.stringify(report.checks));
    assert.deepEqual(codes(report, "bad"), verdict === "bad" ? codes(report, "bad") : []);
    if (name === "altered" || name === "signed_lie") assert.equal(report.first.pointer, "/totals/returned");
  });
}

test("an outcome with its certificate, and one beside somebody else's", async () => {
  assert.equal((await verify({ ...outcome, certificate: certificates.active })).verdict, "good");
  const other = { ...outcome, context: { altered: true }, certificate: certificates.active };
  const report = await verify(other);
  assert.ok(codes(report, "bad").includes("payload_differs"));
  assert.equal(report.first.pointer, "/context");
});

test("a key whose id is not its thumbprint is refused", async () => {
  const keys = jwks.keys.map((key) => (key.status === "active" ? { ...key, x: jwks.keys[1].x } : key));
  assert.deepEqual(codes(await verify(certificates.active, { jwks: { keys } }), "bad"), ["key_malformed"]);
});

test("without Web Crypto or Ed25519 all but the signature is checked", async () => {
  const withoutEd25519 = { importKey: () => Promise.reject(new Error("NotSupportedError")) };
  for (const [given, code] of [[undefined, "no_web_crypto"], [withoutEd25519, "no_ed25519"]]) {
    const report = await verify(certificates.active, { subtle: given });
    assert.equal(report.verdict, "partial");
    assert.deepEqual(codes(report, "unknown"), [code]);
  }
});

test("a seed entered beside an outcome that does not reveal it", async () => {
  const { server_seed: seed, ...deal } = outcome.deal;
  const withheld = { ...outcome, deal: { ...deal, deck: deal.deck.slice(0, deal.cards_used) } };
  delete withheld.request_digest;
  delete withheld.outcome_id;
  assert.equal((await verify(withheld)).verdict, "partial");
  assert.equal((await verify(withheld, { serverSeed: seed.toUpperCase() })).verdict, "good");
  const wrong = await verify(withheld, { serverSeed: "00".repeat(32) });
  assert.ok(codes(wrong, "bad").includes("commitment_differs"));
  assert.equal(wrong.first.pointer, "/deal/commitment");
  assert.ok(codes(await verify(outcome, { serverSeed: "00".repeat(32) }), "bad").includes("other_seed"));
});

test("rulesets: pasted, unknown, altered, with a parameter not understood", async () => {
  assert.ok(codes(await verify(outcome, { rulesets: {}, ruleset: rulesets["trainer-1"] }), "ok").includes("ruleset_pasted"));
  assert.deepEqual(codes(await verify(outcome, { rulesets: {} }), "bad"), ["ruleset_unknown"]);
  const altered = structuredClone(rulesets["trainer-1"]);
  altered.title.en += "!";
  assert.deepEqual(codes(await verify(outcome, { ruleset: altered }), "bad"), ["ruleset_inconsistent"]);
  altered.digest = verifier.rulesetDigest(structuredClone(altered));
  assert.deepEqual(codes(await verify(outcome, { ruleset: structuredClone(altered) }), "bad"), ["ruleset_differs_pasted"]);
  for (const change of [(rules) => { rules.bet.jackpot = { value: 1, basis: "printed" }; }, (rules) => { rules.deal.order.value = "backwards"; }, (rules) => { delete rules.limits; }]) {
    const strange = structuredClone(rulesets["trainer-1"]);
    change(strange);
    delete strange.digest;
    assert.ok(codes(await verify(outcome, { ruleset: strange }), "bad").includes("ruleset_parameter"));
  }
});

test("what is said first fits the first difference", async () => {
  const altered = structuredClone(outcome);
  altered.boxes[0].bets[0].net += 1;
  altered.boxes[1].hand.reverse();
  const report = await verify(altered);
  assert.equal(report.first.pointer, "/boxes/0/bets/0/net");
  assert.equal(report.fault.id, "settlement");
});

test("other seeds are named before the decisions that they make impossible", async () => {
  for (const [name, value, pointer] of [["server_seed", "cd".repeat(32), /commitment$/], ["client_seed", "you", /deck/], ["nonce", 4, /deck/]]) {
    const report = await verify({ ...outcome, deal: { ...outcome.deal, [name]: value } });
    assert.match(report.first.pointer, pointer);
    assert.equal(report.fault.id, name === "server_seed" ? "commitment" : "shuffle");
  }
});

test("a request, alone, with its outcome, and with a commitment", async () => {
  assert.equal((await verify({ ...REQUEST, actions: outcome.actions })).verdict, "computed");
  assert.equal((await verify({ request: { ...REQUEST, actions: outcome.actions }, outcome })).verdict, "good");
  const other = { ...REQUEST, actions: outcome.actions, boxes: [{ box: 1, ante: 100, bonus: 11 }, { box: 2, ante: 50 }] };
  assert.equal((await verify({ request: other, outcome })).first.pointer, "/boxes/0/bets/2/stake");
  const deal = { ...REQUEST.deal, commitment: "00".repeat(32) };
  assert.deepEqual(codes(await verify({ ...REQUEST, actions: outcome.actions, deal }), "bad"), ["commitment_differs"]);
});

test("answers of the service around an outcome", async () => {
  for (const given of [{ outcome }, { results: [{ outcome }] }, { certificate: certificates.active }, JSON.stringify(certificates.active), `\uFEFF ${JSON.stringify(outcome)}\n`]) {
    assert.equal((await verify(given)).verdict, "good");
  }
});

test("identity: the digest of the canonical request", async () => {
  const { requestDigest } = await verify(outcome);
  const named = { ...outcome, request_digest: requestDigest, outcome_id: requestDigest.slice(7, 39) };
  assert.equal((await verify(named)).verdict, "good");
  for (const [name, pointer] of [["request_digest", "/request_digest"], ["outcome_id", "/outcome_id"]]) {
    assert.equal((await verify({ ...named, [name]: `${named[name]}0` })).first.pointer, pointer);
  }
  assert.equal((await verify({ ...named, context: { x: 1 } })).first.pointer, "/request_digest");
});

test("a void round returns every stake and shows no cards", async () => {
  const bets = [{ name: "ante", stake: 100, returned: 100, net: 0 }, { name: "bonus", stake: 5, returned: 5, net: 0 }];
  const voided = { status: "void", reason: "the table closed", ruleset: outcome.ruleset, boxes: [{ box: 1, bets, staked: 105, returned: 105, net: 0 }], totals: { staked: 105, returned: 105, net: 0 } };
  assert.equal((await verify(voided)).verdict, "void");
  const short = structuredClone(voided);
  short.boxes[0].bets[1].returned = 4;
  assert.equal((await verify(short)).first.pointer, "/boxes/0/bets/1/returned");
  assert.equal((await verify({ ...voided, totals: { ...voided.totals, returned: 100 } })).first.pointer, "/totals/returned");
  assert.equal((await verify({ ...voided, dealer: {} })).first.pointer, "/dealer");
  assert.equal((await verify({ ...voided, boxes: [] })).verdict, "bad");
});

const problem = async (given, more) => verify(given, more).then((report) => report.checks.find(({ state }) => state === "bad").code, ({ code }) => code);

for (const [what, given, code] of [
  ["nothing", "  ", "empty"], ["half of a JSON", JSON.stringify(outcome).slice(0, 300), "not_json"], ["prose", "hello there", "not_json_at_all"],
  ["a list", "[1]", "not_object"], ["a truncated certificate", certificates.truncated, "jws_parts"], ["a short signature", certificates.short_signature, "jws_signature"],
  ["no base64url", "e!.x.y", "not_json_at_all"], ["a broken header", "e30x.e30.AAAA", "jws_header"], ["keys", { keys: [] }, "is_jwks"],
  ["a ruleset", { ...rulesets["trainer-1"] }, "is_ruleset"], ["an error message", { type: "/problems/limits", title: "Limits", status: 422 }, "is_problem"],
  ["a batch", { results: [{ outcome }, { outcome }] }, "batch"], ["something else", { a: 1 }, "neither"],
  ["a deck of 51", { ...REQUEST, deal: { deck: outcome.deal.deck.slice(1) } }, "deck_count"],
  ["a card twice", { ...REQUEST, deal: { deck: [...outcome.deal.deck.slice(0, 51), outcome.deal.deck[0]] } }, "card_twice"],
  ["no card", { ...REQUEST, deal: { deck: ["1h", ...outcome.deal.deck.slice(1)] } }, "no_card"],
  ["a short seed", { ...REQUEST, deal: { server_seed: "ab" } }, "seed_shape"], ["a sealed seed", { ...REQUEST, deal: { sealed: "x" } }, "seed_missing"],
  ["decisions missing", { ...REQUEST, actions: [] }, "incomplete"], ["an unknown ruleset", { ...REQUEST, ruleset: "moon-1" }, "ruleset_unknown"],
  ["no boxes", { ...REQUEST, boxes: [] }, "no_boxes"], ["out of turn", { ...REQUEST, actions: [{ box: 2, action: "bet" }] }, "action_order"],
  ["an outcome without boxes", { ...outcome, boxes: null }, "shape"], ["no ante first", { ...outcome, boxes: [{ ...outcome.boxes[0], bets: [] }] }, "ante_row"],
]) {
  test(`problem: ${what}`, async () => assert.equal(await problem(given), code));
}

test("every code has its text in both languages, and every text is used", () => {
  const source = ["verifier.js", "page.js"].map((name) => readFileSync(here(`../../service/api/verify/${name}`), "utf8")).join("\n");
  const texts = json("../../service/api/verify/texts.json");
  const shape = (value) => (typeof value === "string" ? (value.match(/\{\w+\}/g) ?? []).sort().join() : Object.fromEntries(Object.entries(value).sort().map(([name, inner]) => [name, shape(inner)])));
  assert.deepEqual(shape(texts.ru), shape(texts.en));
  const { problems, messages, reasons } = texts.en;
  const named = source.matchAll(/(?:need\([^\n]*?|new Problem\()(?<!== )"([a-z_]+)"(?=[,)])/g);
  for (const [, code] of named) assert.ok(code in problems || code in messages, code);
  const made = /_(same|differs|unknown)$|^failed_|_not_json$/;
  const unused = [problems, messages, reasons].flatMap(Object.keys).filter((code) => !source.includes(`"${code}"`) && !made.test(code));
  assert.deepEqual(unused, []);
});
