/** Cards, the deck that seeds give, and hands (C1–C5, R1–R5). */

import { HmacDrbg, sha256 } from "./crypto.js";
import { fromHex, join, toHex, utf8 } from "./values.js";

// -------------------------------------------------------------------------------------------------- cards

const RANKS = "23456789TJQKA";
const SUITS = "cdhs";
const [FIVE, KING, ACE] = [3, 11, 12];

/** The code of a card. A card is a number: 4 × rank + suit, which is its place in the fresh deck (C1, R3). */
export function cardCode(card) {
  return RANKS[card >> 2] + SUITS[card & 3];
}

/** The number of a card's code (C1); -1 if it is no card. */
export function cardNumber(code) {
  if (typeof code !== "string" || code.length !== 2) return -1;
  const [rank, suit] = [RANKS.indexOf(code[0]), SUITS.indexOf(code[1])];
  return rank < 0 || suit < 0 ? -1 : 4 * rank + suit;
}

/** The rank of a card, 0 for a two and 12 for an ace. */
export const rankOf = (card) => card >> 2;
const suitOf = (card) => card & 3;
/** The codes of cards (C1). */
export const codes = (cards) => cards.map(cardCode);

// ---------------------------------------------------------------------------- from seeds to a deck (R1–R5)

const GENERATE_BYTES = 128;
const DEAL_LABEL = utf8("russian-poker/deal/v1\0");
const BEACON_LABEL = "russian-poker/beacon/v1";
/** The name of the shuffle that this file implements. */
export const SHUFFLE = "hmac-drbg-sha256/1";

/** The commitment of a server seed: SHA-256 of its 32 raw bytes, in hex (R5). */
export function commitmentOf(serverSeed) {
  return toHex(sha256(fromHex(serverSeed)));
}

/** The client seed that the shuffle takes: the player's own, or a text that binds it to a beacon's value. */
export function shuffleSeed(clientSeed, beacon) {
  if (!beacon) return clientSeed;
  const bound = [BEACON_LABEL, beacon.source, beacon.value.toLowerCase(), clientSeed].join("\0");
  return `beacon/1:${toHex(sha256(utf8(bound)))}`;
}

function* bytesOf(generator) {
  for (;;) yield* generator.generate(GENERATE_BYTES);
}

function eightBytes(number) {
  const view = new DataView(new ArrayBuffer(8));
  view.setBigUint64(0, BigInt(number));
  return new Uint8Array(view.buffer);
}

/**
 * The deck of a deal with every draw of the shuffle (R1–R4).
 *
 * @param {string} serverSeed 64 lower-case hex digits
 * @param {string} clientSeed text from `shuffleSeed`
 * @param {number} nonce number of the deal
 * @returns {{deck: string[], draws: {i: number, rejected: number[], byte: number, j: number}[], bytes: number}}
 */
export function shuffledDeck(serverSeed, clientSeed, nonce) {
  const personalization = join(DEAL_LABEL, utf8(clientSeed));
  const source = bytesOf(new HmacDrbg(fromHex(serverSeed), eightBytes(nonce), personalization));
  const deck = Array.from({ length: 52 }, (_, place) => place);
  const draws = [];
  for (let i = 51; i > 0; i -= 1) {
    const draw = drawOne(source, i);
    [deck[i], deck[draw.j]] = [deck[draw.j], deck[i]];
    draws.push(draw);
  }
  const bytes = draws.reduce((sum, draw) => sum + draw.rejected.length + 1, 0);
  return { deck: codes(deck), draws, bytes };
}

function drawOne(source, i) {
  const choices = i + 1;
  const limit = 256 - (256 % choices);
  const rejected = [];
  let byte = source.next().value;
  while (byte >= limit) {
    rejected.push(byte);
    byte = source.next().value;
  }
  return { i, rejected, byte, j: byte % choices };
}

// -------------------------------------------------------------------------------------------------- hands

/** Kinds of combination, the lowest first (C2). */
export const KINDS = Object.freeze([
  "none", "ace_king", "pair", "two_pair", "three_of_a_kind", "straight",
  "flush", "full_house", "four_of_a_kind", "straight_flush", "royal_flush",
]);
/** The place of each kind in that order. */
export const KIND = Object.freeze(Object.fromEntries(KINDS.map((name, place) => [name, place])));

/** The highest rank of a straight that these five cards make, the ace low in A-2-3-4-5 only; -1 if none (C2). */
function straightTop(cards) {
  const ranks = cards.map(rankOf).sort((a, b) => b - a);
  if (new Set(ranks).size !== 5) return -1;
  if (ranks[0] - ranks[4] === 4) return ranks[0];
  return ranks[0] === ACE && ranks[1] === FIVE ? FIVE : -1;
}

const oneSuit = (cards) => cards.every((card) => suitOf(card) === suitOf(cards[0]));

