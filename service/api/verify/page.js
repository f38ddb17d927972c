/**
 * What the player sees of the verifier. Follows verifier.js in one and the same module script and uses its
 * exports by name. Data reach the page as text nodes only; nothing is fetched, stored or sent.
 */

const data = JSON.parse(document.getElementById("data").textContent);
const state = { language: navigator.language.startsWith("ru") ? "ru" : "en", report: null, step: 0, run: 0 };
const MAX_FILE = 4 * 2 ** 20;
const byId = (id) => document.getElementById(id);

// ---------------------------------------------------------------------------------------------------- words

const texts = () => data.texts[state.language];
const fill = (template, values = {}) => template.replace(/\{(\w+)\}/g, (all, name) => (has(values, name) ? String(values[name]) : all));
const text = (path, values) => fill(path.split(".").reduce((inner, name) => inner?.[name], texts()) ?? path, values);
const amount = (number) => new Intl.NumberFormat(state.language).format(number);
const signedAmount = (number) => (number > 0 ? `+${amount(number)}` : amount(number).replace("-", "−"));

const SUIT_SIGNS = { c: "♣\uFE0E", d: "♦\uFE0E", h: "♥\uFE0E", s: "♠\uFE0E" };
const rankText = (code) => (code[0] === "T" ? "10" : code[0]);
const shortCard = (code) => rankText(code) + SUIT_SIGNS[code[1]];
const shortCards = (list) => list.map(shortCard).join(" ");
const cardName = (code) => `${text(`ranks.${code[0]}`)} ${text(`suits.${code[1]}`)}`;
const handName = (main, second) => [main, second].filter(Boolean).map((kind) => text(`kinds.${kind}`)).join(" + ");

const capital = (words) => words.charAt(0).toUpperCase() + words.slice(1);

function legalText(legal) {
  return legal.map(({ action, min, max }) => text(`actions.${action}`) + (min ? ` (${amount(min)}–${amount(max)})` : "")).join(", ");
}

/** A value of an outcome in words. */
function valueText(value) {
  if (value === undefined) return text("values.absent");
  if (value === null || typeof value === "boolean") return text(`values.${value}`);
  if (typeof value === "number") return amount(value);
  if (typeof value === "object") return JSON.stringify(value);
  if (cardNumber(value) >= 0) return shortCard(value);
  const words = ["kinds", "bets", "results", "actions"].find((group) => has(texts()[group], value));
  return words ? text(`${words}.${value}`) : value || "“”";
}

/** A JSON pointer into an outcome in words: "box 2, stake bet, returned". */
function placeText(pointer, document) {
  let inner = document;
  const words = [];
  for (const name of pointer.slice(1).split("/")) {
    const previous = words.at(-1);
    inner = inner?.[name];
    if (/^\d+$/.test(name) && previous) words[words.length - 1] = `${previous} ${elementName(inner, name)}`;
    else words.push(has(texts().places, name) ? text(`places.${name}`) : name);
  }
  return words.join(" › ");
}

function elementName(element, place) {
  if (element && typeof element.box === "number" && Array.isArray(element.bets)) return element.box;
  if (element && has(texts().bets, element.name)) return text(`bets.${element.name}`);
  return Number(place) + 1;
}

function problemText({ code, pointer, values }, document) {
  const group = has(texts().problems, code) ? "problems" : "messages";
  const shown = Object.fromEntries(Object.entries(values).map(([name, value]) => [name, typeof value === "number" ? amount(value) : value]));
  if (values.legal) shown.legal = legalText(values.legal);
  if (values.index !== undefined) shown.number = values.index + 1;
  const message = text(`${group}.${code}`, shown);
  return pointer ? `${capital(placeText(pointer, document))}: ${message}` : message;
}

function differenceText({ pointer, claimed, computed }, document) {
  return text("sentences.bad", { place: capital(placeText(pointer, document)), claimed: valueText(claimed), computed: valueText(computed) });
}

// ------------------------------------------------------------------------------------------------- elements

/** An element with attributes and children; strings become text nodes. */
function element(tag, attributes = {}, ...children) {
  return furnish(document.createElement(tag), attributes, children);
}

function drawing(tag, attributes = {}, ...children) {
  return furnish(document.createElementNS("http://www.w3.org/2000/svg", tag), attributes, children);
}

