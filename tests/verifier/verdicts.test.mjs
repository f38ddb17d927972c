// What the verifier says to outcomes and certificates of the service, to forged ones and to nonsense:
// node --test verdicts.test.mjs (PYTHON names the Python that has the service)
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { webcrypto } from "node:crypto";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { rulesetDigest } from "../../service/api/verify/rules.js";
import { verify as verdictOn } from "../../service/api/verify/verdict.js";

const cwd = fileURLToPath(new URL("../../", import.meta.url));
const run = (command, input, ...parts) => JSON.parse(execFileSync(command, parts, { cwd, input, encoding: "utf8" }));
const made = run(process.env.PYTHON ?? "python3", "", "-m", "tests.verifier.specimens");
const { requests, rulesets, outcomes, by_status: byStatus } = made;
const { plain } = outcomes;
const forged = run("node", JSON.stringify(plain), "tests/verifier/forged.mjs");
const jwks = { keys: [...made.jwks.keys, ...forged.jwks.keys] };

const { subtle } = webcrypto;
const verify = (given, more = {}) =>
  verdictOn(typeof given === "string" ? given : JSON.stringify(given), { rulesets, jwks, subtle, ...more });
const codes = (report, wanted) => report.checks.filter(({ state }) => state === wanted).map(({ code }) => code);
const unsigned = ({ certificate, ...outcome }) => outcome;
/** An unsigned copy of an outcome with one place changed. */
const changed = (outcome, change) => {
  const copy = structuredClone(unsigned(outcome));
  change(copy);
  return copy;
};

// ------------------------------------------------------------------------------------------------ certificates

for (const [name, verdict, signed, state, code] of [
  ["active", "good", "key", "ok", "key_active"], ["retired", "good", "key", "ok", "key_retired"],
  ["next", "good", "key", "note", "key_next"], ["revoked", "bad", "key", "bad", "key_revoked"],
  ["development", "good", "development", "note", "key_development"],
]) {
  test(`signed by the service with a key that is ${name}`, async () => {
    const outcome = name === "active" ? plain : byStatus[name];
    const keys = name === "development" ? made.development_jwks : jwks;
    for (const given of [outcome, outcome.certificate, { certificate: outcome.certificate }, { outcome }]) {
      const report = await verify(given, { jwks: keys });
      assert.deepEqual([report.verdict, report.signed], [verdict, signed], JSON.stringify(report.checks));
      assert.ok(codes(report, state).includes(code));
      assert.ok(codes(report, "ok").includes("signature_valid"));
    }
  });
}

for (const [name, verdict, code] of [
  ["well_signed", "good"], ["stranger", "bad", "key_unknown"], ["wrong_alg", "bad", "wrong_alg"],
  ["no_alg", "bad", "wrong_alg"], ["wrong_typ", "bad", "wrong_typ"], ["wrong_header", "bad", "wrong_header"],
  ["marked", "bad", "wrong_header"], ["marked_false", "bad", "wrong_header"], ["not_canonical", "bad", "not_canonical"],
  ["altered", "bad", "signature_forged"], ["forged", "bad", "signature_forged"],
  ["under_other_kid", "bad", "signature_forged"], ["signed_lie", "bad", "totals_differs"],
]) {
  test(`certificate: ${name}`, async () => {
    const report = await verify(forged.certificates[name]);
    assert.equal(report.verdict, verdict, JSON.stringify(report.checks));
    assert.deepEqual(codes(report, "bad").slice(0, 1), code ? [code] : []);
    if (["altered", "signed_lie"].includes(name)) assert.equal(report.first.pointer, "/totals/returned");
  });
}

