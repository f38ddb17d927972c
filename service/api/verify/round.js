/** A round replayed and settled (D1–D4, A1–A7, A10, S1–S9). */

import { KIND, KINDS, cardCode, cardNumber, codes, combinations, hasGame, rankOf, strength } from "./hands.js";
import { betOdds, bonusOdds, checkBoxes, limitsInForce } from "./rules.js";
import { has, isObject, isWhole, need } from "./values.js";

/** What a box is before it decides; a blind one has bet already (A9). */
function atStart(box) {
  return { ...box, choice: box.blind ? "bet" : null, dealerChoice: null, exchanged: [], sixth: false, insurance: 0 };
}

/** One round being replayed: what lies on the table, and the steps that led there. */
class Round {
  constructor(rules, limits, boxes, deck) {
    Object.assign(this, { rules, limits, deck, top: 0, shown: false, actions: [], steps: [], draws: [] });
    this.boxes = boxes.map((box) => ({ ...atStart(box), cards: [], unseen: false }));
    this.dealer = { cards: [] };
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
    const hands = [...this.boxes, this.dealer].map((holder) => holder.cards);
    const oneByOne = this.rules.deal.order === "one_by_one";
    for (let turn = 0; turn < 5 * hands.length; turn += 1) {
      hands[oneByOne ? turn % hands.length : Math.floor(turn / 5)].push(this.take());
    }
    for (const holder of [...this.boxes, this.dealer]) holder.dealt = [...holder.cards];
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
    return this.rules.purchase.blind_sixth && bonusOdds(this.rules, box, box.dealt) > 0;
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
    const drawn = MOVES[action.action].play(box, action, this) ?? [];
    this.actions.push(normalAction(action));
    this.note({ kind: "action", index, action: this.actions[index], drawn: codes(drawn) });
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
    const offer = legal.find((one) => one.action === action.action);
    need(offer, "action_illegal", `${pointer}/action`, values);
    MOVES[action.action].check?.(box, action, offer, pointer, values);
    return box;
  }