function furnish(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) if (value !== undefined && value !== false) node.setAttribute(name, value);
  node.append(...children.flat().filter((child) => child !== null && child !== undefined && child !== false));
  return node;
}

// ---------------------------------------------------------------------------------------------------- cards

const PIPS = {
  h: "M12 21.5C5 15.5 2 12 2 8 2 5 4.2 3 6.8 3 9 3 11 4.3 12 6.6 13 4.3 15 3 17.2 3 19.8 3 22 5 22 8 22 12 19 15.5 12 21.5Z",
  d: "M12 1.2C14 5.8 16.7 9 20 12 16.7 15 14 18.2 12 22.8 10 18.2 7.3 15 4 12 7.3 9 10 5.8 12 1.2Z",
  s: "M12 1.5C16 6.5 22 9.5 22 14.2 22 17 20 18.8 17.6 18.8 15.8 18.8 14.2 17.9 13.1 16.4 13.3 19 14.3 21 16 22.5H8C9.7 21 10.7 19 10.9 16.4 9.8 17.9 8.2 18.8 6.4 18.8 4 18.8 2 17 2 14.2 2 9.5 8 6.5 12 1.5Z",
  c: "M12 1.6a5 5 0 0 1 4 8 5 5 0 1 1-2.9 8.2c.2 2 1.3 3.6 2.9 4.7H8c1.6-1.1 2.7-2.7 2.9-4.7A5 5 0 1 1 8 9.6a5 5 0 0 1 4-8Z",
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
  const clip = drawing("svg", { x: 6, y: 6, width: 48, height: 72, viewBox: "6 6 48 72" }, drawing("path", { class: "hatch", d: HATCH }));
  return [drawing("rect", { class: "back", x: 6, y: 6, width: 48, height: 72, rx: 4 }), clip];
}

function cardList(cards, kind) {
  const items = cards.map(({ card, up = true, mark = "" }) => element("li", { class: mark || undefined }, cardPicture(card, up)));
  return element("ul", { class: `cards ${kind}` }, items);
}

// ---------------------------------------------------------------------------------------------------- steps

/** The steps to show: seeds and shuffle (or a named deck), then those of the round. */
function shownSteps(report) {
  const { shuffle, steps } = report;
  if (report.claimed?.status === "void") return [{ kind: "void" }];
  if (!shuffle) return steps;
  return [...(shuffle.draws ? [{ kind: "seeds" }, { kind: "shuffle" }] : [{ kind: "deck" }]), ...steps];
}

function captionOf(step, report) {
  if (step.kind === "action") return actionCaption(step);
  if (step.kind === "dealer_draw") return [text("steps.dealer_draw", { discarded: shortCard(step.discarded), drawn: shortCard(step.drawn) })];
  const used = report.steps.at(-1)?.view.used ?? 0;
  const withheld = step.kind === "deck" && report.shuffle.deck.length < 52;
  const detail = {
    seeds: () => text("steps.seeds_text"),
    shuffle: () => text("steps.shuffle_text", { used }),
    deck: () => text(withheld ? "steps.deck_withheld_text" : "steps.deck_text", { used }),
    deal: () => text("steps.deal_text"),
    show: () => dealerSentence(step.view.dealer),
    settle: () => settlementSentence(report.computed),
    void: () => text("sentences.void"),
  }[step.kind];
  return [text(`steps.${step.kind}`), detail()];
}

function actionCaption({ action, drawn }) {
  const values = { box: action.box, amount: amount(action.amount ?? 0), cards: shortCards(action.discard ?? []), drawn: shortCards(drawn) };
  return [text(`steps.${action.action}`, values)];
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
  const two = state.report.document?.bet.combinations.value === 2;
  return { main, second: two ? second : null };
}

// ---------------------------------------------------------------------------------------------------- felt

function feltOf(step, report) {
  if (step.kind === "seeds") return [seedFacts(report)];
  if (step.kind === "shuffle") return [deckPicture(report), drawsTable(report.shuffle)];
  if (step.kind === "deck") return [deckPicture(report)];
  if (step.kind === "void") return [element("div", { class: "seats" }, report.claimed.boxes.map((box, place) => settledSeat(box, box, place, [])))];
  return tableOf(step, report);
}