test("an outcome beside the certificate of another", async () => {
  const report = await verify({ ...plain, certificate: outcomes.other.certificate });
  assert.deepEqual([report.verdict, report.fault.code], ["bad", "payload_differs"]);
  const { pointer, claimed, signed } = report.first;
  assert.deepEqual([pointer, claimed, signed], ["/outcome_id", plain.outcome_id, outcomes.other.outcome_id]);
  // What only the service can say is compared with what it signed.
  for (const [pointer, change] of [
    ["/engine/version", (one) => { one.engine.version += "x"; }],
    ["/boxes/0/bets/0/reason", (one) => { one.boxes[0].bets[0].reason += "!"; }],
    ["/more", (one) => { one.more = null; }],
  ]) {
    const altered = await verify({ ...changed(plain, change), certificate: plain.certificate });
    assert.deepEqual([altered.verdict, altered.first.pointer], ["bad", pointer]);
  }
});

test("keys that are not what they say", async () => {
  const [first, ...rest] = jwks.keys;
  const others = { x: rest[0].x, crv: "P-256", kty: "EC", status: "expired" };
  for (const [name, value] of Object.entries(others)) {
    const keys = jwks.keys.map((key) => (key.status === "active" ? { ...key, [name]: value } : key));
    assert.deepEqual(codes(await verify(plain, { jwks: { keys } }), "bad"), ["key_malformed"], name);
  }
  assert.deepEqual(codes(await verify(plain, { jwks: { keys: [first] } }), "bad"), ["key_unknown"]);
});

test("without Web Crypto or Ed25519 all but the signature is checked", async () => {
  const withoutEd25519 = { importKey: () => Promise.reject(new Error("NotSupportedError")) };
  for (const [given, code] of [[undefined, "no_web_crypto"], [withoutEd25519, "no_ed25519"]]) {
    for (const outcome of [plain, outcomes.void]) {
      const report = await verify(outcome, { subtle: given });
      assert.deepEqual([report.verdict, report.signed, codes(report, "unknown")], ["partial", "unchecked", [code]]);
    }
  }
});

// ---------------------------------------------------------------------------------------------------- outcomes

test("an outcome that nobody signed", async () => {
  const report = await verify(unsigned(plain));
  assert.deepEqual([report.verdict, report.signed, codes(report, "note")], ["good", "nobody", ["unsigned"]]);
});

test("a seed entered beside an outcome that does not reveal it", async () => {
  const { hidden } = outcomes;
  const { server_seed: seed } = requests.plain.deal;
  assert.equal(hidden.request_digest, plain.request_digest);
  const partial = await verify(hidden);
  assert.equal(partial.verdict, "partial");
  assert.deepEqual(codes(partial, "unknown"), ["commitment_unknown", "shuffle_unknown", "identity_unknown"]);
  assert.equal((await verify(hidden, { serverSeed: ` ${seed.toUpperCase()}\n` })).verdict, "good");
  assert.equal((await verify({ certificate: hidden.certificate, server_seed: seed })).verdict, "good");
  const wrong = await verify(hidden, { serverSeed: "00".repeat(32) });
  assert.ok(codes(wrong, "bad").includes("commitment_differs"));
  assert.equal(wrong.first.pointer, "/deal/commitment");
  assert.ok(codes(await verify(plain, { serverSeed: "00".repeat(32) }), "bad").includes("other_seed"));
  const id = changed(hidden, (one) => { one.outcome_id = plain.outcome_id.replace(/^./, "z"); });
  assert.equal((await verify(id)).first.pointer, "/outcome_id");
});

test("a beacon is bound into the shuffle's seed", async () => {
  const { beacon } = outcomes;
  assert.ok(codes(await verify(beacon), "ok").includes("beacon_same"));
  for (const [change, pointer] of [
    [(deal) => { deal.beacon.value = `0${deal.beacon.value.slice(1)}`; }, "/deal/shuffle_seed"],
    [(deal) => { deal.beacon.source += "2"; }, "/deal/shuffle_seed"],
    [(deal) => { deal.beacon.value = deal.beacon.value.toUpperCase(); }, "/deal/beacon/value"],
    [(deal) => { deal.shuffle_seed = deal.client_seed; }, "/deal/shuffle_seed"],
    [(deal) => { delete deal.beacon; }, "/deal/beacon"],
  ]) {
    const report = await verify(changed(beacon, ({ deal }) => change(deal)));
    const places = report.differences.map((one) => one.pointer);
    assert.ok(report.verdict === "bad" && (places.includes(pointer) || pointer === "/deal/beacon"), places.join());
    assert.ok(codes(report, "bad").includes("beacon_differs"));
  }
});

