/** The table at each step of a round: cards, stakes, and at the end what became of every stake. */

import { evaluateHand } from "./hands.js";
import {
  amount, cardName, drawing, element, handName, placeText, rankText, shortCard, shortCards, signedAmount, state, text,
  valueText,
} from "./words.js";

// ---------------------------------------------------------------------------------------------------- cards

const PIPS = {
  h: "M12 21.5C5 15.5 2 12 2 8c0-3 2.2-5 4.8-5C9 3 11 4.3 12 6.6 13 4.3 15 3 17.2 3 19.8 3 22 5 22 8c0 4-3 7.5-10 13.5",
  d: "M12 1.2C14 5.8 16.7 9 20 12 16.7 15 14 18.2 12 22.8 10 18.2 7.3 15 4 12 7.3 9 10 5.8 12 1.2Z",
  s:
    "M12 1.5C16 6.5 22 9.5 22 14.2 22 17 20 18.8 17.6 18.8 15.8 18.8 14.2 17.9 13.1 16.4 13.3 19 14.3 21 16 22.5H8" +
    "C9.7 21 10.7 19 10.9 16.4 9.8 17.9 8.2 18.8 6.4 18.8 4 18.8 2 17 2 14.2 2 9.5 8 6.5 12 1.5Z",
  c:
    "M12 1.6a5 5 0 0 1 4 8 5 5 0 1 1-2.9 8.2c.2 2 1.3 3.6 2.9 4.7H8" +
    "c1.6-1.1 2.7-2.7 2.9-4.7A5 5 0 1 1 8 9.6a5 5 0 0 1 4-8Z",
};
const HATCH = Array.from({ length: 11 }, (_, i) => `M${i * 10 - 30} 78l46-72M${i * 10 - 10} 6l46 72`).join("");

/** The picture of a card, or of a card's back. */
function cardPicture(code, up) {
  const label = up ? cardName(code) : text("table.card_down");
  const picture = drawing("svg", { viewBox: "0 0 60 84", role: "img", "aria-label": label });
  picture.append(drawing("rect", { class: "edge", x: 1.5, y: 1.5, width: 57, height: 81, rx: 7 }));
  picture.append(...(up ? cardFace(code) : cardBack()));
  return picture;
}

function cardFace(code) {
  const pip = (transform) => drawing("path", { class: `pip-${code[1]}`, d: PIPS[code[1]], transform });
  const width = code[0] === "T" ? { textLength: 28, lengthAdjust: "spacingAndGlyphs" } : {};
  const rank = drawing("text", { class: `rank pip-${code[1]}`, x: 6, y: 28, ...width }, rankText(code));
  return [rank, pip("translate(6 33) scale(.72)"), pip("translate(21 42) scale(1.5)")];
}

function cardBack() {
  const frame = { x: 6, y: 6, width: 48, height: 72 };
  const hatch = drawing("svg", { ...frame, viewBox: "6 6 48 72" }, drawing("path", { class: "hatch", d: HATCH }));
  return [drawing("rect", { class: "back", ...frame, rx: 4 }), hatch];
}

function cardList(cards, kind = "") {
  const items = cards.map(({ card, up = true, mark }) => element("li", { class: mark }, cardPicture(card, up)));
  return element("ul", { class: `cards ${kind}` }, items);
}

// ---------------------------------------------------------------------------------------------------- steps

/** The steps to show: the seeds, their deck where it is known, then those of the round. */
export function shownSteps({ round, shuffle, steps }) {
  if (!shuffle) return steps;
  const seeds = round.deal.source === "seed" ? [{ kind: "seeds" }] : [];
  const deck = shuffle.deck ? [{ kind: shuffle.draws ? "shuffle" : "deck" }] : [];
  return [...seeds, ...deck, ...steps];
}