function seedFacts({ shuffle, seeds }) {
  const facts = [
    ["commitment", shuffle.commitment], ["server_seed", seeds.serverSeed],
    ["client_seed", seeds.clientSeed || text("table.empty")], ["nonce", seeds.nonce],
  ];
  const items = facts.flatMap(([name, value]) => [element("dt", {}, text(`table.${name}`)), element("dd", {}, element("code", {}, String(value)))]);
  return element("dl", { class: "facts" }, items);
}

function deckPicture({ shuffle, steps }) {
  const used = steps.at(-1)?.view.used ?? shuffle.deck.length;
  const places = marksUnder("/deal/deck");
  const cards = shuffle.deck.map((card, place) => ({ card, mark: places.has(String(place)) ? "wrong" : place < used ? "" : "unused" }));
  return cardList(cards, "deck");
}

function drawsTable({ deck, draws }) {
  const heads = ["draw_place", "draw_rejected", "draw_byte", "draw_swap", "draw_card"].map((name) => element("th", { scope: "col" }, text(`table.${name}`)));
  const rows = draws.map(({ i, rejected, byte, j }) =>
    element("tr", {}, [i, rejected.join(", ") || "–", byte, j, shortCard(deck[i])].map((cell) => element("td", {}, String(cell)))),
  );
  const table = element("table", {}, element("thead", {}, element("tr", {}, heads)), element("tbody", {}, rows));
  return element("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": text("page.draws") }, table);
}

/** The table at a step: the dealer, then the boxes in seating order. */
function tableOf(step, report) {
  const settledBoxes = step.kind === "settle" ? report.computed.boxes : null;
  const fresh = new Set(step.kind === "dealer_draw" ? [step.drawn] : step.drawn ?? []);
  const seats = step.view.boxes.map((box, place) =>
    settledBoxes ? settledSeat(settledBoxes[place], box, place, box.cards) : openSeat(box, fresh),
  );
  return [dealerSeat(step, fresh), element("div", { class: "seats" }, seats), settledBoxes && sumsOf(report)].filter(Boolean);
}

function dealerSeat({ view, kind }, fresh) {
  const settled = kind === "settle";
  const wrong = settled ? marksUnder("/dealer/final") : new Set();
  const cards = view.dealer.map((card, place) => ({ ...card, mark: wrong.has(String(place)) ? "wrong" : fresh.has(card.card) ? "new" : "" }));
  const name = view.shown && handLine(cards.map(({ card }) => card), null);
  const header = element("header", {}, element("h3", {}, text("table.dealer")));
  return element("section", { class: "seat dealer" }, header, cardList(cards, "five"), name, settled && firstShown(), settled && claims("/dealer"));
}

/** What the dealer showed before he replaced a card: the boxes that took their ante were settled on it. */
function firstShown() {
  const { dealt, draws } = state.report.computed.dealer;
  return draws.length ? element("p", { class: "because" }, `${text("table.then")}: ${shortCards(dealt)}`) : null;
}

function seatHeader(box, extra) {
  const badges = [
    box.player !== undefined && element("span", { class: "badge" }, box.player),
    box.blind && element("span", { class: "badge" }, text("table.blind")),
    extra,
  ];
  return element("header", {}, element("h3", {}, text("table.box", { box: box.box })), badges);
}

function openSeat(box, fresh) {
  const badge = box.folded
    ? element("span", { class: "badge" }, text("table.folded"))
    : box.inTurn && element("span", { class: "badge gold" }, text("table.turn"));
  const cards = box.cards.map((card) => ({ ...card, mark: fresh.has(card.card) ? "new" : "" }));
  const seen = box.cards.filter(({ up }) => up).map(({ card }) => card);
  const chips = box.stakes.map(([name, stake]) => element("li", {}, `${text(`bets.${name}`)} ${amount(stake)}`));
  const kind = `seat${box.inTurn ? " turn" : ""}${box.folded ? " out" : ""}`;
  return element("section", { class: kind }, seatHeader(box, badge), cardList(cards, ""), seen.length >= 5 && handLine(seen, null), element("ul", { class: "chips" }, chips));
}

