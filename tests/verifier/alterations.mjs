// node alterations.mjs FOLDER: does the verifier find every alteration in FOLDER/altered.ndjson, and find it first?
// What the round is computed from (seeds, stakes, actions …) cannot be contradicted at its own place unless the
// request is there: then the verdict must be bad, and the consequence or the request's digest be named.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { verify } from "../../service/api/verify/verdict.js";

const folder = process.argv[2];
const rulesets = JSON.parse(readFileSync(join(folder, "rulesets.json"), "utf8"));
const SAID_ONLY = [/^\/engine\/(version|digest)$/, /^\/boxes\/\d+\/bets\/\d+\/reason$/];
const INPUTS = [
  /^\/deal\/(server_seed|client_seed|nonce|source|beacon)/, /^\/table/, /^\/actions/, /^\/context/, /^\/reason$/,
  /^\/boxes\/\d+\/(box|blind|player)$/, /^\/boxes\/\d+\/bets\/\d+\/(name|stake)$/, /^\/status$/, /^\/ruleset\/id$/,
];
const IDENTITY = /^\/(request_digest|outcome_id)$/;
const CONSEQUENCES = [
  [/server_seed/, /^\/deal\/commitment$/],
  [/client_seed|nonce/, /^\/deal\/(deck\/\d+|nonce|client_seed|shuffle_seed)$/],
  [/beacon/, /^\/deal\/shuffle_seed$/], [/^\/(context|reason)/, IDENTITY],
];
const tally = { output: 0, input: 0, said: 0, missed: [], service: [] };
const matches = (patterns, pointer) => patterns.some((pattern) => pattern.test(pointer));

function isInput(pointer, { request, outcome }) {
  if (request) return pointer === "/reason";
  return matches(INPUTS, pointer) || (outcome.deal.source === "deck" && pointer.startsWith("/deal/deck"));
}

function isFound(pointer, found, shown) {
  if (found === pointer || !isInput(pointer, shown)) return found === pointer || found === "/ruleset";
  // A void outcome shows no deck; what contradicts its seeds is the request's digest, or an action on other cards.
  const isVoid = shown.outcome.status === "void" && (IDENTITY.test(found) || found.startsWith("/actions"));
  return isVoid || CONSEQUENCES.every(([input, place]) => !input.test(pointer) || place.test(found));
}

for (const line of readFileSync(join(folder, "altered.ndjson"), "utf8").trim().split("\n")) {
  const { pointer, shown, valid } = JSON.parse(line);
  const report = await verify(JSON.stringify(shown), { rulesets });
  const isBad = report.verdict === "bad";
  const isSaid = matches(SAID_ONLY, pointer);
  const found = report.first?.pointer ?? report.fault?.pointer;
  tally[isSaid ? "said" : isInput(pointer, shown) ? "input" : "output"] += 1;
  const summary = { pointer, found, verdict: report.verdict, code: report.fault?.code, valid };
  if (isSaid ? isBad : !isBad || !isFound(pointer, found, shown)) tally.missed.push(summary);
  if (valid && isBad) tally.service.push(summary);
}
const { missed, service } = tally;
console.log(JSON.stringify({ ...tally, missed: missed.slice(0, 15), service: service.slice(0, 15) }));
