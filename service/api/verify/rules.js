/** What a published ruleset says, and what it lets boxes stake (A8, A9, C5, S4, S8). Rulesets are data. */

import { digestOf } from "./crypto.js";
import { KIND, KINDS, combinations } from "./hands.js";
import { has, isObject, isText, isWhole, need } from "./values.js";

const rulesetDigests = new WeakMap();

/** The digest of a published ruleset document, which covers all but its own `digest`; computed once for each. */
export function rulesetDigest(document) {
  if (!rulesetDigests.has(document)) {
    const { digest: _, ...content } = document;
    rulesetDigests.set(document, digestOf(content));
  }
  return rulesetDigests.get(document);
}

// ----------------------------------------------------------------------------------------------- parameters

const MAX_AMOUNT = 10 ** 12;
const whole = (least, most) => (value) => isWhole(value, least, most);
const oneOf = (...allowed) => (value) => allowed.includes(value);
const isOdds = whole(1, 10 ** 4);
const isKind = (name) => has(KIND, name) && name !== "none";
const oddsTable = (value) =>
  isObject(value) && Object.entries(value).every(([kind, odds]) => isKind(kind) && isOdds(odds));
const ownRows = (value) =>
  isObject(value) && Object.entries(value).every(([pair, odds]) => pair.split("+").every(isKind) && isOdds(odds));

/** Every section and parameter of a ruleset, and what each may say. A trailing "?" marks what may be missing. */
const PARAMETERS = {
  boxes: { maximum: whole(1, 9), open: oneOf("all", "one", "one_per_player") },
  deal: { order: oneOf("one_by_one", "five_at_a_time") },
  purchase: {
    exchange_min: whole(0, 5), exchange_max: whole(0, 5),
    sixth_card: oneOf(true, false), blind_sixth: oneOf(true, false),
  },
  bet: { combinations: oneOf(1, 2), ante_on_win: oneOf("returned", "paid"), odds: oddsTable, "own_rows?": ownRows },
  "bonus?": { dealt: oddsTable, "with_sixth?": oddsTable },
  "insurance?": {
    threshold: oneOf(...KINDS.slice(1)), minimum: oneOf("min_stake", "ante"),
    maximum: oneOf("win", "half_win"), on_tie: oneOf("lose", "return"),
  },
  "game_purchase?": {
    price: oneOf("one_more_ante", "the_ante"), dealer_discards: oneOf("highest", "lowest"),
    redraw_same_rank: oneOf(true, false), failed_ante: oneOf("paid", "returned", "lost"),
  },
  limits: { min_stake: whole(1, MAX_AMOUNT), "max_stake?": whole(1, MAX_AMOUNT), "max_payout?": whole(1, MAX_AMOUNT) },
};
const TEXT_MEMBERS = new Set(["id", "version", "title", "summary", "source", "decisions", "digest"]);

/** A document with each row `{value, basis, decision}` replaced by its value. */
function valuesOf(document) {
  if (!isObject(document)) return document;
  if (has(document, "basis") && has(document, "value")) return document.value;
  return Object.fromEntries(Object.entries(document).map(([name, inner]) => [name, valuesOf(inner)]));
}

/**
 * The rules in a published ruleset document. Refuses what it does not understand: a parameter that this page
 * does not know could change what is paid.
 *
 * @throws {Problem} `ruleset_parameter` with the place
 */
export function readRules(document) {
  const entries = Object.entries(document).filter(([name]) => !TEXT_MEMBERS.has(name));
  const rules = valuesOf(Object.fromEntries(entries));
  checkParameters(rules, PARAMETERS, "");
  return rules;
}

function checkParameters(found, allowed, pointer) {
  need(isObject(found), "ruleset_parameter", pointer);
  const known = Object.keys(allowed).map((name) => name.replace("?", ""));
  const unknown = Object.keys(found).find((name) => !known.includes(name));
  need(unknown === undefined, "ruleset_parameter", `${pointer}/${unknown}`);
  for (const [key, inner] of Object.entries(allowed)) {
    const name = key.replace("?", "");
    const place = `${pointer}/${name}`;
    if (!has(found, name)) need(key.endsWith("?"), "ruleset_parameter", place);
    else if (typeof inner === "function") need(inner(found[name]), "ruleset_parameter", place);
    else checkParameters(found[name], inner, place);
  }
}

