/** The verdict on whatever somebody pastes: what it is, what was checked, and what to tell first. */

import { checkSignature, readCertificate } from "./crypto.js";
import { checkedSeed, completed, dealDocument, recompute, roundOfOutcome, roundOfRequest } from "./outcome.js";
import { rulesetDigest } from "./rules.js";
import { Problem, differences, finding, has, isObject, need } from "./values.js";

// --------------------------------------------------------------------------------------- reading what was given

const JWS = /^[A-Za-z0-9_-]+\.[A-Za-z0-9_-]*(\.[A-Za-z0-9_-]*)?$/;

/**
 * Make out what somebody pasted: an outcome, a certificate, a request to settle or void, a request with its
 * outcome, or an answer of the service around one of them.
 *
 * @returns {{form: string, outcome?: object, request?: object, certificate?: string, serverSeed?: string}}
 * @throws {Problem} in words for a person
 */
function readInput(text) {
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
  if (isObject(document.outcome)) return { ...readDocument(document.outcome), ...givenBeside(document) };
  if (typeof document.status === "string" && isObject(document.ruleset)) return readOutcome(document);
  if (typeof document.ruleset === "string") return { form: "request", request: document };
  const { certificate } = document;
  if (typeof certificate === "string") return { ...readInput(certificate), ...givenBeside(document) };
  return refuseDocument(document);
}

/** What a body for the service's own verification has beside the outcome or the certificate. */
function givenBeside({ request, server_seed: serverSeed }) {
  return { ...(isObject(request) && { request }), ...(serverSeed !== undefined && { serverSeed }) };
}

function readOutcome(document) {
  const { certificate, ...outcome } = document;
  need(certificate === undefined || typeof certificate === "string", "shape", "/certificate", { expected: "text" });
  return { form: "outcome", outcome, ...(certificate !== undefined && { certificate: certificate.trim() }) };
}

function refuseDocument(document) {
  if (typeof document.type === "string" && Number.isInteger(document.status)) {
    throw new Problem("is_problem", "", { title: document.title ?? document.type });
  }
  if (Array.isArray(document.keys)) throw new Problem("is_jwks");
  if (isObject(document.boxes) && isObject(document.bet)) throw new Problem("is_ruleset");
  throw new Problem("neither", "", { members: Object.keys(document).slice(0, 8).join(", ") });
}

// ------------------------------------------------------------------------------------------------- the verdict

/**
 * Check everything about what somebody pasted.
 *
 * @param {string} text an outcome, certificate, request, or an answer of the service
 * @param {object} options `rulesets` (published documents by id), `jwks`, `serverSeed` and `ruleset` (a pasted
 *   document), each optional, and `subtle` (Web Crypto, where there is one)
 * @returns {Promise<object>} `verdict` and `signed` (see `conclude`), `checks`, `differences`, `first` and `fault`
 *   (what to tell first), `claimed`, `computed`, `expected` (the whole outcome), `steps`, `shuffle`, `ruleset`
 * @throws {Problem} if nothing can be made of the input
 */
export async function verify(text, options) {
  const given = readInput(text);
  const { form, certificate } = given;
  const report = { form, certificate, checks: [], differences: [], steps: [], shuffle: null, computed: null };
  if (certificate !== undefined) await checkCertificate(given, options, report);
  else if (given.outcome) report.checks.push(finding("signature", "note", "unsigned"));
  report.claimed = given.outcome ?? null;
  report.isVoid = given.outcome ? given.outcome.status === "void" : has(given.request, "reason");
  checkRound(given, { ...options, serverSeed: options.serverSeed ?? given.serverSeed }, report);
  return conclude(report);
}

async function checkCertificate(given, options, report) {
  const certificate = readCertificate(given.certificate);
  report.checks.push(...(await checkSignature(certificate, options.jwks, options.subtle)));
  report.checks.push(
    certificate.canonical ? finding("canonical", "ok", "canonical") : finding("canonical", "bad", "not_canonical"),
  );
  if (given.outcome) report.checks.push(payloadFinding(given.outcome, certificate.payload));
  else given.outcome = certificate.payload;
}

/** An outcome beside a certificate has to be the very one that was signed. */
function payloadFinding(outcome, payload) {
  const [first] = differences(payload, outcome);
  if (!first) return finding("payload", "ok", "payload_same");
  const { pointer, claimed: signed, computed: claimed } = first;
  return finding("payload", "bad", "payload_differs", {}, { difference: { pointer, claimed, signed } });
}