  /** What the box in turn may do, with price and bounds (A1–A6). */
  legal() {
    const box = this.turn;
    const names = box ? Object.keys(MOVES).filter((name) => MOVES[name].afterShow === this.shown) : [];
    const offers = names.map((action) => [action, MOVES[action].offer(box, this)]);
    return offers.filter(([, offer]) => offer).map(([action, offer]) => ({ action, ...offer }));
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

// ---------------------------------------------------------------------------------------- decisions (A1–A6)

const isUninsured = (box) => box.insurance === 0;
const hasNotBought = (box) => !box.sixth && box.exchanged.length === 0;

/** Bounds of the insurance on the cards then seen; null where it is not legal (A3, A6). */
function insuranceBounds(box, { rules, limits }) {
  const { main, odds } = betOdds(rules, box.unseen ? box.dealt : box.cards);
  if (main < KIND[rules.insurance.threshold]) return null;
  const win = (rules.insurance.maximum === "half_win" ? 1 : 2) * box.ante * odds;
  const least = rules.insurance.minimum === "ante" ? box.ante : limits.min_stake;
  const most = Math.min(win, limits.max_payout ?? Infinity);
  return most < least ? null : { min: least, max: most };
}

/** What each action is: when it is offered and within which bounds, what it must name, what it does. */
const MOVES = {
  exchange: {
    afterShow: false,
    offer(box, round) {
      const { exchange_min: min, exchange_max: max } = round.rules.purchase;
      const open = max > 0 && hasNotBought(box) && isUninsured(box) && !round.playsWithBonus(box);
      return open && { min, max };
    },
    check(box, action, { min, max }, pointer, values) {
      const place = `${pointer}/discard`;
      need(Array.isArray(action.discard), "shape", place, { ...values, expected: "array" });
      need(isWhole(action.discard.length, min, max), "discard_count", place, { ...values, min, max });
      const held = action.discard.every((code) => box.cards.includes(cardNumber(code)));
      need(held && new Set(action.discard).size === action.discard.length, "discard_not_held", place, values);
    },
    play(box, action, round) {
      box.exchanged = action.discard.map(cardNumber);
      const drawn = box.exchanged.map(() => round.take());
      box.cards = box.cards.filter((card) => !box.exchanged.includes(card)).concat(drawn);
      return drawn;
    },
  },
  buy_sixth: {
    afterShow: false,
    offer: (box, round) => round.rules.purchase.sixth_card && hasNotBought(box) && isUninsured(box) && {},
    play(box, action, round) {
      box.unseen = round.playsWithBonus(box);
      box.sixth = true;
      box.cards = box.cards.concat(round.take());
      return box.cards.slice(5);
    },
  },
  insure: {
    afterShow: false,
    offer: (box, round) => round.rules.insurance && isUninsured(box) && insuranceBounds(box, round),
    check(box, action, { min, max }, pointer, values) {
      need(isWhole(action.amount, min, max), "insurance_amount", `${pointer}/amount`, { ...values, min, max });
    },
    play(box, action) {
      box.insurance = action.amount;
    },
  },
  bet: {
    afterShow: false,
    offer: () => ({}),
    play(box) {
      box.choice = "bet";
    },
  },
  fold: {
    afterShow: false,
    offer: (box) => isUninsured(box) && {},
    play(box) {
      box.choice = "fold";
    },
  },
  take_ante: {
    afterShow: true,
    offer: () => ({}),
    play(box) {
      box.dealerChoice = "take_ante";
    },
  },
  buy_game: {
    afterShow: true,
    offer: () => ({}),
    play(box) {
      box.dealerChoice = "buy_game";
    },
  },
};

function normalAction({ box, action, discard, amount }) {
  const details = { exchange: { discard: [...(discard ?? [])] }, insure: { amount } };
  return { box, action, ...details[action] };
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
  const isUp = (place) => round.shown || (open && !(box.unseen && place === 5));
  return {
    box: box.box, player: box.player, blind: box.blind, folded: box.choice === "fold", inTurn,
    cards: box.cards.map((card, place) => ({ card: cardCode(card), up: isUp(place) })),
    stakes: stakesOf(round.rules, box),
  };
}

/** Stakes so far as [name, amount], in the order of the outcome. */
function stakesOf(rules, box) {
  const paysForGame = box.dealerChoice === "buy_game" && rules.game_purchase?.price === "one_more_ante";
  return [
    ["ante", box.ante],
    ["bet", box.choice === "bet" ? 2 * box.ante : 0],
    ["bonus", box.bonus],
    ["insurance", box.insurance],
    ["purchase", hasNotBought(box) ? 0 : box.ante],
    ["game_purchase", paysForGame ? box.ante : 0],
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

const LOST = null;
const RETURNED = 0;

/** Stake, what comes back, the clause, and why; `won` is what the stake wins, null where it is lost. */
function row(name, stake, won, clause, why, values = {}) {
  const returned = won === LOST ? 0 : stake + won;
  need(Number.isSafeInteger(returned), "too_large", "");
  const odds = values.odds ? { odds: values.odds } : {};
  return { name, stake, returned, net: returned - stake, ...odds, ...(clause && { clause }), why, values };
}

function anteRow(round, box, result) {
  const ante = (won, clause, why) => row("ante", box.ante, won, clause, why);
  const bought = box.dealerChoice === "buy_game";
  if (result === "fold") return ante(LOST, "S2", "folded");
  if (bought && round.rules.game_purchase.price === "the_ante") return ante(LOST, "S6", "price_of_game");
  if (result === "no_game" && !bought) return ante(box.ante, "S3", "no_game_paid");
  if (result === "no_game") return failedPurchase(round.rules.game_purchase.failed_ante, box.ante, ante);
  if (result === "lose") return ante(LOST, "S5", "dealer_higher");
  if (result === "push") return ante(RETURNED, "S5", "equal");
  if (round.rules.bet.ante_on_win === "paid") return ante(box.ante, "S4", "ante_paid");
  return ante(RETURNED, "S4", "ante_unpaid");
}

function failedPurchase(failedAnte, stake, ante) {
  const won = { paid: stake, returned: RETURNED, lost: LOST }[failedAnte];
  return ante(won, "S6", `failed_${failedAnte}`);
}

function betRow(round, box, result, hand) {
  const bet = (won, clause, why, values) => row("bet", 2 * box.ante, won, clause, why, values);
  const bought = box.dealerChoice === "buy_game";
  if (result === "no_game") return bought ? bet(RETURNED, "S6", "failed_bet") : bet(RETURNED, "S3", "no_game_bet");
  if (result === "lose") return bet(LOST, "S5", "dealer_higher");
  if (result === "push") return bet(RETURNED, "S5", "equal");
  const win = 2 * box.ante * hand.odds;
  need(Number.isSafeInteger(win), "too_large", "");
  const cap = round.limits.max_payout ?? Infinity;
  return bet(Math.min(win, cap), "S4", win > cap ? "bet_capped" : "bet_paid", { ...namedHand(hand), cap, win });
}

const namedHand = ({ main, second, odds }) => ({ main: KINDS[main], second: second ? KINDS[second] : null, odds });

/** The bonus goes by the box's own dealt cards, or by all six where the ruleset has a second column (S8). */
function bonusRow(round, box) {
  const onSix = box.sixth && Boolean(round.rules.bonus.with_sixth);
  const cards = onSix ? box.cards : box.dealt;
  const odds = bonusOdds(round.rules, box, cards, onSix ? "with_sixth" : "dealt");
  const { main } = combinations(cards);
  const won = odds ? box.bonus * odds : LOST;
  const why = odds ? "bonus_paid" : main ? "bonus_lost" : "bonus_none";
  return row("bonus", box.bonus, won, "S8", onSix ? `${why}_six` : why, { odds, main: KINDS[main] });
}

/** The insurance goes by the hand first shown against the box's final hand (S7). */
function insuranceRow(round, box) {
  const insurance = (won, why) => row("insurance", box.insurance, won, "S7", why);
  if (!round.dealer.qualifies) return insurance(box.insurance, "insurance_paid");
  const order = Math.sign(strength(box.cards) - strength(round.dealer.dealt));
  if (order < 0) return insurance(RETURNED, "insurance_returned");
  if (order > 0) return insurance(LOST, "insurance_lost");
  const returns = round.rules.insurance.on_tie === "return";
  return returns ? insurance(RETURNED, "insurance_tie_returned") : insurance(LOST, "insurance_tie_lost");
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
  const bets = stakesOf(round.rules, box).map(([name]) => settle[name]());
  const cards = { dealt: codes(box.dealt), hand: codes(box.cards) };
  return { ...seatOf(box), ...cards, ...namedHand(hand), result, bets, ...sums(bets, "stake") };
}

const seatOf = ({ box, blind, player }) => ({ box, blind, ...(player !== undefined && { player }) });

function sums(rows, staked = "staked") {
  const add = (name) => rows.reduce((sum, one) => sum + one[name], 0);
  return { staked: add(staked), returned: add("returned"), net: add("net") };
}

function dealerOutcome(round) {
  const [first, last] = [round.dealer.dealt, round.dealer.cards].map((cards) => KINDS[combinations(cards).main]);
  return {
    dealt: codes(round.dealer.dealt), kind: first, qualifies: hasGame(round.dealer.dealt), draws: round.draws,
    final: codes(round.dealer.cards), final_kind: last, final_qualifies: hasGame(round.dealer.cards),
  };
}

// ------------------------------------------------------------------------------------------- a whole round

function replay(rules, input, deck, finish) {
  const limits = limitsInForce(rules, input.table);
  checkBoxes(rules, limits, input.boxes);
  const round = new Round(rules, limits, input.boxes, deck.map(cardNumber));
  try {
    input.actions.forEach((action, index) => round.play(action, index));
    return finish(round);
  } catch (problem) {
    problem.steps = round.steps;
    throw problem;
  }
}

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
  return replay(rules, input, deck, (round) => {
    need(!round.turn, "incomplete", "/actions", { box: round.turn?.box, legal: round.legal() });
    const boxes = round.boxes.map((box) => settleBox(round, box));
    round.note({ kind: "settle", boxes });
    const { limits: table, actions, steps, top: cardsUsed } = round;
    return { table, actions, dealer: dealerOutcome(round), boxes, totals: sums(boxes), cardsUsed, steps };
  });
}

/**
 * Break a round off after its actions: every stake made so far returns.
 *
 * @param {string[]} [deck] as for `playRound`; without it only the stakes follow from the actions, and whether
 *   each of them was legal remains open
 * @returns as `playRound`, without cards
 * @throws {Problem} as `playRound`
 */
export function voidRound(rules, input, deck) {
  if (deck) return replay(rules, input, deck, voided);
  const limits = limitsInForce(rules, input.table);
  checkBoxes(rules, limits, input.boxes);
  input.actions.forEach((action, index) => checkUnseen(action, index, input));
  const boxes = input.boxes.map((box) => boxAfter(box, input.actions));
  return voided({ rules, limits, boxes, actions: input.actions.map(normalAction), steps: [] });
}

function voided({ rules, limits, boxes, actions, steps }) {
  const returned = boxes.map((box) => {
    const bets = stakesOf(rules, box).map(([name, stake]) => row(name, stake, RETURNED, null, "void"));
    return { ...seatOf(box), bets, ...sums(bets, "stake") };
  });
  steps.push({ kind: "void", boxes: returned, view: steps.at(-1)?.view });
  return { table: limits, actions, boxes: returned, totals: sums(returned), steps };
}

/** What can be held against an action where no card is known. */
function checkUnseen(action, index, { boxes, actions }) {
  const pointer = `/actions/${index}`;
  const isKnown = isObject(action) && has(MOVES, action.action) && boxes.some(({ box }) => box === action.box);
  need(isKnown, "action_unknown", pointer, { index });
  const again = actions.slice(0, index).some((one) => one.box === action.box && one.action === action.action);
  need(!again, "action_twice", pointer, { index });
  if (action.action === "insure") need(isWhole(action.amount, 1, Infinity), "amount", `${pointer}/amount`);
  if (action.action !== "exchange") return;
  const isList = Array.isArray(action.discard) && action.discard.every((code) => cardNumber(code) >= 0);
  need(isList && isWhole(action.discard.length, 1, 5), "shape", `${pointer}/discard`, { expected: "array" });
}

/** A box as its actions leave it, without its cards. */
function boxAfter(box, actions) {
  const own = Object.fromEntries(actions.filter((one) => one.box === box.box).map((one) => [one.action, one]));
  const start = atStart(box);
  return {
    ...start, choice: own.bet ? "bet" : start.choice, dealerChoice: own.buy_game ? "buy_game" : null,
    exchanged: own.exchange?.discard ?? [], sixth: Boolean(own.buy_sixth), insurance: own.insure?.amount ?? 0,
  };
}
