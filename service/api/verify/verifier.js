/**
 * The verifier in the player's hands: recomputes a whole round of Russian Poker from its seeds.
 *
 * A second implementation, written from the rule book and not from the service's code; its clauses are cited
 * as C1 … S9 and R1 … R7. Pure computation: no DOM, no network, no dependency. Rulesets are data, the
 * documents that the service publishes; nothing here knows a ruleset by its name.
 *
 * Works in a browser and under Node. In the page it is followed by page.js in one and the same module.
 */

// ---------------------------------------------------------------------------------------------- problems

/** What is wrong with an input. `code` names a text, `pointer` the place (RFC 6901), `values` fill the text. */
export class Problem extends Error {
  constructor(code, pointer = "", values = {}) {
    super(`${code} ${pointer} ${JSON.stringify(values)}`);
    this.code = code;
    this.pointer = pointer;
    this.values = values;
  }
}

const isObject = (value) => typeof value === "object" && value !== null && !Array.isArray(value);
const isWhole = (value, least, most) => Number.isSafeInteger(value) && value >= least && value <= most;
const has = (object, name) => Object.prototype.hasOwnProperty.call(object, name);

function need(condition, code, pointer, values) {
  if (!condition) throw new Problem(code, pointer, values);
}

// ------------------------------------------------------------------------------------------ bytes and text

const HEX_64 = /^[0-9a-f]{64}$/;

/** The bytes of well-formed text in UTF-8. */
export function utf8(text) {
  return new TextEncoder().encode(text);
}