test("rulesets: pasted, unknown, altered, with a parameter not understood", async () => {
  const own = rulesets["casino-1"];
  const change = (edit) => {
    const copy = structuredClone(own);
    edit(copy);
    return copy;
  };
  const verdict = async (more) => verify(plain, more);
  assert.ok(codes(await verdict({ rulesets: {}, ruleset: own }), "ok").includes("ruleset_pasted"));
  assert.deepEqual(codes(await verdict({ rulesets: {} }), "bad"), ["ruleset_unknown"]);
  const altered = change((rules) => { rules.title.en += "!"; });
  assert.deepEqual(codes(await verdict({ ruleset: altered }), "bad"), ["ruleset_inconsistent"]);
  const restated = change((rules) => { rules.title.en += "!"; });
  restated.digest = rulesetDigest(altered);
  assert.deepEqual(codes(await verdict({ ruleset: restated }), "bad"), ["ruleset_differs_pasted"]);
  for (const edit of [
    (rules) => { rules.bet.jackpot = { value: 1, basis: "printed" }; },
    (rules) => { rules.deal.order.value = "backwards"; },
    (rules) => { rules.bet.odds.none = { value: 1, basis: "printed" }; },
    (rules) => { delete rules.limits; },
  ]) {
    const strange = change(edit);
    delete strange.digest;
    assert.ok(codes(await verdict({ ruleset: strange }), "bad").includes("ruleset_parameter"));
  }
});

test("what is said first fits the first difference", async () => {
  const report = await verify(changed(plain, ({ boxes }) => {
    boxes[0].bets[0].net += 1;
    boxes[1].hand.reverse();
  }));
  assert.deepEqual([report.first.pointer, report.fault.id], ["/boxes/0/bets/0/net", "settlement"]);
});

test("other seeds are named before the decisions that they make impossible", async () => {
  for (const [name, value, pointer] of [
    ["server_seed", "cd".repeat(32), /commitment$/], ["client_seed", "you", /deck/], ["nonce", 4, /deck/],
  ]) {
    const report = await verify(changed(plain, ({ deal }) => { deal[name] = value; }));
    assert.match(report.first.pointer, pointer);
    assert.equal(report.fault.id, name === "server_seed" ? "commitment" : "shuffle");
  }
});

test("a request, alone, with its outcome, and with a commitment", async () => {
  const { plain: request } = requests;
  const alone = await verify(request);
  assert.equal(alone.verdict, "computed");
  assert.equal(alone.expected.outcome_id, plain.outcome_id);
  assert.equal((await verify({ request, outcome: plain })).verdict, "good");
  const [first, ...rest] = request.boxes;
  const dearer = { ...request, boxes: [{ ...first, bonus: 26 }, ...rest] };
  assert.equal((await verify({ request: dearer, outcome: plain })).first.pointer, "/boxes/0/bets/2/stake");
  const elsewhere = { ...request, ruleset: "trainer-1" };
  assert.equal((await verify({ request: elsewhere, outcome: plain })).verdict, "bad");
  const committed = (commitment) => verify({ ...request, deal: { ...request.deal, commitment } });
  assert.deepEqual(codes(await committed("00".repeat(32)), "bad"), ["commitment_differs"]);
  assert.equal((await committed(plain.deal.commitment.toUpperCase())).verdict, "computed");
});