function checkRound(given, options, report) {
  const { request, outcome } = given;
  try {
    need(!outcome || ["settled", "void"].includes(outcome.status), "status", "/status");
    report.ruleset = findRuleset(given, options, report);
    const seed = enteredSeed(given, options, report);
    const reason = report.isVoid ? (outcome ?? request).reason ?? "" : undefined;
    report.round = request ? roundOfRequest(request, seed, reason) : roundOfOutcome(outcome, seed, reason);
    const computed = recompute(report.ruleset, report.round);
    const { outcome: own, steps, shuffle, requestDigest } = computed;
    Object.assign(report, { computed: own, expected: completed(computed, outcome), steps, shuffle, requestDigest });
    checkRequestedCommitment(given, report);
    if (outcome) compare(outcome, report);
  } catch (problem) {
    if (!(problem instanceof Problem)) throw problem;
    Object.assign(report, { steps: problem.steps ?? [], shuffle: problem.shuffle ?? null });
    if (outcome && problem.shuffle) reportDifferences(dealDifferences(outcome, report), report);
    const { code, pointer, values } = problem;
    report.checks.push(finding(pointer.startsWith("/actions") ? "actions" : "round", "bad", code, values, { pointer }));
  }
}

/** The ruleset document that the round was played by: the pasted one if it is that one, else the embedded one. */
function findRuleset({ request, outcome }, { rulesets = {}, ruleset }, report) {
  const id = request ? request.ruleset : outcome.ruleset?.id;
  const isPasted = ruleset?.id === id;
  const document = isPasted ? ruleset : has(rulesets, id) && rulesets[id];
  need(document, "ruleset_unknown", "/ruleset", { id: String(id), known: Object.keys(rulesets).join(", ") });
  const digest = rulesetDigest(document);
  const claimed = outcome ? outcome.ruleset?.digest : digest;
  const found = (state, code) => report.checks.push(finding("ruleset", state, code, { id, digest }));
  if ((document.digest ?? digest) !== digest) found("bad", "ruleset_inconsistent");
  else if (claimed !== digest) found("bad", isPasted ? "ruleset_differs_pasted" : "ruleset_differs");
  else if (!outcome) found("ok", "ruleset_digest");
  else found("ok", isPasted ? "ruleset_pasted" : "ruleset_same");
  return document;
}

/** The server seed that was entered beside the outcome, for one that does not reveal it. */
function enteredSeed({ request, outcome }, { serverSeed }, report) {
  if (serverSeed === undefined) return undefined;
  const seed = checkedSeed(serverSeed, "/server_seed");
  const own = (outcome ?? request).deal?.server_seed;
  const isOther = own !== undefined && String(own).toLowerCase() !== seed;
  if (isOther) report.checks.push(finding("commitment", "bad", "other_seed"));
  return seed;
}

/** A commitment in a request is checked (R5). */
function checkRequestedCommitment({ outcome, request }, report) {
  const { commitment: claimed } = report.round.deal;
  const { commitment: computed } = report.shuffle;
  if (!request || claimed === undefined || claimed === computed) return;
  const difference = { pointer: "/deal/commitment", claimed, computed };
  if (!outcome) report.differences.push(difference);
  report.checks.push(finding("commitment", "bad", "commitment_differs", {}, { difference }));
}

// ------------------------------------------------------------------------------------------------ comparison

/** The parts of an outcome that are reported one by one, by their places in it. */
const PARTS = [
  ["ruleset", /^\/ruleset/], ["commitment", /^\/deal\/commitment/], ["beacon", /^\/deal\/(beacon|shuffle_seed)/],
  ["shuffle", /^\/deal/], ["table", /^\/table/], ["actions", /^\/actions/], ["dealer", /^\/dealer/],
  ["hands", /^\/boxes\/\d+\/(?!bets|staked|returned|net|result)/], ["settlement", /^\/boxes/],
  ["totals", /^\/totals/], ["identity", /^\/(request_digest|outcome_id)$/], ["other", /^/],
];
const IN_ORDER = PARTS.map(([part]) => part);
const SHOW_CARDS = ["shuffle", "dealer", "hands"];
const WRONG_IF_VOID = { dealer: "void_shows_cards", hands: "void_shows_cards", settlement: "void_not_returned" };

const partOf = (pointer) => PARTS.find(([, pattern]) => pattern.test(pointer))[0];