/** Lower-case hex digits of bytes. */
export function toHex(bytes) {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** Bytes of an even number of hex digits. */
export function fromHex(hex) {
  return Uint8Array.from({ length: hex.length / 2 }, (_, i) => parseInt(hex.slice(2 * i, 2 * i + 2), 16));
}

/** base64url without padding, RFC 7515. */
export function toBase64url(bytes) {
  const binary = Array.from(bytes, (byte) => String.fromCharCode(byte)).join("");
  return btoa(binary).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}

/** Bytes of strict base64url text; null if it is none (padding, other letters, left-over bits). */
export function fromBase64url(text) {
  if (!/^[A-Za-z0-9_-]*$/.test(text) || text.length % 4 === 1) return null;
  const binary = atob(text.replaceAll("-", "+").replaceAll("_", "/"));
  const bytes = Uint8Array.from(binary, (letter) => letter.charCodeAt(0));
  return toBase64url(bytes) === text ? bytes : null;
}

function join(...parts) {
  const bytes = new Uint8Array(parts.reduce((length, part) => length + part.length, 0));
  let place = 0;
  for (const part of parts) {
    bytes.set(part, place);
    place += part.length;
  }
  return bytes;
}

// ------------------------------------------------------------------------------------------ SHA-256, HMAC

/** The first 32 bits of the fractional parts of a root of the first primes, as FIPS 180-4 defines its constants. */
function fractions(count, root) {
  const primes = [];
  for (let n = 2; primes.length < count; n += 1) if (primes.every((prime) => n % prime)) primes.push(n);
  return Uint32Array.from(primes, (prime) => bitsOfRoot(BigInt(prime), root));
}

function bitsOfRoot(prime, root) {
  const target = prime << (32n * root);
  let [low, high] = [0n, 1n << 40n];
  while (high - low > 1n) {
    const middle = (low + high) >> 1n;
    if (middle ** root <= target) low = middle;
    else high = middle;
  }
  return Number(low & 0xffffffffn);
}

const SHA_START = fractions(8, 2n);
const SHA_ROUND = fractions(64, 3n);
const BLOCK = 64;

function compress(state, words) {
  for (let i = 16; i < 64; i += 1) {
    const [x, y] = [words[i - 15], words[i - 2]];
    const s0 = ((x >>> 7) | (x << 25)) ^ ((x >>> 18) | (x << 14)) ^ (x >>> 3);
    const s1 = ((y >>> 17) | (y << 15)) ^ ((y >>> 19) | (y << 13)) ^ (y >>> 10);
    words[i] = words[i - 16] + s0 + words[i - 7] + s1;
  }
  let [a, b, c, d, e, f, g, h] = state;
  for (let i = 0; i < 64; i += 1) {
    const s1 = ((e >>> 6) | (e << 26)) ^ ((e >>> 11) | (e << 21)) ^ ((e >>> 25) | (e << 7));
    const t1 = (h + s1 + ((e & f) ^ (~e & g)) + SHA_ROUND[i] + words[i]) | 0;
    const s0 = ((a >>> 2) | (a << 30)) ^ ((a >>> 13) | (a << 19)) ^ ((a >>> 22) | (a << 10));
    const t2 = (s0 + ((a & b) ^ (a & c) ^ (b & c))) | 0;
    [h, g, f, e, d, c, b, a] = [g, f, e, (d + t1) | 0, c, b, a, (t1 + t2) | 0];
  }
  [a, b, c, d, e, f, g, h].forEach((word, i) => {
    state[i] += word;
  });
}

/** SHA-256 of bytes (FIPS 180-4), in plain JavaScript: `crypto.subtle` is missing on plain http. */
export function sha256(bytes) {
  const padded = new Uint8Array(Math.ceil((bytes.length + 9) / BLOCK) * BLOCK);
  padded.set(bytes);
  padded[bytes.length] = 0x80;
  const view = new DataView(padded.buffer);
  view.setUint32(padded.length - 8, Math.floor(bytes.length / 2 ** 29));
  view.setUint32(padded.length - 4, bytes.length * 8);
  const state = SHA_START.slice();
  const words = new Uint32Array(64);
  for (let block = 0; block < padded.length; block += BLOCK) {
    for (let i = 0; i < 16; i += 1) words[i] = view.getUint32(block + 4 * i);
    compress(state, words);
  }
  const digest = new DataView(new ArrayBuffer(32));
  state.forEach((word, i) => digest.setUint32(4 * i, word));
  return new Uint8Array(digest.buffer);
}

/** HMAC-SHA-256 (FIPS 198-1). */
export function hmacSha256(key, message) {
  const block = new Uint8Array(BLOCK);
  block.set(key.length > BLOCK ? sha256(key) : key);
  const inner = sha256(join(block.map((byte) => byte ^ 0x36), message));
  return sha256(join(block.map((byte) => byte ^ 0x5c), inner));
}

// ------------------------------------------------------------------------------- seeds and the shuffled deck

/** HMAC_DRBG of NIST SP 800-90A with SHA-256, without reseeding or additional input (R1). */
export class HmacDrbg {
  constructor(entropy, nonce, personalization) {
    this.key = new Uint8Array(32);
    this.value = new Uint8Array(32).fill(1);
    this.update(join(entropy, nonce, personalization));
  }

  update(data) {
    for (const round of data.length ? [0, 1] : [0]) {
      this.key = hmacSha256(this.key, join(this.value, Uint8Array.of(round), data));
      this.value = hmacSha256(this.key, this.value);
    }
  }

  /** The next `count` bytes: one Generate call. */
  generate(count) {
    const blocks = [];
    for (let length = 0; length < count; length += 32) {
      this.value = hmacSha256(this.key, this.value);
      blocks.push(this.value);
    }
    this.update(new Uint8Array(0));
    return join(...blocks).slice(0, count);
  }
}

const GENERATE_BYTES = 128;
const LABEL = utf8("russian-poker/deal/v1\0");
/** The name of the shuffle that this file implements. */
export const SHUFFLE = "hmac-drbg-sha256/1";

/** The commitment of a server seed: SHA-256 of its 32 raw bytes, in hex (R5). */
export function commitmentOf(serverSeed) {
  return toHex(sha256(fromHex(serverSeed)));
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
 * @param {string} clientSeed text as the player gave it
 * @param {number} nonce number of the deal
 * @returns {{deck: string[], draws: {i: number, rejected: number[], byte: number, j: number}[], bytes: number}}
 */
export function shuffledDeck(serverSeed, clientSeed, nonce) {
  const personalization = join(LABEL, utf8(clientSeed));
  const source = bytesOf(new HmacDrbg(fromHex(serverSeed), eightBytes(nonce), personalization));
  const deck = Array.from({ length: 52 }, (_, place) => place);
  const draws = [];
  for (let i = 51; i > 0; i -= 1) {
    const draw = drawOne(source, i);
    [deck[i], deck[draw.j]] = [deck[draw.j], deck[i]];
    draws.push(draw);
  }
  const bytes = draws.reduce((sum, draw) => sum + draw.rejected.length + 1, 0);
  return { deck: deck.map(cardCode), draws, bytes };
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

// -------------------------------------------------------------------------------------------------- cards

const RANKS = "23456789TJQKA";
const SUITS = "cdhs";
const [FIVE, KING, ACE] = [3, 11, 12];

/** A card is a number: 4 × rank + suit, which is its place in the fresh deck (R3). */
function cardCode(card) {
  return RANKS[card >> 2] + SUITS[card & 3];
}

/** The number of a card's code (C1); -1 if it is no card. */
export function cardNumber(code) {
  if (typeof code !== "string" || code.length !== 2) return -1;
  const [rank, suit] = [RANKS.indexOf(code[0]), SUITS.indexOf(code[1])];
  return rank < 0 || suit < 0 ? -1 : 4 * rank + suit;
}

const rankOf = (card) => card >> 2;
const suitOf = (card) => card & 3;
const codes = (cards) => cards.map(cardCode);

// -------------------------------------------------------------------------------------------------- hands

/** Kinds of combination, the lowest first (C2). */
export const KINDS = Object.freeze([
  "none", "ace_king", "pair", "two_pair", "three_of_a_kind", "straight",
  "flush", "full_house", "four_of_a_kind", "straight_flush", "royal_flush",
]);
const KIND = Object.freeze(Object.fromEntries(KINDS.map((name, place) => [name, place])));

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
function combinations(cards) {
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

/** The strength of the best five of five or six cards (C4). */
function strength(cards) {
  if (cards.length === 5) return strengthOfFive(cards);
  return Math.max(...cards.map((_, left) => strengthOfFive(cards.filter((_, place) => place !== left))));
}

/** 1, 0 or -1 as the first hand is higher than, equal to or lower than the second (C3, C4). */
export function compareHands(first, second) {
  return Math.sign(strength(first.map(cardNumber)) - strength(second.map(cardNumber)));
}

/** Ace-king or anything higher is a game (rule book 1). */
const hasGame = (cards) => combinations(cards).main >= KIND.ace_king;

// ------------------------------------------------------------------------------------------ canonical JSON

/** RFC 8785 text of a JSON value: members by UTF-16 code units, numbers and strings as ECMAScript writes them. */
export function canonicalJson(value) {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(",")}]`;
  if (isObject(value)) {
    const members = Object.keys(value).sort().map((name) => `${canonicalJson(name)}:${canonicalJson(value[name])}`);
    return `{${members.join(",")}}`;
  }
  need(typeof value !== "string" || isWellFormed(value), "text_malformed");
  need(typeof value !== "number" || Number.isFinite(value), "number_malformed");
  return JSON.stringify(value);
}

function isWellFormed(text) {
  return !/[\uD800-\uDFFF]/u.test(text);
}

/** `sha256:` and the hex SHA-256 of a value's canonical JSON. */
export function digestOf(value) {
  return `sha256:${toHex(sha256(utf8(canonicalJson(value))))}`;
}

const rulesetDigests = new WeakMap();

/** The digest of a published ruleset document, which covers all but its own `digest`; computed once for each. */
export function rulesetDigest(document) {
  const { digest: _, ...content } = document;
  if (!rulesetDigests.has(document)) rulesetDigests.set(document, digestOf(content));
  return rulesetDigests.get(document);
}

// ------------------------------------------------------------------------------------------------ rulesets

const MAX_AMOUNT = 10 ** 12;
const whole = (least, most) => (value) => isWhole(value, least, most);
const oneOf = (...allowed) => (value) => allowed.includes(value);
const oddsTable = (value) => isObject(value) && Object.entries(value).every(([kind, odds]) => KIND[kind] && isWhole(odds, 1, 10 ** 4));
const ownRows = (value) =>
  isObject(value) &&
  Object.entries(value).every(([pair, odds]) => pair.split("+").every((kind) => KIND[kind]) && isWhole(odds, 1, 10 ** 4));

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

/** What a hand pays on the bet (S4, C5): odds of the main combination, or of both, or the pair's own row. */
function betOdds(rules, cards) {
  const { main, second } = combinations(cards);
  const paysSecond = rules.bet.combinations === 2 && second > KIND.none;
  return { main, second: paysSecond ? second : KIND.none, odds: addedOdds(rules.bet, main, paysSecond ? second : KIND.none) };
}

function addedOdds(bet, main, second) {
  const one = (kind) => bet.odds[KINDS[kind]] ?? 0;
  if (!second) return one(main);
  return bet.own_rows?.[`${KINDS[main]}+${KINDS[second]}`] ?? one(main) + one(second);
}

// ------------------------------------------------------------------------------- stakes, limits, boxes (A8, A9)

const LIMITS = ["min_stake", "max_stake", "max_payout"];

/** The limits in force: the table's where given, else the ruleset's (A8). */
function limitsInForce(rules, table) {
  need(isObject(table), "shape", "/table", { expected: "object" });
  const names = LIMITS.filter((name) => has(table, name) || has(rules.limits, name));
  const limits = Object.fromEntries(names.map((name) => [name, has(table, name) ? table[name] : rules.limits[name]]));
  for (const name of names) need(isWhole(limits[name], 1, MAX_AMOUNT), "amount", `/table/${name}`);
  return limits;
}

function checkStake(amount, limits, pointer) {
  const most = Math.min(limits.max_stake ?? MAX_AMOUNT, MAX_AMOUNT);
  need(Number.isSafeInteger(amount), "amount", pointer);
  need(amount >= limits.min_stake && amount <= most, "limits", pointer, { amount, min: limits.min_stake, max: most });
}

function checkBoxes(rules, limits, boxes) {
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
  const named = typeof box.player === "string" && box.player.length > 0 && [...box.player].length <= 64;
  need(box.player === undefined || named, "player", `${pointer}/player`);
}

/** At most one open box in the round, or of each player; a box without a player has a player of its own (A9). */
function checkOpenBoxes(rules, boxes) {
  if (rules.boxes.open === "all") return;
  const seen = new Set();
  boxes.forEach((box, place) => {
    if (box.blind) return;
    const player = rules.boxes.open === "one" ? "anyone" : `${box.player === undefined ? `box ${place}` : `player ${box.player}`}`;
    need(!seen.has(player), "open_boxes", `/boxes/${place}/blind`);
    seen.add(player);
  });
}

// ---------------------------------------------------------------------------------- the round (D1–D4, A1–A7)

/** One round being replayed: what lies on the table, and the steps that led there. */
class Round {
  constructor(rules, limits, boxes, deck) {
    Object.assign(this, { rules, limits, deck, top: 0, shown: false, settled: false, actions: [], steps: [], draws: [] });
    this.boxes = boxes.map((box, place) => ({
      ...box, place, cards: [], sixth: false, unseen: false, exchanged: [], insurance: 0,
      choice: box.blind ? "bet" : null, dealerChoice: null,
    }));
    this.dealCards();
    this.note({ kind: "deal" });
    this.showIfDecided();
  }

  /** The next card of the deck (D1, D3, D4). */
  take() {
    need(this.top < this.deck.length, "deck_too_short", "/deal/deck");
    this.top += 1;
    return this.deck[this.top - 1];
  }

  /** Five cards to each box and the dealer, one at a time or five at a time (D2). */
  dealCards() {
    const hands = [...this.boxes, (this.dealer = { cards: [] })].map((holder) => holder.cards);
    const oneByOne = this.rules.deal.order === "one_by_one";
    for (let turn = 0; turn < 5 * hands.length; turn += 1) {
      hands[oneByOne ? turn % hands.length : Math.floor(turn / 5)].push(this.take());
    }
    for (const box of this.boxes) box.dealt = [...box.cards];
    this.dealer.dealt = [...this.dealer.cards];
    this.dealer.qualifies = hasGame(this.dealer.cards);
  }

  /** The box whose decision is awaited; undefined when there is none (A1, A4). */
  get turn() {
    const waiting = this.boxes.find((box) => box.choice === null);
    if (waiting || this.dealer.qualifies || !this.rules.game_purchase) return waiting;
    return this.boxes.find((box) => box.choice === "bet" && box.dealerChoice === null);
  }

  /** Where the bonus has won and the ruleset says so, a sixth card stays unseen and no exchange is offered (A6). */
  playsWithBonus(box) {
    return this.rules.purchase.blind_sixth && bonusOdds(this.rules, box, box.dealt, false) > 0;
  }

  seenCards(box) {
    return box.unseen ? box.dealt : box.cards;
  }

  note(step) {
    this.steps.push({ ...step, view: viewOf(this) });
  }

  showIfDecided() {
    if (this.shown || this.boxes.some((box) => box.choice === null)) return;
    this.shown = true;
    this.note({ kind: "show" });
  }

  play(action, index) {
    const box = this.checkedTurn(action, index);
    const drawn = MOVES[action.action].play(this, box, action);
    this.actions.push(normalAction(action));
    this.note({ kind: "action", index, action: this.actions[index], drawn: codes(drawn ?? []) });
    this.showIfDecided();
    if (!this.turn) this.drawForDealer();
  }

  checkedTurn(action, index) {
    const pointer = `/actions/${index}`;
    const box = this.turn;
    need(isObject(action) && has(MOVES, action.action), "action_unknown", `${pointer}/action`, { index });
    need(box, "action_left_over", pointer, { index });
    const legal = this.legal();
    const values = { index, box: box.box, legal };
    need(action.box === box.box, "action_order", `${pointer}/box`, values);
    const rule = legal.find((one) => one.action === action.action);
    need(rule, "action_illegal", `${pointer}/action`, values);
    MOVES[action.action].check(box, action, rule, pointer, values);
    return box;
  }

  /** What the box in turn may do, with price and bounds (A1–A6). */
  legal() {
    const box = this.turn;
    return box ? Object.keys(MOVES).map((action) => this.offer(action, box)).filter(Boolean) : [];
  }

  offer(action, box) {
    const dealerPhase = this.shown;
    if (MOVES[action].afterShow !== dealerPhase) return null;
    const offered = MOVES[action].offer(this, box);
    return offered && { action, ...offered };
  }

  /** The dealer replaces a card, once for the table; on the same rank again where the ruleset repeats (A5). */
  drawForDealer() {
    if (!this.boxes.some((box) => box.dealerChoice === "buy_game")) return;
    const { dealer_discards: which, redraw_same_rank: repeats } = this.rules.game_purchase;
    const ranks = this.dealer.cards.map(rankOf);
    const place = ranks.indexOf(which === "highest" ? Math.max(...ranks) : Math.min(...ranks));
    let again;
    do {
      const discarded = this.dealer.cards[place];
      const drawn = this.take();
      this.dealer.cards[place] = drawn;
      const draw = { discarded: cardCode(discarded), drawn: cardCode(drawn) };
      this.draws.push(draw);
      this.note({ kind: "dealer_draw", ...draw });
      again = repeats && rankOf(drawn) === rankOf(discarded) && !hasGame(this.dealer.cards);
    } while (again);
  }
}

const isUninsured = (box) => box.insurance === 0;
const hasNotBought = (box) => !box.sixth && box.exchanged.length === 0;

/** Bounds of the insurance on the cards then seen; null where it is not legal (A3, A6). */
function insuranceBounds(round, box) {
  const { rules, limits } = round;
  const seen = round.seenCards(box);
  const { main, odds } = betOdds(rules, seen);
  if (main < KIND[rules.insurance.threshold]) return null;
  const win = (rules.insurance.maximum === "half_win" ? 1 : 2) * box.ante * odds;
  const least = rules.insurance.minimum === "ante" ? box.ante : limits.min_stake;
  const most = Math.min(win, limits.max_payout ?? Infinity);
  return most < least ? null : { price: null, min: least, max: most };
}

/** What each action is: when it is offered, what it must name, what it does. */
const MOVES = {
  exchange: {
    afterShow: false,
    offer(round, box) {
      const { exchange_min: min, exchange_max: max } = round.rules.purchase;
      const open = max > 0 && hasNotBought(box) && isUninsured(box) && !round.playsWithBonus(box);
      return open && { price: box.ante, min, max };
    },
    check(box, action, { min, max }, pointer, values) {
      const place = `${pointer}/discard`;
      need(Array.isArray(action.discard), "shape", place, { ...values, expected: "array" });
      need(isWhole(action.discard.length, min, max), "discard_count", place, { ...values, min, max });
      const held = action.discard.every((code) => box.cards.includes(cardNumber(code)));
      need(held && new Set(action.discard).size === action.discard.length, "discard_not_held", place, values);
    },
    play(round, box, action) {
      box.exchanged = action.discard.map(cardNumber);
      const drawn = box.exchanged.map(() => round.take());
      box.cards = box.cards.filter((card) => !box.exchanged.includes(card)).concat(drawn);
      return drawn;
    },
  },
  buy_sixth: {
    afterShow: false,
    offer: (round, box) =>
      round.rules.purchase.sixth_card && hasNotBought(box) && isUninsured(box) && { price: box.ante },
    check() {},
    play(round, box) {
      box.unseen = round.playsWithBonus(box);
      box.sixth = true;
      box.cards = box.cards.concat(round.take());
      return box.cards.slice(5);
    },
  },
  insure: {
    afterShow: false,
    offer: (round, box) => Boolean(round.rules.insurance) && isUninsured(box) && insuranceBounds(round, box),
    check(box, action, { min, max }, pointer, values) {
      need(isWhole(action.amount, min, max), "insurance_amount", `${pointer}/amount`, { ...values, min, max });
    },
    play(round, box, action) {
      box.insurance = action.amount;
    },
  },
  bet: {
    afterShow: false,
    offer: (round, box) => ({ price: 2 * box.ante }),
    check() {},
    play(round, box) {
      box.choice = "bet";
    },
  },
  fold: {
    afterShow: false,
    offer: (round, box) => isUninsured(box) && { price: 0 },
    check() {},
    play(round, box) {
      box.choice = "fold";
    },
  },
  take_ante: {
    afterShow: true,
    offer: () => ({ price: 0 }),
    check() {},
    play(round, box) {
      box.dealerChoice = "take_ante";
    },
  },
  buy_game: {
    afterShow: true,
    offer: (round, box) => ({ price: round.rules.game_purchase.price === "the_ante" ? 0 : box.ante }),
    check() {},
    play(round, box) {
      box.dealerChoice = "buy_game";
    },
  },
};

function normalAction({ box, action, discard, amount }) {
  return { box, action, ...(action === "exchange" && { discard: [...discard] }), ...(action === "insure" && { amount }) };
}

// ------------------------------------------------------------------------------------ what was to be seen (A10)

function viewOf(round) {
  const turn = round.shown ? undefined : round.turn;
  return {
    shown: round.shown,
    used: round.top,
    dealer: round.dealer.cards.map((card, place) => ({ card: cardCode(card), up: round.shown || place === 4 })),
    boxes: round.boxes.map((box) => boxView(round, box, box === turn)),
  };
}

function boxView(round, box, inTurn) {
  const open = round.shown || inTurn || (!box.blind && box.choice !== null) || round.playsWithBonus(box);
  return {
    box: box.box, player: box.player, blind: box.blind, folded: box.choice === "fold", inTurn,
    cards: box.cards.map((card, place) => ({ card: cardCode(card), up: round.shown || (open && !(box.unseen && place === 5)) })),
    stakes: stakesOf(round, box),
  };
}

/** Stakes so far as [name, amount], in the order of the outcome. */
function stakesOf(round, box) {
  const buysGame = box.dealerChoice === "buy_game" && round.rules.game_purchase.price === "one_more_ante";
  return [
    ["ante", box.ante],
    ["bet", box.choice === "bet" ? 2 * box.ante : 0],
    ["bonus", box.bonus],
    ["insurance", box.insurance],
    ["purchase", hasNotBought(box) ? 0 : box.ante],
    ["game_purchase", buysGame ? box.ante : 0],
  ].filter(([, amount]) => amount > 0);
}

// ----------------------------------------------------------------------------------------- settlement (S1–S9)

/** How a box met the dealer: `fold`, `no_game`, `win`, `push` or `lose` (S9). */
function resultOf(round, box) {
  if (box.choice === "fold") return "fold";
  const dealer = box.dealerChoice === "buy_game" ? round.dealer.cards : round.dealer.dealt;
  if (!hasGame(dealer)) return "no_game";
  return ["lose", "push", "win"][1 + Math.sign(strength(box.cards) - strength(dealer))];
}

/** Stake, what comes back, the clause, and why; `won` is what the stake wins, null where it is lost. */
function row(name, stake, won, clause, why, values = {}, odds) {
  const returned = won === null ? 0 : stake + won;
  need(Number.isSafeInteger(returned), "too_large", "");
  return { name, stake, returned, net: returned - stake, ...(odds && { odds }), clause, why, values };
}

const LOST = null;
const RETURNED = 0;

function anteRow(round, box, result) {
  const ante = (won, clause, why) => row("ante", box.ante, won, clause, why);
  const bought = box.dealerChoice === "buy_game";
  if (result === "fold") return ante(LOST, "S2", "folded");
  if (bought && round.rules.game_purchase.price === "the_ante") return ante(LOST, "S6", "price_of_game");
  if (result === "no_game" && !bought) return ante(box.ante, "S3", "no_game_paid");
  if (result === "no_game") return failedPurchase(round.rules.game_purchase.failed_ante, box.ante, ante);
  if (result === "lose") return ante(LOST, "S5", "dealer_higher");
  if (result === "push") return ante(RETURNED, "S5", "equal");
  return round.rules.bet.ante_on_win === "paid" ? ante(box.ante, "S4", "ante_paid") : ante(RETURNED, "S4", "ante_unpaid");
}

function failedPurchase(failedAnte, stake, ante) {
  const won = { paid: stake, returned: RETURNED, lost: LOST }[failedAnte];
  return ante(won, "S6", `failed_${failedAnte}`);
}

function betRow(round, box, result, hand) {
  const stake = 2 * box.ante;
  if (result === "no_game") {
    const bought = box.dealerChoice === "buy_game";
    return row("bet", stake, RETURNED, bought ? "S6" : "S3", bought ? "failed_bet" : "no_game_bet");
  }
  if (result === "lose") return row("bet", stake, LOST, "S5", "dealer_higher");
  if (result === "push") return row("bet", stake, RETURNED, "S5", "equal");
  const win = stake * hand.odds;
  const cap = round.limits.max_payout ?? Infinity;
  const values = { odds: hand.odds, main: KINDS[hand.main], second: hand.second ? KINDS[hand.second] : null, cap, win };
  need(Number.isSafeInteger(win), "too_large", "");
  return row("bet", stake, Math.min(win, cap), "S4", win > cap ? "bet_capped" : "bet_paid", values, hand.odds);
}

/** What a bonus pays on the box's cards: the main combination alone; 0 if it is not in the table (S8). */
function bonusOdds(rules, box, cards, second) {
  if (!box.bonus || !rules.bonus) return 0;
  const table = second ? rules.bonus.with_sixth : rules.bonus.dealt;
  return table[KINDS[combinations(cards).main]] ?? 0;
}

function bonusRow(round, box) {
  const onSix = box.sixth && Boolean(round.rules.bonus.with_sixth);
  const cards = onSix ? box.cards : box.dealt;
  const odds = bonusOdds(round.rules, box, cards, onSix);
  const { main } = combinations(cards);
  const values = { odds, main: KINDS[main] };
  if (odds) return row("bonus", box.bonus, box.bonus * odds, "S8", onSix ? "bonus_paid_six" : "bonus_paid", values, odds);
  const [why, whyOnSix] = main ? ["bonus_lost", "bonus_lost_six"] : ["bonus_none", "bonus_none_six"];
  return row("bonus", box.bonus, LOST, "S8", onSix ? whyOnSix : why, values);
}

/** The insurance goes by the hand first shown against the box's final hand (S7). */
function insuranceRow(round, box) {
  const insurance = (won, why) => row("insurance", box.insurance, won, "S7", why);
  if (!round.dealer.qualifies) return insurance(box.insurance, "insurance_paid");
  const order = Math.sign(strength(box.cards) - strength(round.dealer.dealt));
  if (order < 0) return insurance(RETURNED, "insurance_returned");
  if (order === 0 && round.rules.insurance.on_tie === "return") return insurance(RETURNED, "insurance_tie_returned");
  return insurance(LOST, order === 0 ? "insurance_tie_lost" : "insurance_lost");
}

function settleBox(round, box) {
  const hand = betOdds(round.rules, box.cards);
  const result = resultOf(round, box);
  const settle = {
    ante: () => anteRow(round, box, result),
    bet: () => betRow(round, box, result, hand),
    bonus: () => bonusRow(round, box),
    insurance: () => insuranceRow(round, box),
    purchase: () => row("purchase", box.ante, LOST, "S1", box.sixth ? "sixth_price" : "exchange_price"),
    game_purchase: () => row("game_purchase", box.ante, LOST, "S6", "game_price"),
  };
  const bets = stakesOf(round, box).map(([name]) => settle[name]());
  return {
    box: box.box, blind: box.blind, ...(box.player !== undefined && { player: box.player }),
    dealt: codes(box.dealt), hand: codes(box.cards),
    main: KINDS[hand.main], second: hand.second ? KINDS[hand.second] : null, odds: hand.odds,
    result, bets, ...sums(bets),
  };
}

function sums(rows) {
  const add = (name) => rows.reduce((sum, one) => sum + one[name], 0);
  return { staked: add("staked" in rows[0] ? "staked" : "stake"), returned: add("returned"), net: add("net") };
}

function dealerOutcome(round) {
  const [first, last] = [round.dealer.dealt, round.dealer.cards].map((cards) => KINDS[combinations(cards).main]);
  return {
    dealt: codes(round.dealer.dealt), kind: first, qualifies: hasGame(round.dealer.dealt), draws: round.draws,
    final: codes(round.dealer.cards), final_kind: last, final_qualifies: hasGame(round.dealer.cards),
  };
}

// ------------------------------------------------------------------------------------- a whole round, replayed

/**
 * Replay and settle a round (D1 to S9).
 *
 * @param {object} rules from `readRules`
 * @param {{table: object, boxes: object[], actions: object[]}} input stakes with `bonus` 0 if none, and actions
 * @param {string[]} deck card codes from the top; may end after the last card that the round used
 * @returns the outcome's `table`, `actions`, `dealer`, `boxes`, `totals`, the cards used, and the steps
 * @throws {Problem} at the first thing that the rules do not allow; its `steps` show the round up to there
 */
export function playRound(rules, input, deck) {
  const limits = limitsInForce(rules, input.table);
  checkBoxes(rules, limits, input.boxes);
  const round = new Round(rules, limits, input.boxes, deck.map(cardNumber));
  try {
    input.actions.forEach((action, index) => round.play(action, index));
    need(!round.turn, "incomplete", "/actions", { box: round.turn?.box, legal: round.legal() });
    return { ...settled(round), steps: round.steps };
  } catch (problem) {
    problem.steps = round.steps;
    throw problem;
  }
}

function settled(round) {
  const boxes = round.boxes.map((box) => settleBox(round, box));
  round.note({ kind: "settle", boxes });
  return {
    cardsUsed: round.top,
    table: round.limits, actions: round.actions, dealer: dealerOutcome(round), boxes, totals: sums(boxes),
  };
}

// --------------------------------------------------------------------------------------- reading what was given

const JWS = /^[A-Za-z0-9_-]+\.[A-Za-z0-9_-]*(\.[A-Za-z0-9_-]*)?$/;

/**
 * Make out what somebody pasted: an outcome, a certificate, a settle request, a request with its outcome, or
 * an answer of the service around one of them.
 *
 * @returns {{form: string, outcome?: object, request?: object, certificate?: string}}
 * @throws {Problem} in words for a person
 */
export function readInput(text) {
  const trimmed = text.replace(/^\uFEFF/, "").trim();
  need(trimmed, "empty");
  if (JWS.test(trimmed)) return { form: "certificate", certificate: trimmed };
  return readDocument(parse(trimmed));
}

function parse(text) {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new Problem(/^[[{]/.test(text) ? "not_json" : "not_json_at_all", "", { detail: error.message });
  }
}

function readDocument(document) {
  if (typeof document === "string") return readInput(document);
  need(isObject(document), "not_object");
  if (Array.isArray(document.results)) return readBatch(document.results);
  if (isObject(document.outcome)) return { ...readDocument(document.outcome), ...(isObject(document.request) && { request: document.request }) };
  if (typeof document.status === "string" && isObject(document.ruleset)) return readOutcome(document);
  if (typeof document.ruleset === "string") return { form: "request", request: document };
  if (typeof document.certificate === "string") return readInput(document.certificate);
  return refuseDocument(document);
}

function readOutcome(document) {
  const { certificate, ...outcome } = document;
  need(certificate === undefined || typeof certificate === "string", "shape", "/certificate", { expected: "text" });
  return { form: "outcome", outcome, ...(certificate !== undefined && { certificate: certificate.trim() }) };
}

function readBatch(results) {
  need(results.length === 1, "batch", "/results", { count: results.length });
  return readDocument(results[0]);
}

function refuseDocument(document) {
  if (isObject(document.problem)) return refuseDocument(document.problem);
  if (typeof document.type === "string" && Number.isInteger(document.status)) {
    throw new Problem("is_problem", "", { title: document.title ?? document.type });
  }
  if (Array.isArray(document.keys)) throw new Problem("is_jwks");
  if (isObject(document.boxes) && isObject(document.bet)) throw new Problem("is_ruleset");
  throw new Problem("neither", "", { members: Object.keys(document).slice(0, 8).join(", ") });
}

/** The 52 cards of a deck, or the reason why it is none (D5, C1). */
function checkDeck(deck, pointer, least = 52) {
  need(Array.isArray(deck), "shape", pointer, { expected: "array" });
  const place = deck.findIndex((code) => cardNumber(code) < 0);
  need(place < 0, "no_card", `${pointer}/${place}`, { card: String(deck[place]) });
  const again = deck.findIndex((code, index) => deck.indexOf(code) !== index);
  need(again < 0, "card_twice", `${pointer}/${again}`, { card: deck[again] });
  need(deck.length >= least && deck.length <= 52, "deck_count", pointer, { count: deck.length });
}

/** A server seed as 64 lower-case hex digits (R6). */
function checkedSeed(seed, pointer) {
  need(typeof seed === "string" && HEX_64.test(seed.trim().toLowerCase()), "seed_shape", pointer, { length: String(seed).trim().length });
  return seed.trim().toLowerCase();
}

function checkPlayerSeed({ client_seed: clientSeed, nonce }) {
  const fits = typeof clientSeed === "string" && isWellFormed(clientSeed) && utf8(clientSeed).length <= 128;
  need(fits, "client_seed", "/deal/client_seed");
  need(isWhole(nonce, 0, Number.MAX_SAFE_INTEGER), "nonce", "/deal/nonce");
}

// ------------------------------------------------------------------------ the round that an outcome speaks of

/** An outcome as the service writes it, from one that was computed here: without what only explains it. */
export function asDocument({ outcome, requestDigest }) {
  const bets = (box) => box.bets.map(({ why, values, ...bet }) => bet);
  const boxes = outcome.boxes.map((box) => ({ ...box, bets: bets(box) }));
  const identity = requestDigest && { request_digest: requestDigest, outcome_id: outcomeId(requestDigest) };
  return { ...outcome, boxes, ...identity };
}

/** What a settle request asks for, in the form that `recompute` takes. */
function roundOfRequest(request, seed) {
  const { deal } = request;
  need(isObject(deal), "shape", "/deal", { expected: "object" });
  need(Array.isArray(request.boxes), "shape", "/boxes", { expected: "array" });
  need(request.actions === undefined || Array.isArray(request.actions), "shape", "/actions", { expected: "array" });
  const boxes = request.boxes.map((box, place) => {
    need(isObject(box), "shape", `/boxes/${place}`, { expected: "object" });
    return stakesOfBox(box.box, box.ante, box.bonus ?? 0, box.blind ?? false, box.player);
  });
  return {
    table: request.table ?? {}, boxes, actions: request.actions ?? [], context: request.context,
    deal: has(deal, "deck") ? { source: "deck", deck: deal.deck } : seedsOfRequest(deal, seed),
  };
}

function seedsOfRequest(deal, seed) {
  const own = deal.server_seed ?? seed;
  need(own !== undefined, "seed_missing", "/deal");
  return {
    source: "seed", serverSeed: checkedSeed(own, "/deal/server_seed"), clientSeed: deal.client_seed ?? "", nonce: deal.nonce ?? 0,
    reveal: deal.reveal ?? true, ...(deal.commitment !== undefined && { commitment: String(deal.commitment).toLowerCase() }),
  };
}

function stakesOfBox(box, ante, bonus, blind, player) {
  return { box, ante, bonus, blind, ...(player !== undefined && { player }) };
}

/** The round that an outcome claims to be the result of. */
function roundOfOutcome(outcome, seed) {
  const { deal, boxes, actions } = outcome;
  need(isObject(deal), "shape", "/deal", { expected: "object" });
  need(Array.isArray(boxes), "shape", "/boxes", { expected: "array" });
  need(Array.isArray(actions), "shape", "/actions", { expected: "array" });
  return {
    table: outcome.table, boxes: boxes.map(stakesInOutcome), actions, context: outcome.context,
    deal: deal.source === "deck" ? { source: "deck", deck: deal.deck } : seedsOfOutcome(deal, seed),
  };
}

function stakesInOutcome(box, place) {
  const pointer = `/boxes/${place}`;
  need(isObject(box) && Array.isArray(box.bets), "shape", `${pointer}/bets`, { expected: "array" });
  need(isObject(box.bets[0]) && box.bets[0].name === "ante", "ante_row", `${pointer}/bets/0/name`);
  const bonus = box.bets.find((one) => isObject(one) && one.name === "bonus");
  return stakesOfBox(box.box, box.bets[0].stake, bonus?.stake ?? 0, box.blind, box.player);
}

function seedsOfOutcome(deal, seed) {
  const own = deal.server_seed ?? seed;
  const reveal = has(deal, "server_seed");
  const seeds = { source: "seed", clientSeed: deal.client_seed, nonce: deal.nonce, reveal, commitment: deal.commitment };
  if (own !== undefined) return { ...seeds, serverSeed: checkedSeed(own, "/deal/server_seed") };
  return { ...seeds, deck: deal.deck };
}

// --------------------------------------------------------------------------------------------- the recomputation

/** The shuffle of a deal: its deck, and what can be said about the seeds (R1–R5, D5). */
function shuffleOf(deal) {
  if (deal.source === "deck") {
    checkDeck(deal.deck, "/deal/deck");
    return { deck: deal.deck };
  }
  checkPlayerSeed({ client_seed: deal.clientSeed, nonce: deal.nonce });
  if (deal.serverSeed === undefined) {
    checkDeck(deal.deck, "/deal/deck", 10);
    return { deck: deal.deck };
  }
  return { ...shuffledDeck(deal.serverSeed, deal.clientSeed, deal.nonce), commitment: commitmentOf(deal.serverSeed) };
}

function dealOutcome(deal, shuffle, cardsUsed) {
  if (deal.source === "deck") return { source: "deck", deck: shuffle.deck, cards_used: cardsUsed };
  return {
    source: "seed",
    commitment: shuffle.commitment ?? deal.commitment,
    ...(deal.reveal && { server_seed: deal.serverSeed }),
    client_seed: deal.clientSeed,
    nonce: deal.nonce,
    deck: deal.reveal ? shuffle.deck : shuffle.deck.slice(0, cardsUsed),
    cards_used: cardsUsed,
  };
}

/** The canonical request of a round, whose digest identifies its outcome; null while the seed is not known. */
export function canonicalRequest(rulesetId, round, limits, actions) {
  const { deal } = round;
  const seeds = { server_seed: deal.serverSeed, client_seed: deal.clientSeed, nonce: deal.nonce, reveal: deal.reveal };
  if (deal.source === "seed" && deal.serverSeed === undefined) return null;
  return {
    ruleset: rulesetId, deal: deal.source === "deck" ? { deck: deal.deck } : seeds, table: limits,
    boxes: round.boxes, actions, ...(round.context !== undefined && { context: round.context }),
  };
}

/**
 * The outcome that a round must have, apart from what cannot be computed: the engine's version and digest, the
 * signature, and the wording of the reasons.
 *
 * @param {object} document the published ruleset document
 * @param {object} round from `roundOfRequest` or `roundOfOutcome`
 * @returns {{outcome: object, steps: object[], shuffle: object, requestDigest: string | null}}
 */
export function recompute(document, round) {
  const shuffle = shuffleOf(round.deal);
  let played;
  try {
    played = playRound(readRules(document), round, shuffle.deck);
  } catch (problem) {
    problem.shuffle = shuffle;
    throw problem;
  }
  const { table, actions, dealer, boxes, totals, cardsUsed, steps } = played;
  const request = canonicalRequest(document.id, round, table, actions);
  const outcome = {
    status: "settled",
    ruleset: { id: document.id, version: document.version, digest: rulesetDigest(document) },
    engine: { shuffle: SHUFFLE },
    deal: dealOutcome(round.deal, shuffle, cardsUsed),
    table, actions, dealer, boxes, totals,
    ...(round.context !== undefined && { context: round.context }),
  };
  return { outcome, steps, shuffle, requestDigest: request && digestOf(request) };
}

// -------------------------------------------------------------------------------------------------- differences

/** Members that are said and not computed. */
const SAID_ONLY = [/^\/engine\/(version|digest)$/, /^\/(request_digest|outcome_id)$/];
/** Members of the recomputation that explain a row and are not part of an outcome. */
const OWN_MEMBERS = new Set(["why", "values"]);

/**
 * Every place in which a claimed outcome differs from the computed one, in the order of the outcome.
 *
 * @returns {{pointer: string, claimed: unknown, computed: unknown}[]} `undefined` where one side has nothing
 */
export function differences(claimed, computed, pointer = "") {
  if (SAID_ONLY.some((pattern) => pattern.test(pointer))) return [];
  if (Array.isArray(computed) && Array.isArray(claimed)) return listDifferences(claimed, computed, pointer);
  if (isObject(computed) && isObject(claimed)) return memberDifferences(claimed, computed, pointer);
  return claimed === computed ? [] : [{ pointer, claimed, computed }];
}

function listDifferences(claimed, computed, pointer) {
  const length = Math.max(claimed.length, computed.length);
  return Array.from({ length }, (_, i) => differences(claimed[i], computed[i], `${pointer}/${i}`)).flat();
}

function memberDifferences(claimed, computed, pointer) {
  const own = Object.keys(computed).filter((name) => !OWN_MEMBERS.has(name));
  const names = [...own, ...Object.keys(claimed).filter((name) => !own.includes(name))];
  return names.flatMap((name) => {
    const place = `${pointer}/${name.replaceAll("~", "~0").replaceAll("/", "~1")}`;
    if (name === "reason" && has(computed, "why")) return [];
    return differences(has(claimed, name) ? claimed[name] : undefined, computed[name], place);
  }).concat(reasonDifferences(claimed, computed, pointer));
}

/** A reason is prose of the service: only that there is one is checked. */
function reasonDifferences(claimed, computed, pointer) {
  const given = typeof claimed.reason === "string" && claimed.reason.trim() !== "";
  return has(computed, "why") && !given
    ? [{ pointer: `${pointer}/reason`, claimed: claimed.reason, computed: "…" }]
    : [];
}

/** The id of an outcome: the first 32 hex digits of its request's digest. */
const outcomeId = (requestDigest) => requestDigest.slice("sha256:".length, "sha256:".length + 32);

function identityDifferences(claimed, requestDigest) {
  if (requestDigest === null) return [];
  const computed = { request_digest: requestDigest, outcome_id: outcomeId(requestDigest) };
  return Object.entries(computed)
    .filter(([name, value]) => has(claimed, name) && claimed[name] !== value)
    .map(([name, value]) => ({ pointer: `/${name}`, claimed: claimed[name], computed: value }));
}

// --------------------------------------------------------------------------------------------------- signatures

const JWS_TYPE = "russian-poker-outcome+jws";

/**
 * Take a certificate apart (RFC 7515 compact).
 *
 * @returns {{header: object, payload: object, payloadText: string, canonical: boolean, signed: Uint8Array,
 *   signature: Uint8Array}}
 * @throws {Problem} `jws_…` if it is cut off or no JWS
 */
export function readCertificate(jws) {
  const parts = jws.split(".");
  need(parts.length === 3 && parts.every((part) => part), "jws_parts", "", { count: parts.filter((part) => part).length });
  const [headerBytes, payloadBytes, signature] = parts.map((part) => fromBase64url(part));
  const header = jsonOf(headerBytes, "jws_header");
  const payload = jsonOf(payloadBytes, "jws_payload");
  need(signature?.length === 64, "jws_signature", "", { bytes: signature?.length ?? 0 });
  return {
    header: header.value, payload: payload.value,
    canonical: [header, payload].every(({ text, value }) => canonicalJson(value) === text),
    signed: utf8(`${parts[0]}.${parts[1]}`), signature,
  };
}

function jsonOf(bytes, code) {
  try {
    const text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes ?? Uint8Array.of(0xff));
    const value = JSON.parse(text);
    need(isObject(value), code);
    return { text, value };
  } catch {
    throw new Problem(code);
  }
}

/** RFC 7638 thumbprint of an OKP key. */
export function thumbprint({ crv, kty, x }) {
  return toBase64url(sha256(utf8(canonicalJson({ crv, kty, x }))));
}

/**
 * What a certificate's header, key and signature are worth.
 *
 * @returns {Promise<{id: string, state: string, code: string, values: object}[]>} checks `key` and `signature`
 */
export async function checkSignature(certificate, jwks, subtle) {
  const { header } = certificate;
  const refused = headerFault(header);
  if (refused) return [check("key", "bad", refused.code, refused.values)];
  const key = (jwks?.keys ?? []).find((one) => one.kid === header.kid);
  if (!key) return [check("key", "bad", "key_unknown", { kid: header.kid })];
  if (key.kty !== "OKP" || key.crv !== "Ed25519" || thumbprint(key) !== key.kid) {
    return [check("key", "bad", "key_malformed", { kid: key.kid })];
  }
  return [keyCheck(key, header), await signatureCheck(certificate, key, subtle)];
}

function headerFault(header) {
  if (header.alg !== "Ed25519") return { code: "wrong_alg", values: { alg: String(header.alg) } };
  if (header.typ !== JWS_TYPE) return { code: "wrong_typ", values: { typ: String(header.typ) } };
  const extra = Object.keys(header).find((name) => !["alg", "kid", "typ", "development"].includes(name));
  return extra === undefined ? null : { code: "wrong_header", values: { name: extra } };
}

function keyCheck(key, header) {
  const values = { kid: key.kid, reason: key.reason ?? "" };
  if (key.status === "revoked") return check("key", "bad", "key_revoked", values);
  if (header.development || key.development) return check("key", "note", "key_development", values);
  if (key.status === "next") return check("key", "note", "key_next", values);
  return check("key", "ok", key.status === "retired" ? "key_retired" : "key_active", values);
}

async function signatureCheck({ signed, signature }, key, subtle) {
  if (!subtle) return check("signature", "unknown", "no_web_crypto");
  let publicKey;
  try {
    const { kty, crv, x } = key;
    publicKey = await subtle.importKey("jwk", { kty, crv, x }, { name: "Ed25519" }, false, ["verify"]);
  } catch {
    return check("signature", "unknown", "no_ed25519");
  }
  const valid = await subtle.verify({ name: "Ed25519" }, publicKey, signature, signed);
  return valid ? check("signature", "ok", "signature_valid") : check("signature", "bad", "signature_forged");
}

// ------------------------------------------------------------------------------------------------- the verdict

/** One thing that was checked. `state` is ok, bad, note (fine, but read it) or unknown (could not be checked). */
function check(id, state, code, values = {}, more = {}) {
  return { id, state, code, values, ...more };
}

/**
 * Check everything about what somebody pasted.
 *
 * @param {string} text an outcome, certificate, request, or an answer of the service
 * @param {object} options `rulesets` (published documents by id), `jwks`, `serverSeed` and `ruleset` (a pasted
 *   document), each optional, and `subtle` (Web Crypto, where there is one)
 * @returns {Promise<object>} `verdict` (`good`, `partial`, `bad`, `computed` or `void`), `checks`, `differences`,
 *   `first` (what to tell first), `claimed`, `computed`, `steps`, `shuffle`, `document`
 * @throws {Problem} if nothing can be made of the input
 */
export async function verify(text, options) {
  const input = readInput(text);
  const { form, certificate } = input;
  const report = { form, certificate, checks: [], differences: [], steps: [], shuffle: null, computed: null };
  if (certificate !== undefined) await checkCertificate(input, options, report);
  else if (input.outcome) report.checks.push(check("signature", "note", "unsigned"));
  report.claimed = input.outcome ?? null;
  if (input.outcome?.status === "void") checkVoid(input.outcome, report);
  else checkRound(input, options, report);
  return conclude(report);
}

async function checkCertificate(input, options, report) {
  const certificate = readCertificate(input.certificate);
  report.checks.push(...(await checkSignature(certificate, options.jwks, options.subtle)));
  report.checks.push(certificate.canonical ? check("canonical", "ok", "canonical") : check("canonical", "bad", "not_canonical"));
  if (!input.outcome) {
    input.outcome = certificate.payload;
    return;
  }
  const apart = differences(input.outcome, certificate.payload);
  const same = canonicalJson(input.outcome) === canonicalJson(certificate.payload);
  report.checks.push(same ? check("payload", "ok", "payload_same") : check("payload", "bad", "payload_differs", {}, { difference: apart[0] }));
}

function checkRound(input, options, report) {
  try {
    const document = findRuleset(input, options, report);
    report.document = document;
    const seed = enteredSeed(input, options, report);
    const round = input.request ? roundOfRequest(input.request, seed) : roundOfOutcome(input.outcome, seed);
    report.seeds = round.deal;
    const computed = recompute(document, round);
    Object.assign(report, { computed: computed.outcome, steps: computed.steps, shuffle: computed.shuffle, requestDigest: computed.requestDigest });
    checkRequestedCommitment(input, round, computed, report);
    if (input.outcome) compare(input.outcome, computed, round, report);
  } catch (problem) {
    if (!(problem instanceof Problem)) throw problem;
    Object.assign(report, { steps: problem.steps ?? [], shuffle: problem.shuffle ?? null });
    if (input.outcome && problem.shuffle) reportDifferences(dealDifferences(input.outcome, report), report);
    const { code, pointer, values } = problem;
    report.checks.push(check(pointer.startsWith("/actions") ? "actions" : "round", "bad", code, values, { pointer }));
  }
}

/** The ruleset document that the round was played by: the pasted one if it is that one, else the embedded one. */
function findRuleset({ request, outcome }, options, report) {
  const id = outcome ? outcome.ruleset?.id : request.ruleset;
  const pasted = options.ruleset?.id === id;
  const document = pasted ? options.ruleset : has(options.rulesets ?? {}, id) && options.rulesets[id];
  need(document, "ruleset_unknown", "/ruleset", { id: String(id), known: Object.keys(options.rulesets ?? {}).join(", ") });
  const digest = rulesetDigest(document);
  const stated = document.digest ?? digest;
  const values = { id, digest, stated, claimed: outcome?.ruleset.digest ?? digest };
  if (stated !== digest) report.checks.push(check("ruleset", "bad", "ruleset_inconsistent", values));
  else if (values.claimed !== digest) report.checks.push(check("ruleset", "bad", pasted ? "ruleset_differs_pasted" : "ruleset_differs", values));
  else if (!outcome) report.checks.push(check("ruleset", "ok", "ruleset_digest", values));
  else report.checks.push(check("ruleset", "ok", pasted ? "ruleset_pasted" : "ruleset_same", values));
  return document;
}

/** The server seed that was entered beside the outcome, for one that does not reveal it. */
function enteredSeed({ request, outcome }, options, report) {
  if (!options.serverSeed) return undefined;
  const seed = checkedSeed(options.serverSeed, "/server_seed");
  const own = (outcome ?? request).deal?.server_seed;
  if (own !== undefined && String(own).toLowerCase() !== seed) report.checks.push(check("commitment", "bad", "other_seed", { own }));
  return seed;
}

/** A commitment in a request is checked (R5). */
function checkRequestedCommitment({ outcome, request }, { deal }, { shuffle }, report) {
  if (!request || deal.commitment === undefined || deal.commitment === shuffle.commitment) return;
  const difference = { pointer: "/deal/commitment", claimed: deal.commitment, computed: shuffle.commitment };
  if (!outcome) report.differences.push(difference);
  report.checks.push(check("commitment", "bad", "commitment_differs", {}, { difference }));
}

/** The parts of an outcome that are reported one by one, by their places in it. */
const PARTS = [
  ["ruleset", /^\/ruleset/], ["commitment", /^\/deal\/commitment/], ["shuffle", /^\/deal/], ["table", /^\/table/],
  ["actions", /^\/actions/], ["dealer", /^\/dealer/], ["hands", /^\/boxes\/\d+\/(?!bets|staked|returned|net|result)/],
  ["settlement", /^\/boxes/], ["totals", /^\/totals/], ["identity", /^\/(request_digest|outcome_id)$/], ["other", /^/],
];

const partOf = (pointer) => PARTS.find(([, pattern]) => pattern.test(pointer))[0];

function compare(claimed, computed, round, report) {
  const found = [...differences(claimed, computed.outcome), ...identityDifferences(claimed, computed.requestDigest)];
  reportDifferences(found, report);
  report.checks.push(...agreements(claimed, round, report));
}

function reportDifferences(found, report) {
  report.differences = found;
  const reported = new Set(report.checks.filter(({ state }) => state === "bad").map(({ id }) => id));
  for (const [part] of PARTS) {
    const here = found.filter(({ pointer }) => partOf(pointer) === part);
    if (here.length && !reported.has(part)) {
      report.checks.push(check(part, "bad", `${part}_differs`, {}, { difference: here[0] }));
    }
  }
}

/** What differs in the deal alone: with other seeds the decisions may not even be possible. */
function dealDifferences({ deal }, { seeds, shuffle }) {
  return differences(deal, dealOutcome(seeds, shuffle, deal.cards_used), "/deal");
}

/** What is to be said of the parts without a difference. */
function agreements(claimed, round, report) {
  const done = new Set(report.checks.map(({ id }) => id));
  return PARTS.map(([part]) => part).filter((part) => !done.has(part)).map((part) => {
    if (part === "commitment" || part === "shuffle") return seedAgreement(part, round.deal);
    if (part === "identity") return identityAgreement(claimed, report.requestDigest);
    if (part === "other") return engineNote(claimed);
    return check(part, "ok", `${part}_same`);
  }).filter(Boolean);
}

function seedAgreement(part, deal) {
  if (deal.source === "deck") return part === "shuffle" ? check(part, "note", "deck_named") : null;
  if (deal.serverSeed === undefined) return check(part, "unknown", `${part}_unknown`);
  return check(part, "ok", `${part}_same`);
}

function identityAgreement(claimed, requestDigest) {
  if (!has(claimed, "request_digest")) return null;
  if (requestDigest === null) return check("identity", "unknown", "identity_unknown");
  return check("identity", "ok", "identity_same", { id: claimed.outcome_id });
}

function engineNote({ engine }) {
  return check("other", "ok", "engine", { version: String(engine.version), digest: engine.digest ?? "" });
}

/** A void round was not played out: every stake comes back in full and nothing else is paid. */
function checkVoid(outcome, report) {
  const boxes = Array.isArray(outcome.boxes) ? outcome.boxes : [];
  const faults = fault(outcome.dealer, undefined, "/dealer");
  faults.push(...boxes.flatMap((box, place) => voidFaults(box, `/boxes/${place}`)));
  faults.push(...sumFaults(outcome.totals, boxes, "staked", "/totals"));
  report.differences = faults;
  report.checks.push(
    faults.length || !boxes.length
      ? check("settlement", "bad", "void_not_returned", {}, { difference: faults[0] })
      : check("settlement", "ok", "void_returned", { reason: String(outcome.reason ?? "") }),
  );
}

function voidFaults(box, pointer) {
  const bets = Array.isArray(box?.bets) ? box.bets : [];
  const rows = bets.flatMap((one, place) => [
    ...fault(one.returned, one.stake, `${pointer}/bets/${place}/returned`),
    ...fault(one.net, 0, `${pointer}/bets/${place}/net`),
  ]);
  if (!bets.length) return fault(box?.bets, "…", `${pointer}/bets`);
  return [...fault(box.dealt, undefined, `${pointer}/dealt`), ...rows, ...sumFaults(box, bets, "stake", pointer)];
}

function sumFaults(claimed, rows, stake, pointer) {
  const add = (name) => rows.reduce((sum, one) => sum + Number(one?.[name]), 0);
  return [
    ...fault(claimed?.staked, add(stake), `${pointer}/staked`),
    ...fault(claimed?.returned, add("returned"), `${pointer}/returned`),
    ...fault(claimed?.net, 0, `${pointer}/net`),
  ];
}

function fault(claimed, computed, pointer) {
  return claimed === computed ? [] : [{ pointer, claimed, computed }];
}

/** What to tell first: a worthless signature, another outcome than the signed one, else the first difference. */
function firstFault(found, bad) {
  const badOne = (...ids) => bad.find(({ id }) => ids.includes(id));
  const payload = badOne("payload");
  const first = payload?.difference ?? found[0] ?? bad.find(({ difference }) => difference)?.difference ?? null;
  const ofFirst = first && badOne(partOf(first.pointer));
  return { first, fault: badOne("key", "signature") ?? payload ?? ofFirst ?? bad[0] ?? null };
}

function conclude(report) {
  const bad = report.checks.filter(({ state }) => state === "bad");
  const unsure = report.checks.some(({ state }) => state === "unknown");
  Object.assign(report, firstFault(report.differences, bad));
  if (bad.length) report.verdict = "bad";
  else if (report.form === "request") report.verdict = "computed";
  else if (report.claimed?.status === "void") report.verdict = unsure ? "partial" : "void";
  else report.verdict = unsure ? "partial" : "good";
  return report;
}