function handLine(cards, odds) {
  const { main, second } = handOf(cards);
  const detail = odds ? element("small", {}, ` · ${odds}:1`) : null;
  return element("p", { class: "hand-name" }, handName(main, second), detail);
}

/** A box at the end: what each stake was, what comes back, and why. */
function settledSeat(box, view, place, cards) {
  const result = box.result && element("span", { class: `badge result ${box.result}` }, `${text(`results.${box.result}`)} ${signedAmount(box.net)}`);
  const wrong = marksUnder(`/boxes/${place}/hand`);
  const marked = cards.map((card, i) => ({ ...card, mark: wrong.has(String(i)) ? "wrong" : "" }));
  return element(
    "section", { class: `seat${view.folded ? " out" : ""}` }, seatHeader(box, result || null), cards.length > 0 && cardList(marked, ""),
    cards.length > 0 && handLine(box.hand, box.odds), claims(`/boxes/${place}`, /\/(bets|staked|returned|net)/), betList(box, place),
  );
}

/** Stake by stake: its name and net, then what was staked and came back, and the reason with its clause. */
function betList(box, place) {
  const head = element("li", { class: "head", "aria-hidden": "true" }, element("span", {}, `${text("table.stake")} → ${text("table.returned")}`), element("span", {}, text("table.net")));
  const bets = box.bets.map((bet, i) => betItem(bet, `/boxes/${place}/bets/${i}`));
  const total = element("li", { class: "sum" }, figures(text("table.total"), box.staked, box, `/boxes/${place}`));
  return element("ul", { class: "bets" }, head, bets, total);
}

function betItem(bet, pointer) {
  const why = bet.why ? reasonText(bet) : bet.reason ?? "";
  const label = text("table.clause", { clause: bet.clause });
  const clause = bet.clause && element("span", { class: "clause", title: label, "aria-label": label, role: "note" }, bet.clause);
  const lines = figures(text(`bets.${bet.name}`), bet.stake, bet, pointer);
  return element("li", {}, lines, element("p", { class: "because" }, why, " ", clause), claims(pointer, /\/(returned|net)$/));
}

function figures(name, stake, { returned, net }, pointer) {
  const netCell = element("span", { class: `net ${signClass(net)}` }, spoken("net"), signedAmount(net), " ", claimAt(`${pointer}/net`));
  const amounts = element("p", { class: "amounts" }, spoken("stake"), amount(stake), " → ", spoken("returned"), amount(returned), " ", claimAt(`${pointer}/returned`));
  return [element("div", { class: "flow" }, element("strong", {}, name), netCell), amounts];
}

/** A word for those who hear the page; the eye has the head of the list. */
function spoken(name) {
  return element("span", { class: "unseen" }, `, ${text(`table.${name}`)} `);
}

const signClass = (number) => (number > 0 ? "plus" : number < 0 ? "minus" : "");

function reasonText({ why, values }) {
  const hand = values.main && handName(values.main, values.second);
  const shown = { ...values, hand, win: amount(values.win ?? 0), cap: amount(values.cap ?? 0) };
  return text(`reasons.${why}`, shown);
}

function sumsOf({ computed }) {
  const { staked, returned, net } = computed.totals;
  const sum = (name, shown, kind = "") => element("span", {}, `${text(`table.${name}`)} `, element("strong", { class: kind }, shown), " ", claimAt(`/totals/${name}`));
  return element("p", { class: "sums" }, sum("staked", amount(staked)), sum("returned", amount(returned)), sum("net", signedAmount(net), signClass(net)));
}

// ------------------------------------------------------------------------------------- differences in the table

/** The members right under a pointer that have a difference. */
function marksUnder(pointer) {
  const under = state.report.differences.filter((one) => one.pointer.startsWith(`${pointer}/`));
  return new Set(under.map((one) => one.pointer.slice(pointer.length + 1).split("/")[0]));
}

function claimAt(pointer) {
  const found = state.report.differences.find((one) => one.pointer === pointer);
  return found ? element("span", { class: "claim" }, text("page.claims", { value: valueText(found.claimed) })) : null;
}