function compare(outcome, report) {
  const found = differences(outcome, report.expected);
  // Ids and digest of a request differ wherever one of its members does, so they come last.
  const isIdentity = ({ pointer }) => partOf(pointer) === "identity";
  reportDifferences([...found.filter((one) => !isIdentity(one)), ...found.filter(isIdentity)], report);
  const done = new Set(report.checks.map(({ id }) => id));
  const left = IN_ORDER.filter((part) => !done.has(part));
  report.checks.push(...left.map((part) => agreement(part, outcome, report)).filter(Boolean));
}

function reportDifferences(found, report) {
  report.differences = found;
  const reported = new Set(report.checks.filter(({ state }) => state === "bad").map(({ id }) => id));
  for (const part of IN_ORDER.filter((one) => !reported.has(one))) {
    const difference = found.find(({ pointer }) => partOf(pointer) === part);
    const code = (report.isVoid && WRONG_IF_VOID[part]) || `${part}_differs`;
    if (difference) report.checks.push(finding(part, "bad", code, {}, { difference }));
  }
}

/** What differs in the deal alone: with other seeds the decisions may not even be possible. */
function dealDifferences({ deal }, { round, shuffle }) {
  return differences(deal, dealDocument(round, shuffle, deal.cards_used), "/deal");
}

/** What is to be said of a part without a difference. */
function agreement(part, outcome, { isVoid, round: { deal }, requestDigest, shuffle }) {
  const ok = (code, values) => finding(part, "ok", code, values);
  const isOpen = deal.source === "seed" && deal.serverSeed === undefined;
  const open = (code) => finding(part, isVoid ? "note" : "unknown", isVoid ? `void_${code}` : code);
  if (isVoid && SHOW_CARDS.includes(part)) return null;
  switch (part) {
    case "identity":
      return requestDigest ? ok("identity_same", { id: outcome.outcome_id }) : open("identity_unknown");
    case "commitment":
      if (deal.source === "deck") return null;
      return isOpen ? open("commitment_unknown") : ok("commitment_same");
    case "beacon":
      return deal.beacon ? ok("beacon_same", { source: deal.beacon.source }) : null;
    case "shuffle":
      if (deal.source === "deck") return finding(part, "note", "deck_named");
      return isOpen ? open("shuffle_unknown") : ok("shuffle_same");
    case "actions":
      return shuffle.deck ? ok("actions_same") : open("actions_unknown");
    case "settlement":
      return isVoid ? ok("void_returned", { reason: outcome.reason }) : ok("settlement_same");
    case "other":
      return finding(part, "said", "engine", { version: outcome.engine.version, digest: outcome.engine.digest });
    default:
      return ok(`${part}_same`);
  }
}

// ------------------------------------------------------------------------------------------------- conclusion

/**
 * Sum the checks up: `verdict` and `signed`.
 *
 * `signed` is `key` (a published key), `development` (the key that everybody has), `nobody`, or `unchecked`.
 * `verdict` is `good`; `partial` where something could not be checked; `bad`; `computed` for a request alone;
 * `void` for a round broken off; and `unproven` for such a round that nobody's key vouches for: it holds no result.
 */
function conclude(report) {
  const bad = report.checks.filter(({ state }) => state === "bad");
  const isUnsure = report.checks.some(({ state }) => state === "unknown");
  Object.assign(report, firstFault(report.differences, bad), { signed: signedBy(report) });
  const isWorthless = report.isVoid && ["nobody", "development"].includes(report.signed);
  if (bad.length) report.verdict = "bad";
  else if (report.form === "request") report.verdict = "computed";
  else if (isWorthless) report.verdict = "unproven";
  else if (isUnsure) report.verdict = "partial";
  else report.verdict = report.isVoid ? "void" : "good";
  return report;
}

function signedBy({ certificate, checks }) {
  if (certificate === undefined) return "nobody";
  if (checks.some(({ code }) => code === "key_development")) return "development";
  return checks.some(({ id, state }) => id === "signature" && state === "ok") ? "key" : "unchecked";
}

/** What to tell first: a worthless signature, another outcome than the signed one, else the first difference. */
function firstFault(found, bad) {
  const badOne = (...ids) => bad.find(({ id }) => ids.includes(id));
  const payload = badOne("payload");
  const first = payload?.difference ?? found[0] ?? bad.find(({ difference }) => difference)?.difference ?? null;
  const ofFirst = first && badOne(partOf(first.pointer));
  return { first, fault: badOne("key", "signature") ?? payload ?? ofFirst ?? bad[0] ?? null };
}
