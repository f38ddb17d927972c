// node recompute.mjs FOLDER: recomputes every round of FOLDER/rounds.ndjson from its outcome (every fourth also from its
// request) and compares the whole outcome (all but the wording of the reasons and the engine's own identity).
// Prints one JSON object: counts, and the first rounds that differ.
import { createReadStream, readFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { differences, verify } from "../../service/api/verify/verifier.js";

const folder = process.argv[2];
const rulesets = JSON.parse(readFileSync(join(folder, "rulesets.json"), "utf8"));
const seen = { rounds: 0, compared: 0, seeds_withheld: 0, rulesets: {}, bets: {}, results: {}, draws: {}, mains: {} };
const failures = [];

const count = (table, name) => {
  table[name] = (table[name] ?? 0) + 1;
};

function countRound(outcome) {
  seen.rounds += 1;
  count(seen.rulesets, outcome.ruleset.id);
  count(seen.draws, outcome.dealer.draws.length);
  for (const box of outcome.boxes) {
    count(seen.results, box.result);
    count(seen.mains, box.second ? `${box.main}+${box.second}` : box.main);
    for (const bet of box.bets) count(seen.bets, `${bet.name} ${bet.clause} ${Math.sign(bet.net)}`);
  }
}

async function compare(what, text, options, line, verdict) {
  seen.compared += 1;
  const report = await verify(text, options).catch((problem) => ({ verdict: String(problem) }));
  if (report.verdict !== verdict) failures.push({ what, verdict: report.verdict, fault: report.fault, first: report.first, line });
  return report;
}

async function compareRequest(line, options) {
  const { request, outcome } = JSON.parse(line);
  await compare("request and outcome", line, options, line, "good");
  const asked = await compare("request", JSON.stringify(request), options, line, "computed");
  const apart = asked.computed ? differences(outcome, asked.computed) : ["nothing computed"];
  if (apart.length) failures.push({ what: "computed from the request", apart, line });
}

for await (const line of createInterface({ input: createReadStream(join(folder, "rounds.ndjson")) })) {
  const { request, outcome } = JSON.parse(line);
  countRound(outcome);
  const options = { rulesets, serverSeed: outcome.deal.server_seed ? undefined : request.deal.server_seed };
  await compare("outcome", JSON.stringify(outcome), options, line, "good");
  if (seen.rounds % 4 === 0) await compareRequest(line, options);
  if (outcome.deal.source === "seed" && !outcome.deal.server_seed) {
    seen.seeds_withheld += 1;
    await compare("outcome without its seed", JSON.stringify(outcome), { rulesets }, line, "partial");
  }
}
console.log(JSON.stringify({ ...seen, failed: failures.length, failures: failures.slice(0, 3) }));