/** Title of a step, and a sentence on it where there is more to say. */
export function captionOf(step, report) {
  if (step.kind === "action") return [actionTitle(step)];
  if (step.kind === "dealer_draw") {
    return [text("steps.dealer_draw", { discarded: shortCard(step.discarded), drawn: shortCard(step.drawn) })];
  }
  const { shuffle, round, steps } = report;
  const used = steps.at(-1)?.view?.used ?? 0;
  const detail = {
    seeds: () => text(round.deal.beacon ? "steps.seeds_beacon_text" : "steps.seeds_text"),
    shuffle: () => text("steps.shuffle_text", { used }),
    deck: () => text(shuffle.deck.length < 52 ? "steps.deck_withheld_text" : "steps.deck_text", { used }),
    deal: () => text("steps.deal_text"),
    show: () => dealerSentence(step.view.dealer),
    settle: () => settlementSentence(report.computed),
    void: () => text("steps.void_text"),
  }[step.kind];
  return [text(`steps.${step.kind}`), detail()];
}

function actionTitle({ action, drawn }) {
  const cards = { cards: shortCards(action.discard ?? []), drawn: shortCards(drawn) };
  return text(`steps.${action.action}`, { box: action.box, amount: amount(action.amount ?? 0), ...cards });
}

function dealerSentence(dealer) {
  const { main, second } = handOf(dealer.map(({ card }) => card));
  return main === "none" ? text("steps.show_none") : text("steps.show_game", { hand: handName(main, second) });
}

function settlementSentence({ dealer, totals }) {
  const { main, second } = handOf(dealer.final);
  const sums = { staked: amount(totals.staked), returned: amount(totals.returned), net: signedAmount(totals.net) };
  return text("steps.settle_text", { hand: handName(main, second), ...sums });
}

/** Combinations of a hand as the round's ruleset counts them. */
function handOf(cards) {
  const { main, second } = evaluateHand(cards);
  const two = state.report.ruleset?.bet.combinations.value === 2;
  return { main, second: two ? second : null };
}

// ---------------------------------------------------------------------------------------------------- felt

/** What lies on the felt at a step. */
export function feltOf(step, report) {
  if (step.kind === "seeds") return [seedFacts(report)];
  if (step.kind === "shuffle") return [deckPicture(report), drawsTable(report.shuffle)];
  if (step.kind === "deck") return [deckPicture(report)];
  return tableOf(step, report);
}

function seedFacts({ shuffle, round: { deal } }) {
  const { serverSeed = text("table.withheld"), clientSeed, nonce, beacon, commitment } = deal;
  const bound = beacon && [
    ["beacon_source", beacon.source, "/deal/beacon/source"],
    ["beacon_value", beacon.value.toLowerCase(), "/deal/beacon/value"],
    ["shuffle_seed", shuffle.seed, "/deal/shuffle_seed"],
  ];
  const facts = [
    ["commitment", shuffle.commitment ?? commitment, "/deal/commitment"], ["server_seed", serverSeed],
    ["client_seed", clientSeed || text("table.empty")], ["nonce", nonce], ...(bound ?? []),
  ];
  const items = facts.flatMap(([name, value, pointer]) => [
    element("dt", {}, text(`table.${name}`)),
    element("dd", {}, element("code", {}, String(value)), " ", pointer && claimAt(pointer)),
  ]);
  return element("dl", { class: "facts" }, items);
}

function deckPicture({ shuffle, steps }) {
  const used = steps.at(-1)?.view?.used ?? shuffle.deck.length;
  const places = marksUnder("/deal/deck");
  const markOf = (place) => (places.has(String(place)) ? "wrong" : place < used ? undefined : "unused");
  return cardList(shuffle.deck.map((card, place) => ({ card, mark: markOf(place) })), "deck");
}

function drawsTable({ deck, draws }) {
  const names = ["draw_place", "draw_rejected", "draw_byte", "draw_swap", "draw_card"];
  const heads = names.map((name) => element("th", { scope: "col" }, text(`table.${name}`)));
  const rows = draws.map(({ i, rejected, byte, j }) => {
    const cells = [i, rejected.join(", ") || "–", byte, j, shortCard(deck[i])];
    return element("tr", {}, cells.map((cell) => element("td", {}, String(cell))));
  });
  const table = element("table", {}, element("thead", {}, element("tr", {}, heads)), element("tbody", {}, rows));
  return element("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": text("page.draws") }, table);
}