/** How often each rank occurs, as [count, rank], the most frequent and then the highest first. */
function groups(cards) {
  const counts = new Map();
  for (const card of cards) counts.set(rankOf(card), (counts.get(rankOf(card)) ?? 0) + 1);
  return Array.from(counts, ([rank, count]) => [count, rank]).sort((a, b) => b[0] - a[0] || b[1] - a[1]);
}

/** How many of the pairs among these cards are pairs of one rank. */
function twins(cards) {
  let count = 0;
  for (let i = 1; i < cards.length; i += 1) {
    for (let j = 0; j < i; j += 1) if (rankOf(cards[i]) === rankOf(cards[j])) count += 1;
  }
  return count;
}

/** Cores of ranks: by the number of cards, then by the number of twins among them. */
const RANK_CORES = {
  2: { 1: KIND.pair }, 3: { 3: KIND.three_of_a_kind }, 4: { 2: KIND.two_pair, 6: KIND.four_of_a_kind },
  5: { 4: KIND.full_house },
};

/** The combination that exactly these cards are the core of; none if they are no core (rule book 1). */
function coreKind(cards) {
  const equal = twins(cards);
  if (equal) return RANK_CORES[cards.length][equal] ?? KIND.none;
  if (cards.length === 5) return runOrFlush(cards);
  const aceKing = cards.length === 2 && rankOf(Math.max(...cards)) === ACE && rankOf(Math.min(...cards)) === KING;
  return aceKing ? KIND.ace_king : KIND.none;
}

function runOrFlush(cards) {
  const top = straightTop(cards);
  if (!oneSuit(cards)) return top < 0 ? KIND.none : KIND.straight;
  if (top < 0) return KIND.flush;
  return top === ACE ? KIND.royal_flush : KIND.straight_flush;
}

/** Subsets of five and of six places that can be a core, as bit masks. */
const SUBSETS = Object.fromEntries([5, 6].map((size) => [size, coreSubsets(size)]));

function coreSubsets(size) {
  const masks = Array.from({ length: 2 ** size }, (_, mask) => mask);
  const placesIn = (mask) => [...Array(size).keys()].filter((place) => mask & (1 << place));
  const subsets = masks.map((mask) => ({ mask, places: placesIn(mask) }));
  return subsets.filter(({ places }) => places.length >= 2 && places.length <= 5);
}

/**
 * Main and second combination of five or six cards (C2, C5).
 *
 * The main one is the highest; the second is the highest whose core neither contains nor is contained in the
 * main core. `second` is named whether or not a ruleset pays it.
 */
export function combinations(cards) {
  const cores = [];
  for (const { mask, places } of SUBSETS[cards.length]) {
    const kind = coreKind(places.map((place) => cards[place]));
    if (kind) cores.push({ kind, mask });
  }
  const main = highest(cores);
  if (!main) return { main: KIND.none, second: KIND.none };
  const apart = cores.filter(({ mask }) => (mask & main.mask) !== mask && (mask & main.mask) !== main.mask);
  return { main: main.kind, second: highest(apart)?.kind ?? KIND.none };
}

function highest(cores) {
  return cores.reduce((best, core) => (best && best.kind >= core.kind ? best : core), null);
}

/** Main and second combination of a hand given as card codes, by name; null where there is none (C5). */
export function evaluateHand(cards) {
  const { main, second } = combinations(cards.map(cardNumber));
  return { main: KINDS[main], second: second ? KINDS[second] : null };
}

/** The strength of five cards as one number: kind, then ranks and kickers; equal numbers tie (C3). */
function strengthOfFive(cards) {
  const found = groups(cards);
  const kind = coreKind(cards) || groupKind(found);
  const isStraight = kind === KIND.straight || kind >= KIND.straight_flush;
  const ranks = isStraight ? [straightTop(cards)] : found.map(([, rank]) => rank);
  return ranks.concat(Array(5 - ranks.length).fill(0)).reduce((sum, rank) => 16 * sum + rank, kind);
}

function groupKind(found) {
  const [first, second] = found;
  if (first[0] === 4) return KIND.four_of_a_kind;
  if (first[0] === 3) return KIND.three_of_a_kind;
  if (first[0] === 2) return second[0] === 2 ? KIND.two_pair : KIND.pair;
  return first[1] === ACE && second[1] === KING ? KIND.ace_king : KIND.none;
}

/** The strength of the best five of five or six cards: a higher number is a higher hand (C3, C4). */
export function strength(cards) {
  if (cards.length === 5) return strengthOfFive(cards);
  return Math.max(...cards.map((_, left) => strengthOfFive(cards.filter((_, place) => place !== left))));
}

/** Whether cards are a game: ace-king or anything higher (rule book 1). */
export const hasGame = (cards) => combinations(cards).main >= KIND.ace_king;
