/** Plays rounds against the service, `node sample.js BASE_URL PLANS`, and prints as JSON what came of them. */
import { readFileSync } from "node:fs";
import createClient from "openapi-fetch";
import type { components, paths } from "./russian-poker.js";

type Schema = components["schemas"];

/** A round before its first decision, and how to decide: the first wish that is legal is taken. */
type Plan = Omit<Schema["Round"], "actions"> & {
  wishes: Schema["LegalAction"]["action"][];
  answers?: string[]; // which examples a mock shall answer with, call by call; the service needs no telling
};

const [baseUrl = "", plans = ""] = process.argv.slice(2);
const api = createClient<paths>({ baseUrl });

async function play({ wishes, answers = [], ...plan }: Plan) {
  const prefer = () => ({ headers: answers[0] ? { Prefer: answers.shift() } : {} });

  const round: Schema["Round"] = { ...plan, actions: [] };
  for (;;) {
    const { data: view, error } = await api.POST("/v1/rounds/step", { body: round, ...prefer() });
    if (!view) throw new Error(error.detail);
    if (view.phase === "settled") break;
    round.actions.push(decide(view, wishes));
  }

  const { data: outcome, error } = await api.POST("/v1/rounds/settle", { body: round });
  if (!outcome) throw new Error(error.detail);
  const box = outcome.boxes[0]!;

  const claim: Schema["Claim"] = { certificate: outcome.certificate };
  if ("server_seed" in round.deal) claim.server_seed = round.deal.server_seed;
  const { data: verdict } = await api.POST("/v1/rounds/verify", { body: claim });
  const { data: hand } = await api.POST("/v1/hands/evaluate", {
    body: { ruleset: round.ruleset, cards: box.hand },
  });
  const { data: rules } = await api.GET("/v1/rulesets/{id}", { params: { path: { id: round.ruleset } } });
  if (!verdict || !hand || !rules) throw new Error("no answer");

  const twice = round.actions.slice(0, 1).flatMap((action) => [action, action]);
  const { error: refusal } = await api.POST("/v1/rounds/settle", {
    body: { ...round, actions: twice },
    ...prefer(),
  });
  if (refusal?.type !== "/problems/illegal-action") throw new Error("the same decision twice was taken");

  return {
    outcome_id: outcome.outcome_id,
    actions: outcome.actions,
    context: outcome.context ?? null,
    bets: outcome.boxes.flatMap(({ bets }) => bets.map(({ name, net }) => [name, net])),
    results: outcome.boxes.map(({ result }) => result),
    net: outcome.totals.net,
    valid: verdict.valid,
    checks: verdict.checks.map(({ name }) => name),
    hand: [hand.main, hand.second, hand.odds],
    flush: rules.bet.odds.flush.value,
    refused: { index: refusal.index, box: refusal.box, legal: refusal.legal.map(({ action }) => action) },
  };
}

function decide({ box, legal, boxes }: Schema["View"], wishes: Plan["wishes"]): Schema["Action"] {
  const offer = wishes.map((wish) => legal.find(({ action }) => action === wish)).find((found) => found);
  if (!offer || box === null) throw new Error("none of the wishes is legal");
  switch (offer.action) {
    case "exchange": {
      const hand = boxes.find((one) => one.box === box)?.hand ?? [];
      return { box, action: offer.action, discard: hand.slice(0, offer.min_cards) };
    }
    case "insure":
      return { box, action: offer.action, amount: offer.max_amount };
    default:
      return { box, action: offer.action };
  }
}

const summaries = [];
for (const plan of JSON.parse(readFileSync(plans, "utf-8")) as Plan[]) summaries.push(await play(plan));
console.log(JSON.stringify(summaries));