/** What the outcome claims otherwise under a pointer, but for the places shown elsewhere. */
function claims(pointer, elsewhere = /^$/) {
  const found = state.report.differences.filter((one) => one.pointer.startsWith(pointer) && !elsewhere.test(one.pointer.slice(pointer.length)));
  const lines = found.slice(0, 12).map((one) => element("span", { class: "claim" }, claimLine(one, pointer)));
  return lines.length ? element("div", { class: "marks" }, lines) : null;
}

function claimLine({ pointer, claimed }, above) {
  const place = placeText(pointer.slice(above.length) || pointer, null);
  return `${place} — ${text("page.claims", { value: valueText(claimed) })}`;
}

// -------------------------------------------------------------------------------------------- verdict and checks

const SIGNS = { good: "✓", partial: "!", bad: "✕", computed: "=", void: "↺", unreadable: "?" };
const ABOUT_SIGNATURE = new Set(["key", "signature", "canonical", "payload"]);

function showVerdict() {
  const { report, problem } = state;
  if (problem) return putVerdict("unreadable", text("verdicts.unreadable"), [problemText(problem, null)]);
  if (!report) return byId("verdict").replaceChildren();
  return putVerdict(report.verdict, verdictTitle(report), verdictLines(report));
}

function putVerdict(kind, title, lines) {
  const sign = element("span", { class: "sign", "aria-hidden": "true" }, element("b", {}, SIGNS[kind]));
  const body = lines.map((line) => (typeof line === "string" ? element("p", {}, line) : line));
  byId("verdict").replaceChildren(element("div", { class: `verdict ${kind}` }, sign, element("h2", {}, title), element("div", { class: "body" }, body)));
}

function verdictTitle({ verdict, fault, form }) {
  if (verdict !== "bad") return text(`verdicts.${verdict}`);
  if (ABOUT_SIGNATURE.has(fault.id)) return text("verdicts.bad_signature");
  return text(form === "request" ? "verdicts.bad_request" : "verdicts.bad");
}

function verdictLines(report) {
  const { verdict, claimed, computed } = report;
  if (verdict === "bad") return badLines(report);
  if (verdict === "computed") return [text("sentences.computed", { net: signedAmount(computed.totals.net) })];
  const notes = report.checks.filter(({ state: found }) => found === "note" || found === "unknown").map(checkMessage);
  const source = verdict === "good" && claimed.deal.source === "deck" ? "good_deck" : verdict;
  return [text(`sentences.${source}`), ...notes];
}

function badLines({ fault, first, claimed }) {
  const lines = [checkMessage(fault)];
  if (!first) return lines;
  lines.push(differenceText(first, claimed));
  const side = (name) => element("div", {}, element("span", {}, text(`page.${name}`)), element("strong", {}, valueText(first[name])));
  return [...lines, element("div", { class: "apart" }, side("claimed"), side("computed")), element("code", {}, first.pointer)];
}

function checkMessage(one) {
  if (has(texts().messages, one.code)) return text(`messages.${one.code}`, one.values);
  return problemText({ code: one.code, pointer: one.pointer ?? "", values: one.values }, state.report.claimed);
}

function showChecks() {
  const { report } = state;
  byId("checks").hidden = !report;
  byId("check-list").replaceChildren(...(report?.checks ?? []).map(checkItem));
  byId("difference-list").replaceChildren(...(report ? detailsOf(report) : []));
  if (report) showLink(report);
}

const MARKS = { ok: "✓", bad: "✕", note: "!", unknown: "?" };

function checkItem(one) {
  const mark = element("span", { class: `mark ${one.state}`, role: "img", "aria-label": text(`states.${one.state}`) }, MARKS[one.state]);
  const detail = one.difference ? ` ${differenceText(one.difference, state.report.claimed)}` : "";
  const body = element("div", {}, element("strong", {}, text(`checks.${one.id}`)), element("p", {}, checkMessage(one) + detail));
  return element("li", { class: `is-${one.state}` }, mark, body);
}

/** What unfolds below the checks: all differences, and the computed outcome as JSON. */
function detailsOf(report) {
  const folded = (title, content) => element("details", {}, element("summary", {}, title), content);
  const { differences: found, computed, requestDigest } = report;
  const document = computed && JSON.stringify(asDocument({ outcome: computed, requestDigest }), null, 2);
  return [
    found.length > 0 && folded(`${text("page.differences")} (${found.length})`, differenceTable(report)),
    document && folded(text("page.document"), element("pre", { tabindex: 0 }, document)),
  ].filter(Boolean);
}

