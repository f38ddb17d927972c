/** The page: takes what the player gives, shows the verdict, the round and the checks. Nothing is fetched or sent. */

import { readRules } from "./rules.js";
import { captionOf, feltOf, shownSteps } from "./table.js";
import { fromBase64url, has, Problem, toBase64url, utf8 } from "./values.js";
import { verify } from "./verdict.js";
import {
  data, differenceText, element, findingText, hasText, otherSide, placeText, problemText, signedAmount, state, text,
  valueText,
} from "./words.js";

const MAX_FILE = 4 * 2 ** 20;
const byId = (id) => document.getElementById(id);

// -------------------------------------------------------------------------------------------------- the verdict

const SIGNS = { good: "✓", partial: "!", bad: "✕", computed: "=", void: "↺", unproven: "!", unreadable: "?" };
const BAD_CERTIFICATE = {
  key: "bad_signature", signature: "bad_signature", canonical: "bad_signature", payload: "bad_payload",
};

function showVerdict() {
  const { report, problem } = state;
  if (problem) putVerdict("unreadable", text("verdicts.unreadable"), [problemText(problem, null)]);
  else if (report) putVerdict(report.verdict, verdictTitle(report), verdictLines(report));
  else byId("verdict").replaceChildren();
}

function putVerdict(kind, title, lines) {
  const sign = element("span", { class: "sign", "aria-hidden": "true" }, element("b", {}, SIGNS[kind]));
  const body = lines.map((line) => (typeof line === "string" ? element("p", {}, line) : line));
  const shown = [sign, element("h2", {}, title), element("div", { class: "body" }, body)];
  byId("verdict").replaceChildren(element("div", { class: `verdict ${kind}` }, shown));
}

function verdictTitle({ verdict, fault, form, signed }) {
  if (verdict === "good") return text(signed === "key" ? "verdicts.good_signed" : "verdicts.good");
  if (verdict !== "bad") return text(`verdicts.${verdict}`);
  if (has(BAD_CERTIFICATE, fault.id)) return text(`verdicts.${BAD_CERTIFICATE[fault.id]}`);
  return text(form === "request" ? "verdicts.bad_request" : "verdicts.bad");
}

function verdictLines(report) {
  const { verdict, claimed, computed } = report;
  if (verdict === "bad") return badLines(report);
  if (verdict === "computed") return [text("sentences.request", { net: signedAmount(computed.totals.net) })];
  const sentence = verdict === "good" && claimed.deal.source === "deck" ? "good_deck" : verdict;
  return [text(`sentences.${sentence}`), ...report.checks.filter(({ code }) => hasText("notices", code)).map(notice)];
}

/** What does not make the outcome wrong, but must not be overlooked. */
function notice(one) {
  const title = element("strong", {}, text(`notices.${one.code}`));
  return element("div", { class: "notice" }, title, element("p", {}, findingText(one, null)));
}

function badLines({ fault, first, claimed }) {
  const lines = [findingText(fault, claimed)];
  if (!first) return lines;
  const side = (name) =>
    element("div", {}, element("span", {}, text(`page.${name}`)), element("strong", {}, valueText(first[name])));
  const sides = element("div", { class: "apart" }, side("claimed"), side(otherSide(first)));
  return [...lines, differenceText(first, claimed), sides, element("code", {}, first.pointer)];
}

// ------------------------------------------------------------------------------------------------- the checks

function showChecks() {
  const { report } = state;
  byId("checks").hidden = !report;
  byId("check-list").replaceChildren(...(report?.checks ?? []).map(checkItem));
  byId("difference-list").replaceChildren(...(report ? detailsOf(report) : []));
  if (report) showLink(report);
}

const MARKS = { ok: "✓", bad: "✕", note: "!", unknown: "?", said: "i" };

function checkItem(one) {
  const { claimed } = state.report;
  const label = text(`states.${one.state}`);
  const mark = element("span", { class: `mark ${one.state}`, role: "img", "aria-label": label }, MARKS[one.state]);
  const detail = one.difference ? ` ${differenceText(one.difference, claimed)}` : "";
  const message = element("p", {}, findingText(one, claimed) + detail);
  const body = element("div", {}, element("strong", {}, text(`checks.${one.id}`)), message);
  return element("li", { class: `is-${one.state}` }, mark, body);
}

/** What unfolds below the checks: all differences, and the computed outcome as JSON. */
function detailsOf(report) {
  const folded = (title, content) => element("details", {}, element("summary", {}, title), content);
  const { differences: found, expected } = report;
  return [
    found.length > 0 && folded(`${text("page.differences")} (${found.length})`, differenceTable(report)),
    expected && folded(text("page.document"), element("pre", { tabindex: 0 }, JSON.stringify(expected, null, 2))),
  ].filter(Boolean);
}

