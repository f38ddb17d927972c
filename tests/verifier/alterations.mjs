// node alterations.mjs FOLDER COUNT: takes COUNT rounds of FOLDER/rounds.ndjson, alters one place of the outcome
// at a time and looks whether the verifier finds it, and finds it first.
// What the round is computed from (seeds, stakes, actions …) cannot be contradicted at its own place: there the
// verdict must be bad, and the consequence or the request's digest be named.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { verify } from "../../service/api/verify/verifier.js";

const [folder, count] = [process.argv[2], Number(process.argv[3])];
const rulesets = JSON.parse(readFileSync(join(folder, "rulesets.json"), "utf8"));
const lines = readFileSync(join(folder, "rounds.ndjson"), "utf8").trim().split("\n");
const INPUTS = [
  /^\/deal\/(server_seed|client_seed|nonce|source)/, /^\/table/, /^\/actions/, /^\/context/,
  /^\/boxes\/\d+\/(box|blind|player)$/, /^\/boxes\/\d+\/bets\/\d+\/(name|stake)$/, /^\/status$/, /^\/ruleset\/id$/,
];
const SAID_ONLY = [/^\/engine\/(version|digest)$/, /reason$/];
const CONSEQUENCES = [[/^/, /^\//], [/server_seed/, /^\/deal\/commitment$/], [/client_seed|nonce/, /^\/deal\/(deck\/\d+|nonce|client_seed)$/], [/^\/context/, /^\/request_digest$/]];
const tally = { output: 0, input: 0, missed: [] };

function* leaves(value, pointer = "") {
  if (typeof value !== "object" || value === null) yield pointer;
  else for (const name of Object.keys(value)) yield* leaves(value[name], `${pointer}/${name}`);
}

function altered(value) {
  if (typeof value === "number") return value + 1;
  if (typeof value === "boolean") return !value;
  if (value === null) return "pair";
  if (/^[2-9TJQKA][cdhs]$/.test(value)) return (value[0] === "A" ? "K" : "A") + value[1];
  if (/^[0-9a-f]{32,}$/.test(value)) return (value[0] === "0" ? "1" : "0") + value.slice(1);
  return `${value}x`;
}

function withAlteration(outcome, pointer) {
  const copy = structuredClone(outcome);
  const names = pointer.slice(1).split("/");
  const last = names.pop();
  const holder = names.reduce((inner, name) => inner[name], copy);
  holder[last] = altered(holder[last]);
  return copy;
}

async function tryOne(outcome, pointer) {
  const report = await verify(JSON.stringify(withAlteration(outcome, pointer)), { rulesets });
  const found = report.first?.pointer ?? report.fault?.pointer;
  const isInput = INPUTS.some((pattern) => pattern.test(pointer)) || (outcome.deal.source === "deck" && pointer.startsWith("/deal/deck"));
  tally[isInput ? "input" : "output"] += 1;
  const right = isInput ? CONSEQUENCES.every(([input, place]) => !input.test(pointer) || place.test(found)) : found === pointer;
  if (report.verdict !== "bad" || !right) tally.missed.push({ pointer, found, verdict: report.verdict, ruleset: outcome.ruleset.id });
}

const step = Math.floor(lines.length / count);
for (let i = 0; i < count; i += 1) {
  const { outcome } = JSON.parse(lines[i * step]);
  const report = await verify(JSON.stringify(outcome), { rulesets });
  if (report.requestDigest) {
    Object.assign(outcome, { request_digest: report.requestDigest, outcome_id: report.requestDigest.slice(7, 39) });
  }
  const unseeded = outcome.deal.source === "seed" && !outcome.deal.server_seed;
  const places = [...leaves(outcome)].filter((place) => !SAID_ONLY.some((pattern) => pattern.test(place)));
  if (!unseeded) for (const pointer of places) await tryOne(outcome, pointer);
}
console.log(JSON.stringify({ ...tally, failed: tally.missed.length, missed: tally.missed.slice(0, 15) }));