function differenceTable({ differences: found, claimed }) {
  const heads = ["place", "claimed", "computed"].map((name) => element("th", { scope: "col" }, text(`page.${name}`)));
  const rows = found.slice(0, 200).map((one) =>
    element("tr", {}, element("td", {}, placeText(one.pointer, claimed), element("br"), element("code", {}, one.pointer)), element("td", {}, valueText(one.claimed)), element("td", {}, valueText(one.computed))),
  );
  return element("table", {}, element("thead", {}, element("tr", {}, heads)), element("tbody", {}, rows));
}

/** A link that carries the outcome or certificate in its fragment, which browsers do not send. */
function showLink({ certificate, claimed }) {
  const link = byId("link");
  link.hidden = !certificate && !claimed;
  if (certificate) link.href = `#c=${certificate}`;
  else if (claimed) link.href = `#o=${toBase64url(utf8(JSON.stringify(claimed)))}`;
}

// ------------------------------------------------------------------------------------------------ the stepper

function showStep() {
  const steps = state.report ? shownSteps(state.report) : [];
  byId("round").hidden = steps.length === 0;
  if (steps.length === 0) return;
  state.step = Math.max(0, Math.min(state.step, steps.length - 1));
  const step = steps[state.step];
  const [title, detail] = captionOf(step, state.report);
  const count = text("page.step_of", { step: state.step + 1, count: steps.length });
  byId("caption").replaceChildren(element("p", { class: "count" }, count), element("h3", {}, title), detail ? element("p", {}, detail) : "");
  byId("felt").replaceChildren(...feltOf(step, state.report));
  const [range, last] = [byId("step"), state.step === steps.length - 1];
  Object.assign(range, { max: steps.length, value: state.step + 1 });
  range.setAttribute("aria-valuetext", `${count}: ${title}`);
  const idle = (id, there) => byId(id).setAttribute("aria-disabled", String(there)); // keeps the focus where it is
  for (const id of ["step-first", "step-back"]) idle(id, state.step === 0);
  for (const id of ["step-next", "step-last"]) idle(id, last);
}

function goTo(step) {
  state.step = step;
  showStep();
}

const KEYS = { ArrowLeft: () => state.step - 1, ArrowRight: () => state.step + 1, Home: () => 0, End: () => Infinity };

function onKey(event) {
  const busy = event.target.closest("textarea, input, summary, pre, .scroll") || event.altKey || event.ctrlKey || event.metaKey;
  const scrolls = ["Home", "End"].includes(event.key) && !event.target.closest("#round");
  if (busy || scrolls || !state.report || !has(KEYS, event.key)) return;
  event.preventDefault();
  goTo(KEYS[event.key]());
}

// ------------------------------------------------------------------------------------------------- what is given

/** Optional documents that were pasted beside the outcome. */
function pastedDocument(id) {
  const pasted = byId(id).value.trim();
  if (!pasted) return undefined;
  try {
    return JSON.parse(pasted);
  } catch (error) {
    throw new Problem(`${id}_not_json`, "", { detail: error.message });
  }
}

function givenOptions() {
  return {
    rulesets: data.rulesets, subtle: globalThis.crypto?.subtle, serverSeed: byId("seed").value.trim() || undefined,
    ruleset: pastedDocument("ruleset"), jwks: pastedDocument("jwks") ?? data.jwks,
  };
}

/** Verify what stands in the field and show it. The last call wins. */
async function run() {
  state.run += 1;
  const mine = state.run;
  const found = await outcomeOfRun().catch((problem) => ({ problem: asProblem(problem) }));
  if (mine !== state.run) return;
  Object.assign(state, { report: null, problem: null }, found, { step: Infinity });
  show();
  byId("verdict").scrollIntoView({ block: "nearest" });
}

async function outcomeOfRun() {
  return { report: await verify(byId("input").value, givenOptions()) };
}

function asProblem(problem) {
  return problem instanceof Problem ? problem : new Problem("unexpected", "", { detail: problem.message });
}

