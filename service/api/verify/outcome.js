/** Outcomes: the round that a request or an outcome speaks of, and the outcome that this round must have. */

import { digestOf } from "./crypto.js";
import { SHUFFLE, cardNumber, commitmentOf, shuffleSeed, shuffledDeck } from "./hands.js";
import { readRules, rulesetDigest } from "./rules.js";
import { playRound, voidRound } from "./round.js";
import { has, isObject, isText, isWhole, need, utf8 } from "./values.js";

const HEX_64 = /^[0-9a-f]{64}$/;
const DIGEST = /^sha256:[0-9a-f]{64}$/;

// ----------------------------------------------------------------------------------------- seeds and decks

/** A server seed as 64 lower-case hex digits (R6). @throws {Problem} */
export function checkedSeed(seed, pointer) {
  const digits = String(seed).trim().toLowerCase();
  need(typeof seed === "string" && HEX_64.test(digits), "seed_shape", pointer, { length: digits.length });
  return digits;
}

function checkPlayerSeed({ clientSeed, nonce, beacon }) {
  need(isText(clientSeed) && utf8(clientSeed).length <= 128, "client_seed", "/deal/client_seed");
  need(isWhole(nonce, 0, Number.MAX_SAFE_INTEGER), "nonce", "/deal/nonce");
  if (beacon === undefined) return;
  need(isObject(beacon), "shape", "/deal/beacon", { expected: "object" });
  const named = typeof beacon.source === "string" && /^[ -~]{1,100}$/.test(beacon.source);
  need(named, "beacon_source", "/deal/beacon/source");
  const isValue = typeof beacon.value === "string" && /^[0-9A-Fa-f]{32,128}$/.test(beacon.value);
  need(isValue, "beacon_value", "/deal/beacon/value");
}

/** Whether a list is a deck: all 52 cards, or at least the first ones of a deck (C1, D5). */
function checkDeck(deck, pointer, least = 52) {
  need(Array.isArray(deck), "shape", pointer, { expected: "array" });
  const place = deck.findIndex((code) => cardNumber(code) < 0);
  need(place < 0, "no_card", `${pointer}/${place}`, { card: String(deck[place]) });
  const again = deck.findIndex((code, index) => deck.indexOf(code) !== index);
  need(again < 0, "card_twice", `${pointer}/${again}`, { card: deck[again] });
  need(isWhole(deck.length, least, 52), "deck_count", pointer, { count: deck.length });
}

/**
 * What follows from the inputs of a deal (R1–R5, D5): the deck, its draws and the commitment where the server
 * seed is known, and the client seed that the shuffle takes. A void outcome need not tell its deck.
 */
function shuffleOf({ deal, reason }) {
  if (deal.source === "seed") checkPlayerSeed(deal);
  const seed = deal.source === "seed" ? shuffleSeed(deal.clientSeed, deal.beacon) : undefined;
  if (deal.serverSeed !== undefined) {
    return { seed, commitment: commitmentOf(deal.serverSeed), ...shuffledDeck(deal.serverSeed, seed, deal.nonce) };
  }
  const isOptional = reason !== undefined && deal.deck === undefined;
  if (!isOptional) checkDeck(deal.deck, "/deal/deck", deal.source === "deck" ? 52 : 10);
  return { seed, deck: deal.deck };
}

// ------------------------------------------------------------------- the round that a document speaks of

/**
 * What a request asks for, in the form that `recompute` takes.
 *
 * @param {string} [seed] the server seed, where the request seals it
 * @param {string} [reason] why the round is void, where it is
 * @throws {Problem}
 */
export function roundOfRequest(request, seed, reason) {
  const { deal, boxes, actions, table = {}, context } = request;
  need(isObject(deal), "shape", "/deal", { expected: "object" });
  need(Array.isArray(boxes), "shape", "/boxes", { expected: "array" });
  need(Array.isArray(actions), "shape", "/actions", { expected: "array" });
  const stakes = boxes.map((box, place) => {
    need(isObject(box), "shape", `/boxes/${place}`, { expected: "object" });
    return stakesOfBox(box, box.ante, box.bonus ?? 0, box.blind ?? false);
  });
  const seeds = has(deal, "deck") ? { source: "deck", deck: deal.deck } : seedsOfRequest(deal, seed);
  return { table, boxes: stakes, actions, context, reason, deal: seeds };
}

function seedsOfRequest(deal, seed) {
  const { client_seed: clientSeed = "", nonce = 0, reveal = true, beacon } = deal;
  const own = deal.server_seed ?? seed;
  need(own !== undefined, "seed_missing", "/deal");
  const commitment = deal.commitment === undefined ? undefined : String(deal.commitment).toLowerCase();
  const serverSeed = checkedSeed(own, "/deal/server_seed");
  return { source: "seed", serverSeed, clientSeed, nonce, beacon, reveal, commitment };
}

function stakesOfBox({ box, player }, ante, bonus, blind) {
  return { box, ante, bonus, blind, ...(player !== undefined && { player }) };
}

/** The round that an outcome claims to be the result of; `seed` and `reason` as for a request. @throws {Problem} */
export function roundOfOutcome(outcome, seed, reason) {
  const { deal, boxes, actions, table, context } = outcome;
  need(isObject(deal), "shape", "/deal", { expected: "object" });
  need(Array.isArray(boxes), "shape", "/boxes", { expected: "array" });
  need(Array.isArray(actions), "shape", "/actions", { expected: "array" });
  const seeds = deal.source === "deck" ? { source: "deck", deck: deal.deck } : seedsOfOutcome(deal, seed);
  return { table, boxes: boxes.map(stakesInOutcome), actions, context, reason, deal: seeds };
}