test("identity: the digest of the canonical request", async () => {
  for (const name of ["request_digest", "outcome_id"]) {
    const change = (to) => verify(changed(plain, (one) => { one[name] = to; }));
    assert.equal((await change(`${plain[name]}0`)).first.pointer, `/${name}`);
    assert.equal((await change(undefined)).first.pointer, `/${name}`);
  }
  const report = await verify(changed(plain, (one) => { one.context.round_id += "2"; }));
  assert.deepEqual([report.first.pointer, report.fault.code], ["/outcome_id", "identity_differs"]);
});

// ------------------------------------------------------------------------------------------------ void outcomes

test("a void outcome is worth as much as its signature", async () => {
  for (const name of ["void", "void_deck"]) {
    const outcome = outcomes[name];
    for (const given of [outcome, outcome.certificate]) {
      const report = await verify(given);
      assert.deepEqual([report.verdict, report.signed, codes(report, "bad")], ["void", "key", []]);
    }
    const report = await verify(unsigned(outcome));
    assert.deepEqual([report.verdict, report.signed, codes(report, "bad")], ["unproven", "nobody", []]);
  }
  const report = await verify(made.void_development, { jwks: made.development_jwks });
  assert.deepEqual([report.verdict, report.signed], ["unproven", "development"]);
});

test("a void outcome with its seed, its request or both is computed whole", async () => {
  const outcome = unsigned(outcomes.void);
  const { server_seed: serverSeed } = requests.plain.deal;
  const [blind, , , other] = (await verify(outcome)).expected.boxes;
  assert.deepEqual([blind.staked, blind.returned, other.staked], [325, 325, 750]);
  const seeded = await verify(outcome, { serverSeed });
  assert.ok(codes(seeded, "ok").includes("identity_same") && codes(seeded, "ok").includes("actions_same"));
  assert.ok(seeded.steps.length > 3);
  assert.equal((await verify(outcome, { serverSeed: "11".repeat(32) })).first.pointer, "/deal/commitment");
  const { reason: _, ...request } = requests.void;
  assert.ok(codes(await verify({ request, outcome }), "ok").includes("identity_same"));
  assert.equal((await verify(requests.void)).expected.outcome_id, outcome.outcome_id);
  const deck = await verify({ request: requests.void_deck, outcome: outcomes.void_deck });
  assert.ok(codes(deck, "ok").includes("identity_same"));
});

for (const [what, change, found] of [
  ["a stake kept", ({ boxes }) => { boxes[1].bets[0].returned -= 1; }, "/boxes/1/bets/0/returned"],
  ["a stake left out", ({ boxes }) => { boxes[1].bets.pop(); }, "/boxes/1/bets/3"],
  ["a stake made up", ({ boxes }) => { boxes[1].bets[3].name = "insurance"; }, "/boxes/1/bets/3/name"],
  ["a sum", ({ boxes }) => { boxes[0].staked += 1; }, "/boxes/0/staked"],
  ["a total", ({ totals }) => { totals.returned = 0; }, "/totals/returned"],
  ["a ruleset's digest", ({ ruleset }) => { ruleset.digest = rulesets["trainer-1"].digest; }, "/ruleset/digest"],
  ["a dealer", (one) => { one.dealer = {}; }, "/dealer"],
  ["a hand", ({ boxes }) => { boxes[0].dealt = ["Ah"]; }, "/boxes/0/dealt"],
  ["a seed", ({ deal }) => { deal.server_seed = requests.plain.deal.server_seed; }, "/deal/server_seed"],
  ["a seed of the shuffle", ({ deal }) => { deal.shuffle_seed = "lucky"; }, "/deal/shuffle_seed"],
  ["limits", ({ table }) => { table.min_stake = 0; }, "/table/min_stake"],
  ["no boxes", (one) => { one.boxes = []; }, "/boxes"],
  ["no reason", (one) => { delete one.reason; }, "/reason"],
  ["a bet taken twice", ({ actions }) => { actions.push(actions[1]); }, "/actions/2"],
  ["a decision that does not exist", ({ actions }) => { actions[0].action = "pass"; }, "/actions/0"],
  ["an exchange of no cards", ({ actions }) => { actions[0] = { box: 2, action: "exchange" }; }, "/actions/0/discard"],
]) {
  test(`a void outcome with something wrong: ${what}`, async () => {
    const report = await verify(changed(outcomes.void, change));
    assert.deepEqual([report.verdict, report.first?.pointer ?? report.fault.pointer], ["bad", found]);
  });
}