// ----------------------------------------------------------------------------------------------------- odds

/** What a hand pays on the bet (S4, C5): odds of the main combination, or of both, or the pair's own row. */
export function betOdds(rules, cards) {
  const { main, second } = combinations(cards);
  const paid = rules.bet.combinations === 2 ? second : KIND.none;
  return { main, second: paid, odds: addedOdds(rules.bet, main, paid) };
}

function addedOdds(bet, main, second) {
  const one = (kind) => bet.odds[KINDS[kind]] ?? 0;
  if (!second) return one(main);
  return bet.own_rows?.[`${KINDS[main]}+${KINDS[second]}`] ?? one(main) + one(second);
}

/** What a bonus pays on these cards: the main combination alone; 0 if none is staked or pays (S8). */
export function bonusOdds(rules, box, cards, column = "dealt") {
  if (!box.bonus || !rules.bonus) return 0;
  return rules.bonus[column][KINDS[combinations(cards).main]] ?? 0;
}

// --------------------------------------------------------------------------------- limits and boxes (A8, A9)

const LIMITS = ["min_stake", "max_stake", "max_payout"];

/** The limits in force: the table's where given, else the ruleset's (A8). */
export function limitsInForce(rules, table) {
  need(isObject(table), "shape", "/table", { expected: "object" });
  const names = LIMITS.filter((name) => has(table, name) || has(rules.limits, name));
  const limits = Object.fromEntries(names.map((name) => [name, has(table, name) ? table[name] : rules.limits[name]]));
  for (const name of names) need(isWhole(limits[name], 1, MAX_AMOUNT), "amount", `/table/${name}`);
  return limits;
}

/** Whether the rules admit these boxes with their stakes (A8, A9, D2). @throws {Problem} */
export function checkBoxes(rules, limits, boxes) {
  need(boxes.length > 0, "no_boxes", "/boxes");
  boxes.forEach((box, place) => checkBox(rules, limits, box, boxes[place - 1]?.box ?? 0, `/boxes/${place}`));
  checkOpenBoxes(rules, boxes);
}

function checkBox(rules, limits, box, previous, pointer) {
  const maximum = rules.boxes.maximum;
  need(isWhole(box.box, 1, maximum), "box_number", `${pointer}/box`, { maximum });
  need(box.box > previous, "box_order", `${pointer}/box`);
  checkStake(box.ante, limits, `${pointer}/ante`);
  if (box.bonus !== 0) checkStake(box.bonus, limits, `${pointer}/bonus`);
  need(box.bonus === 0 || rules.bonus, "no_bonus", `${pointer}/bonus`);
  need(typeof box.blind === "boolean", "shape", `${pointer}/blind`, { expected: "boolean" });
  need(!box.blind || rules.boxes.open !== "all", "no_blind", `${pointer}/blind`);
  const named = isText(box.player) && isWhole([...box.player].length, 1, 64);
  need(box.player === undefined || named, "player", `${pointer}/player`);
}

function checkStake(amount, limits, pointer) {
  const most = Math.min(limits.max_stake ?? MAX_AMOUNT, MAX_AMOUNT);
  need(Number.isSafeInteger(amount), "amount", pointer);
  need(isWhole(amount, limits.min_stake, most), "limits", pointer, { amount, min: limits.min_stake, max: most });
}

/** At most one open box in the round, or of each player; a box without a player has a player of its own (A9). */
function checkOpenBoxes(rules, boxes) {
  if (rules.boxes.open === "all") return;
  const seen = new Set();
  boxes.forEach((box, place) => {
    if (box.blind) return;
    const owner = box.player === undefined ? `box ${place}` : `player ${box.player}`;
    const player = rules.boxes.open === "one" ? "anyone" : owner;
    need(!seen.has(player), "open_boxes", `/boxes/${place}/blind`);
    seen.add(player);
  });
}