/** The table at a step: the dealer, then the boxes in seating order. A void round may show no card at all. */
function tableOf({ view, ...step }, report) {
  const fresh = new Set(step.kind === "dealer_draw" ? [step.drawn] : step.drawn);
  const seats = step.boxes
    ? step.boxes.map((box, place) => settledSeat(box, view?.boxes[place], place))
    : view.boxes.map((box) => openSeat(box, fresh));
  const dealer = view && dealerSeat(step, view, fresh);
  return [dealer, element("div", { class: "seats" }, seats), step.boxes && sumsOf(report)].filter(Boolean);
}

function dealerSeat({ kind }, view, fresh) {
  const isSettled = kind === "settle";
  const wrong = isSettled ? marksUnder("/dealer/final") : new Set();
  const markOf = (card, place) => (wrong.has(String(place)) ? "wrong" : fresh.has(card) ? "new" : undefined);
  const cards = view.dealer.map(({ card, up }, place) => ({ card, up, mark: markOf(card, place) }));
  return element(
    "section", { class: "seat dealer" }, element("header", {}, element("h3", {}, text("table.dealer"))),
    cardList(cards, "five"), view.shown && handLine(cards.map(({ card }) => card)),
    isSettled && firstShown(), isSettled && claims("/dealer"),
  );
}

/** What the dealer showed before he replaced a card: the boxes that took their ante were settled on it. */
function firstShown() {
  const { dealt, draws } = state.report.computed.dealer;
  return draws.length ? element("p", { class: "because" }, `${text("table.then")}: ${shortCards(dealt)}`) : null;
}

function seatHeader(box, ...more) {
  const badges = [
    box.player !== undefined && element("span", { class: "badge" }, box.player),
    box.blind && element("span", { class: "badge" }, text("table.blind")),
    ...more,
  ];
  return element("header", {}, element("h3", {}, text("table.box", { box: box.box })), badges);
}

function openSeat(box, fresh) {
  const turn = box.inTurn && element("span", { class: "badge gold" }, text("table.turn"));
  const folded = box.folded && element("span", { class: "badge" }, text("table.folded"));
  const cards = box.cards.map(({ card, up }) => ({ card, up, mark: fresh.has(card) ? "new" : undefined }));
  const seen = box.cards.filter(({ up }) => up).map(({ card }) => card);
  const chips = box.stakes.map(([name, stake]) => element("li", {}, `${text(`bets.${name}`)} ${amount(stake)}`));
  const kind = `seat${box.inTurn ? " turn" : ""}${box.folded ? " out" : ""}`;
  return element(
    "section", { class: kind }, seatHeader(box, folded, turn), cardList(cards), seen.length >= 5 && handLine(seen),
    element("ul", { class: "chips" }, chips),
  );
}

function handLine(cards, odds) {
  const { main, second } = handOf(cards);
  return element("p", { class: "hand-name" }, handName(main, second), odds && element("small", {}, ` · ${odds}:1`));
}

/** A box at the end: what each stake was, what comes back, and why. */
function settledSeat(box, view, place) {
  const result = box.result && `${text(`results.${box.result}`)} ${signedAmount(box.net)}`;
  const wrong = marksUnder(`/boxes/${place}/hand`);
  const cards = view?.cards.map((card, i) => ({ ...card, mark: wrong.has(String(i)) ? "wrong" : undefined }));
  return element(
    "section", { class: `seat${view?.folded ? " out" : ""}` },
    seatHeader(box, result && element("span", { class: `badge result ${box.result}` }, result)),
    cards && cardList(cards), box.hand && handLine(box.hand, box.odds || null),
    claims(`/boxes/${place}`, /\/(bets|staked|returned|net)/), betList(box, place),
  );
}

