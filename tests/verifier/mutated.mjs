// node mutated.mjs FOLDER: for every request of FOLDER/mutated.ndjson, does the verifier refuse what the service
// refuses, and compute what the service computes?
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { completed } from "../../service/api/verify/outcome.js";
import { canonicalJson } from "../../service/api/verify/values.js";
import { verify } from "../../service/api/verify/verdict.js";

const folder = process.argv[2];
const rulesets = JSON.parse(readFileSync(join(folder, "rulesets.json"), "utf8"));
const tally = { accepted: 0, refused: 0 };
const disagreements = [];

function isSame(outcome, { computed, requestDigest }) {
  if (computed === null) return false;
  return canonicalJson(outcome) === canonicalJson(completed({ outcome: computed, requestDigest }, outcome));
}

for (const line of readFileSync(join(folder, "mutated.ndjson"), "utf8").trim().split("\n")) {
  const { mutation, request, outcome, refusal } = JSON.parse(line);
  tally[outcome ? "accepted" : "refused"] += 1;
  const report = await verify(JSON.stringify(request), { rulesets });
  const agree = outcome ? isSame(outcome, report) : report.verdict === "bad";
  if (!agree) disagreements.push({ mutation, refusal, verdict: report.verdict, fault: report.fault, request });
}
console.log(JSON.stringify({ ...tally, failed: disagreements.length, disagreements: disagreements.slice(0, 20) }));