// ------------------------------------------------------------------------------------------------- what is no outcome

const problem = async (given) =>
  verify(given).then((report) => report.checks.find(({ state }) => state === "bad")?.code, ({ code }) => code);
const { plain: asked } = requests;
const deckOf = (edit) => ({ ...requests.deck, deal: { deck: edit([...requests.deck.deal.deck]) } });
const dealOf = (members) => ({ ...asked, deal: { ...asked.deal, ...members } });

for (const [what, given, code] of [
  ["nothing", "  ", "empty"], ["half of a JSON", JSON.stringify(plain).slice(0, 300), "not_json"],
  ["prose", "hello there", "not_json_at_all"], ["a list", "[1]", "not_object"],
  ["a truncated certificate", forged.certificates.truncated, "jws_parts"],
  ["a short signature", forged.certificates.short_signature, "jws_signature"],
  ["a signature with bits left over", forged.certificates.loose_bits, "jws_signature"],
  ["no base64url", "e!.x.y", "not_json_at_all"], ["a broken header", "e30x.e30.AAAA", "jws_header"],
  ["a broken payload", "e30.e30x.AAAA", "jws_payload"], ["keys", made.jwks, "is_jwks"],
  ["a ruleset", rulesets["casino-1"], "is_ruleset"],
  ["an error message", { type: "/problems/limits", title: "Limits", status: 422 }, "is_problem"],
  ["something else", { a: 1 }, "neither"], ["an outcome of no kind", { ...plain, status: "open" }, "payload_differs"],
  ["an outcome of no kind, unsigned", { ...unsigned(plain), status: "open" }, "status"],
  ["a deck of 51", deckOf((deck) => deck.slice(1)), "deck_count"],
  ["a card twice", deckOf((deck) => [...deck.slice(1), deck[1]]), "card_twice"],
  ["no card", deckOf((deck) => ["1h", ...deck.slice(1)]), "no_card"],
  ["a short seed", dealOf({ server_seed: "ab" }), "seed_shape"],
  ["a sealed seed", { ...asked, deal: { sealed_seed: "a.b.c.d.e" } }, "seed_missing"],
  ["a beacon without a source", dealOf({ beacon: { value: "00".repeat(16) } }), "beacon_source"],
  ["a beacon without digits", dealOf({ beacon: { source: "x", value: "no" } }), "beacon_value"],
  ["a commitment of no form", changed(outcomes.hidden, ({ deal }) => { deal.commitment = "x"; }), "commitment_shape"],
  ["decisions missing", { ...asked, actions: [] }, "incomplete"],
  ["an unknown ruleset", { ...asked, ruleset: "moon-1" }, "ruleset_unknown"],
  ["no boxes", { ...asked, boxes: [] }, "no_boxes"],
  ["out of turn", { ...asked, actions: [{ box: 3, action: "bet" }] }, "action_order"],
  ["an outcome without boxes", { ...unsigned(plain), boxes: null }, "shape"],
  ["no ante first", changed(plain, ({ boxes }) => { boxes[0].bets = []; }), "ante_row"],
  ["a certificate of nothing", plain.certificate.replace(/\..*\./, ".e30."), "signature_forged"],
]) {
  test(`problem: ${what}`, async () => assert.equal(await problem(given), code));
}