/** Stake by stake: its name and net, then what was staked and came back, and the reason with its clause. */
function betList(box, place) {
  const heads = [`${text("table.stake")} → ${text("table.returned")}`, text("table.net")];
  const head = element("li", { class: "head", "aria-hidden": "true" }, heads.map((name) => element("span", {}, name)));
  const bets = box.bets.map((bet, i) => betItem(bet, `/boxes/${place}/bets/${i}`));
  const total = element("li", { class: "sum" }, figures(text("table.total"), box.staked, box, `/boxes/${place}`));
  return element("ul", { class: "bets" }, head, bets, total);
}

function betItem(bet, pointer) {
  const label = text("table.clause", { clause: bet.clause });
  const marks = { class: "clause", title: label, "aria-label": label, role: "note" };
  const clause = bet.clause && element("span", marks, bet.clause);
  const lines = figures(text(`bets.${bet.name}`), bet.stake, bet, pointer);
  const because = element("p", { class: "because" }, reasonText(bet), " ", clause);
  return element("li", {}, lines, because, claims(pointer, /\/(returned|net)$/));
}

function figures(name, stake, { returned, net }, pointer) {
  const shownNet = [spoken("net"), signedAmount(net), " ", claimAt(`${pointer}/net`)];
  const netCell = element("span", { class: `net ${signClass(net)}` }, shownNet);
  const amounts = [
    spoken("stake"), amount(stake), " → ", spoken("returned"), amount(returned), " ", claimAt(`${pointer}/returned`),
  ];
  const flow = element("div", { class: "flow" }, element("strong", {}, name), netCell);
  return [flow, element("p", { class: "amounts" }, amounts)];
}

/** A word for those who hear the page; the eye has the head of the list. */
function spoken(name) {
  return element("span", { class: "unseen" }, `, ${text(`table.${name}`)} `);
}

const signClass = (number) => (number > 0 ? "plus" : number < 0 ? "minus" : "");

function reasonText({ why, values }) {
  const hand = values.main && handName(values.main, values.second);
  return text(`reasons.${why}`, { ...values, hand, win: amount(values.win ?? 0), cap: amount(values.cap ?? 0) });
}

function sumsOf({ computed: { totals } }) {
  const sum = (name, shown, kind) => {
    const figure = element("strong", { class: kind }, shown);
    return element("span", {}, `${text(`table.${name}`)} `, figure, " ", claimAt(`/totals/${name}`));
  };
  return element(
    "p", { class: "sums" }, sum("staked", amount(totals.staked)), sum("returned", amount(totals.returned)),
    sum("net", signedAmount(totals.net), signClass(totals.net)),
  );
}

// ------------------------------------------------------------------------------------- differences on the felt

/** The members right under a pointer that have a difference. */
function marksUnder(pointer) {
  const under = state.report.differences.filter((one) => one.pointer.startsWith(`${pointer}/`));
  return new Set(under.map((one) => one.pointer.slice(pointer.length + 1).split("/")[0]));
}

const claimBadge = (words) => element("span", { class: "claim" }, words);
const claimText = ({ claimed }) => text("page.claims", { value: valueText(claimed) });

function claimAt(pointer) {
  const found = state.report.differences.find((one) => one.pointer === pointer);
  return found ? claimBadge(claimText(found)) : null;
}

/** What the outcome claims otherwise under a pointer, but for the places shown elsewhere. */
function claims(pointer, elsewhere = /^$/) {
  const below = (one) => one.pointer.slice(pointer.length);
  const isHere = (one) => one.pointer.startsWith(pointer) && !elsewhere.test(below(one));
  const found = state.report.differences.filter(isHere);
  const line = (one) => claimBadge(`${placeText(below(one) || pointer, null)} — ${claimText(one)}`);
  return found.length ? element("div", { class: "marks" }, found.slice(0, 12).map(line)) : null;
}
