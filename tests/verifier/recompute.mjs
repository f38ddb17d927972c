// node recompute.mjs FOLDER: verifies every outcome of FOLDER/rounds.ndjson, signature and all, and every fourth also
// by its certificate alone and by its request. Equal means equal to the last field, but for the wording of the reasons
// and the engine's own version and digest. Prints one JSON object: counts, and the first rounds that differ.
import { webcrypto } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { completed } from "../../service/api/verify/outcome.js";
import { canonicalJson } from "../../service/api/verify/values.js";
import { verify } from "../../service/api/verify/verdict.js";

const folder = process.argv[2];
const text = (name) => readFileSync(join(folder, name), "utf8");
const [rulesets, jwks] = ["rulesets", "jwks"].map((name) => JSON.parse(text(`${name}.json`)));
const options = { rulesets, jwks, subtle: webcrypto.subtle };
const tables = { rulesets: {}, deals: {}, signers: {}, bets: {}, results: {}, draws: {}, mains: {} };
const seen = { rounds: 0, compared: 0, ...tables };
const failures = [];

const count = (table, name) => {
  table[name] = (table[name] ?? 0) + 1;
};

function countRound({ request, outcome, signed_by: signer }) {
  const isHidden = request.deal.server_seed && !outcome.deal.server_seed;
  seen.rounds += 1;
  count(seen.rulesets, outcome.ruleset.id);
  count(seen.signers, signer);
  const { deal: { beacon }, context, status } = outcome;
  const kinds = { void: status === "void", beacon, hidden: isHidden, deck: request.deal.deck, context };
  for (const name of Object.keys(kinds).filter((kind) => kinds[kind])) count(seen.deals, name);
  if (outcome.status === "settled") countResults(outcome);
}

function countResults({ dealer, boxes }) {
  count(seen.draws, dealer.draws.length);
  for (const box of boxes) {
    count(seen.results, box.result);
    count(seen.mains, box.second ? `${box.main}+${box.second}` : box.main);
    for (const bet of box.bets) count(seen.bets, `${bet.name} ${bet.clause} ${Math.sign(bet.net)}`);
  }
}

async function compare(what, given, more, line, verdict) {
  seen.compared += 1;
  const pasted = typeof given === "string" ? given : JSON.stringify(given);
  const report = await verify(pasted, { ...options, ...more }).catch((problem) => ({ verdict: String(problem) }));
  const { verdict: found, fault, first } = report;
  if (found !== verdict) failures.push({ what, found, fault, first, line });
  return report;
}

async function compareRequest({ request, outcome }, more, line, verdict) {
  await compare("certificate", outcome.certificate, more, line, verdict);
  await compare("request and outcome", { request, outcome }, {}, line, verdict);
  const asked = await compare("request", request, {}, line, "computed");
  const { certificate: _, ...payload } = outcome;
  const own = asked.computed && completed({ outcome: asked.computed, requestDigest: asked.requestDigest }, payload);
  if (canonicalJson(own) !== canonicalJson(payload)) failures.push({ what: "computed from the request", own, line });
}

async function compareRound(line, place) {
  const one = JSON.parse(line);
  const { request, outcome, signed_by: signer } = one;
  countRound(one);
  const isVoid = outcome.status === "void";
  const verdict = !isVoid ? "good" : signer === "development" ? "unproven" : "void";
  const isHidden = outcome.deal.source === "seed" && !outcome.deal.server_seed;
  const more = isHidden ? { serverSeed: request.deal.server_seed } : {};
  const { requestDigest } = await compare("outcome", outcome, more, line, verdict);
  const expected = isVoid && request.deal.deck ? null : outcome.request_digest; // a void outcome shows no deck
  if (requestDigest !== expected) failures.push({ what: "digest", requestDigest, line });
  if (isHidden) await compare("outcome without its seed", outcome, {}, line, isVoid ? verdict : "partial");
  if (place % 4 === 0) await compareRequest(one, more, line, verdict);
}

// A few rounds at a time: signatures are checked in threads of their own.
const lines = text("rounds.ndjson").trimEnd().split("\n");
for (let place = 0; place < lines.length; place += 16) {
  await Promise.all(lines.slice(place, place + 16).map((line, i) => compareRound(line, place + i)));
}
console.log(JSON.stringify({ ...seen, failed: failures.length, failures: failures.slice(0, 3) }));