async function takeFile(file) {
  if (!file) return;
  if (file.size > MAX_FILE) {
    Object.assign(state, { report: null, problem: new Problem("file_too_large") });
    show();
    return;
  }
  byId("input").value = await file.text();
  await run();
}

/** `#c=` carries a certificate, `#o=` an outcome in base64url. */
async function takeFragment() {
  const [, kind, value] = /^#([co])=(.*)$/.exec(location.hash) ?? [];
  if (!kind) return;
  const bytes = kind === "o" ? fromBase64url(value) : null;
  if (kind === "o" && !bytes) {
    Object.assign(state, { report: null, problem: new Problem("link_broken") });
    show();
    return;
  }
  byId("input").value = kind === "c" ? value : new TextDecoder().decode(bytes);
  await run();
}

/** A request of our own, with decisions added until the round is complete. */
async function showExample() {
  const request = {
    ruleset: Object.keys(data.rulesets)[0], deal: { server_seed: "0".repeat(64), client_seed: "", nonce: 4 },
    boxes: [{ box: 1, ante: 100 }, { box: 2, ante: 200 }], actions: [],
  };
  const rules = readRules(data.rulesets[request.ruleset]);
  if (rules.boxes.open !== "all") request.boxes[1].blind = true;
  byId("input").value = JSON.stringify(await completed(request), null, 2);
  await run();
}

async function completed(request) {
  const { checks } = await verify(JSON.stringify(request), { rulesets: data.rulesets });
  const missing = checks.find(({ code }) => code === "incomplete");
  if (!missing) return request;
  const { box, legal } = missing.values;
  const wanted = ["buy_game", "bet"].find((name) => legal.some(({ action }) => action === name));
  return completed({ ...request, actions: [...request.actions, { box, action: wanted }] });
}

function clear() {
  for (const id of ["input", "seed", "ruleset", "jwks", "file"]) byId(id).value = "";
  Object.assign(state, { report: null, problem: null });
  show();
  byId("input").focus();
}

// ----------------------------------------------------------------------------------------------------- the page

function show() {
  showVerdict();
  showStep();
  showChecks();
}

function showLanguage(language) {
  state.language = language;
  document.documentElement.lang = language;
  document.title = text("page.title");
  for (const node of document.querySelectorAll("[data-text]")) node.textContent = text(node.dataset.text);
  for (const node of document.querySelectorAll("[data-label]")) node.setAttribute("aria-label", text(node.dataset.label));
  for (const node of document.querySelectorAll("[data-language]")) node.setAttribute("aria-pressed", String(node.dataset.language === language));
  byId("ruleset-hint").textContent = `${text("page.ruleset_hint")} ${text("page.known", { ids: Object.keys(data.rulesets).join(", ") })}`;
  show();
}

function listen() {
  const onClick = { verify: run, example: showExample, clear, choose: () => byId("file").click() };
  for (const [id, action] of Object.entries(onClick)) byId(id).addEventListener("click", action);
  for (const key of ["first", "back", "next", "last"]) {
    const name = { first: "Home", back: "ArrowLeft", next: "ArrowRight", last: "End" }[key];
    byId(`step-${key}`).addEventListener("click", () => goTo(KEYS[name]()));
  }
  byId("step").addEventListener("input", (event) => goTo(Number(event.target.value) - 1));
  byId("file").addEventListener("change", (event) => takeFile(event.target.files[0]));
  byId("input").addEventListener("paste", () => setTimeout(run));
  for (const node of document.querySelectorAll("[data-language]")) node.addEventListener("click", () => showLanguage(node.dataset.language));
  document.addEventListener("keydown", onKey);
  window.addEventListener("hashchange", takeFragment);
  listenForDrops();
}

/** A file dropped anywhere is read; dropped text is left to the field. */
function listenForDrops() {
  const mark = (on) => document.body.classList.toggle("dropping", on);
  const onFiles = (name, action) =>
    document.addEventListener(name, (event) => {
      if (!event.dataTransfer.types.includes("Files")) return;
      event.preventDefault();
      action(event);
    });
  onFiles("dragover", () => mark(true));
  onFiles("dragleave", () => mark(false));
  onFiles("drop", (event) => {
    mark(false);
    takeFile(event.dataTransfer.files[0]);
  });
}

listen();
showLanguage(state.language);
takeFragment();