function stakesInOutcome(box, place) {
  const pointer = `/boxes/${place}`;
  need(isObject(box) && Array.isArray(box.bets), "shape", `${pointer}/bets`, { expected: "array" });
  need(isObject(box.bets[0]) && box.bets[0].name === "ante", "ante_row", `${pointer}/bets/0/name`);
  const bonus = box.bets.find((one) => isObject(one) && one.name === "bonus");
  return stakesOfBox(box, box.bets[0].stake, bonus?.stake ?? 0, box.blind);
}

function seedsOfOutcome(deal, seed) {
  const { client_seed: clientSeed, nonce, beacon, commitment } = deal;
  need(HEX_64.test(String(commitment)), "commitment_shape", "/deal/commitment");
  const own = deal.server_seed ?? seed;
  const known = own === undefined ? { deck: deal.deck } : { serverSeed: checkedSeed(own, "/deal/server_seed") };
  return { source: "seed", clientSeed, nonce, beacon, commitment, reveal: has(deal, "server_seed"), ...known };
}

// ------------------------------------------------------------------------------------ the outcome it must have

/** What an outcome says of its deal. A void one shows neither the server seed nor any card. */
export function dealDocument({ deal, reason }, shuffle, cardsUsed) {
  const reveals = reason === undefined && deal.source === "seed" && deal.reveal;
  const deck = reveals || deal.source === "deck" ? shuffle.deck : shuffle.deck?.slice(0, cardsUsed);
  const cards = reason === undefined ? { deck, cards_used: cardsUsed } : {};
  if (deal.source === "deck") return { source: "deck", ...cards };
  const { source, value } = deal.beacon ?? {};
  return {
    source: "seed",
    commitment: shuffle.commitment ?? deal.commitment,
    client_seed: deal.clientSeed,
    nonce: deal.nonce,
    ...(deal.beacon && { beacon: { source, value: value.toLowerCase() }, shuffle_seed: shuffle.seed }),
    ...(reveals && { server_seed: deal.serverSeed }),
    ...cards,
  };
}

/** The canonical request of a round, whose digest identifies its outcome; null while seed or deck is not known. */
function canonicalRequest(rulesetId, round, limits, actions) {
  const { deal, boxes, context, reason } = round;
  if (deal.serverSeed === undefined && (deal.source === "seed" || deal.deck === undefined)) return null;
  const { source, value } = deal.beacon ?? {};
  const seeds = {
    server_seed: deal.serverSeed, client_seed: deal.clientSeed, nonce: deal.nonce,
    ...(deal.beacon && { beacon: { source, value: value.toLowerCase() } }),
  };
  return {
    ruleset: rulesetId, deal: deal.source === "deck" ? { deck: deal.deck } : seeds, table: limits, boxes, actions,
    ...(reason !== undefined && { reason }), ...(context !== undefined && { context }),
  };
}

/**
 * The outcome that a round must have, apart from what cannot be computed: see `completed`.
 *
 * @param {object} document the published ruleset document
 * @param {object} round from `roundOfRequest` or `roundOfOutcome`
 * @returns {{outcome: object, steps: object[], shuffle: object, requestDigest: string | null}}
 * @throws {Problem} where the rules do not allow the round; with its `steps` and `shuffle` up to there
 */
export function recompute(document, round) {
  const isVoid = round.reason !== undefined;
  need(!isVoid || (isText(round.reason) && round.reason), "shape", "/reason", { expected: "text" });
  const shuffle = shuffleOf(round);
  let played;
  try {
    played = (isVoid ? voidRound : playRound)(readRules(document), round, shuffle.deck);
  } catch (problem) {
    problem.shuffle = shuffle;
    throw problem;
  }
  const { table, actions, dealer, boxes, totals, cardsUsed, steps } = played;
  const request = canonicalRequest(document.id, round, table, actions);
  const outcome = {
    ...(isVoid ? { status: "void", reason: round.reason } : { status: "settled" }),
    ruleset: { id: document.id, version: document.version, digest: rulesetDigest(document) },
    engine: { shuffle: SHUFFLE },
    deal: dealDocument(round, shuffle, cardsUsed),
    table, actions, ...(!isVoid && { dealer }), boxes, totals,
    ...(round.context !== undefined && { context: round.context }),
  };
  return { outcome, steps, shuffle, requestDigest: request && digestOf(request) };
}

/**
 * A computed outcome as the service writes it. What can only be said – the engine's version and digest, the
 * wording of a reason, the digest of a request that is not known whole – is taken from the claimed outcome
 * where it has the right form there, and is "…" otherwise.
 */
export function completed({ outcome, requestDigest }, claimed) {
  const said = (value, form) => (form.test(typeof value === "string" ? value : "") ? value : "…");
  const bet = ({ why, values, ...shown }, given) => ({ ...shown, reason: said(given?.reason, /\S/) });
  const boxes = outcome.boxes.map((box, i) => {
    const given = claimed?.boxes?.[i]?.bets;
    return { ...box, bets: box.bets.map((one, j) => bet(one, given?.[j])) };
  });
  const digest = requestDigest ?? said(claimed?.request_digest, DIGEST);
  const engine = {
    version: said(claimed?.engine?.version, /\S/), digest: said(claimed?.engine?.digest, DIGEST), ...outcome.engine,
  };
  return { outcome_id: digest.replace("sha256:", "").slice(0, 32), request_digest: digest, ...outcome, engine, boxes };
}