function differenceTable({ differences: found, claimed }) {
  const heads = ["place", "claimed", "computed"].map((name) => element("th", { scope: "col" }, text(`page.${name}`)));
  const rows = found.slice(0, 200).map((one) => {
    const place = [placeText(one.pointer, claimed), element("br"), element("code", {}, one.pointer)];
    const cells = [place, valueText(one.claimed), valueText(one.computed)];
    return element("tr", {}, cells.map((cell) => element("td", {}, cell)));
  });
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
  const caption = [element("p", { class: "count" }, count), element("h3", {}, title), element("p", {}, detail ?? "")];
  byId("caption").replaceChildren(...caption);
  byId("felt").replaceChildren(...feltOf(step, state.report));
  Object.assign(byId("step"), { max: steps.length, value: state.step + 1 });
  byId("step").setAttribute("aria-valuetext", `${count}: ${title}`);
  const idle = (id, there) => byId(id).setAttribute("aria-disabled", String(there)); // keeps the focus where it is
  for (const id of ["step-first", "step-back"]) idle(id, state.step === 0);
  for (const id of ["step-next", "step-last"]) idle(id, state.step === steps.length - 1);
}

function goTo(step) {
  state.step = step;
  showStep();
}

const KEYS = { ArrowLeft: () => state.step - 1, ArrowRight: () => state.step + 1, Home: () => 0, End: () => Infinity };

function onKey(event) {
  const inField = event.target.closest("textarea, input, summary, pre, .scroll");
  const isBusy = inField || event.altKey || event.ctrlKey || event.metaKey;
  const scrolls = ["Home", "End"].includes(event.key) && !event.target.closest("#round");
  if (isBusy || scrolls || !state.report || !has(KEYS, event.key)) return;
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

function refuse(code) {
  Object.assign(state, { report: null, problem: new Problem(code) });
  show();
}

async function takeFile(file) {
  if (!file) return;
  if (file.size > MAX_FILE) {
    refuse("file_too_large");
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
    refuse("link_broken");
    return;
  }
  byId("input").value = kind === "c" ? value : new TextDecoder().decode(bytes);
  await run();
}

/** A request of our own, with decisions added until the round is complete. */
async function showExample() {
  const [ruleset] = Object.keys(data.rulesets);
  const { boxes: seats, limits } = readRules(data.rulesets[ruleset]);
  const ante = Math.min(Math.max(100, limits.min_stake), limits.max_stake ?? Infinity);
  const boxes = [{ box: 1, ante }, { box: 2, ante, blind: seats.open !== "all" }].slice(0, seats.maximum);
  const request = { ruleset, deal: { server_seed: "0".repeat(64), client_seed: "", nonce: 4 }, boxes, actions: [] };
  byId("input").value = JSON.stringify(await withDecisions(request), null, 2);
  await run();
}

async function withDecisions(request) {
  const { checks } = await verify(JSON.stringify(request), { rulesets: data.rulesets });
  const missing = checks.find(({ code }) => code === "incomplete");
  if (!missing) return request;
  const { box, legal } = missing.values;
  const wanted = ["buy_game", "bet"].find((name) => legal.some(({ action }) => action === name));
  return withDecisions({ ...request, actions: [...request.actions, { box, action: wanted }] });
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
  const nodes = (name) => document.querySelectorAll(`[data-${name}]`);
  for (const node of nodes("text")) node.textContent = text(node.dataset.text);
  for (const node of nodes("label")) node.setAttribute("aria-label", text(node.dataset.label));
  for (const node of nodes("language")) node.setAttribute("aria-pressed", String(node.dataset.language === language));
  const known = text("page.known", { ids: Object.keys(data.rulesets).join(", ") });
  byId("ruleset-hint").textContent = `${text("page.ruleset_hint")} ${known}`;
  show();
}

function listen() {
  const onClick = {
    verify: run, example: showExample, clear, choose: () => byId("file").click(),
    "step-first": () => goTo(KEYS.Home()), "step-back": () => goTo(KEYS.ArrowLeft()),
    "step-next": () => goTo(KEYS.ArrowRight()), "step-last": () => goTo(KEYS.End()),
  };
  for (const [id, action] of Object.entries(onClick)) byId(id).addEventListener("click", action);
  byId("step").addEventListener("input", (event) => goTo(Number(event.target.value) - 1));
  byId("file").addEventListener("change", (event) => takeFile(event.target.files[0]));
  byId("input").addEventListener("paste", () => setTimeout(run));
  for (const node of document.querySelectorAll("[data-language]")) {
    node.addEventListener("click", () => showLanguage(node.dataset.language));
  }
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

byId("docs").hidden = location.protocol === "file:"; // a saved copy has no service beside it
listen();
showLanguage(state.language);
takeFragment();
