/** Words and elements of the page: what is shown is text of `texts.json`, and data reach the page as text nodes. */

import { cardNumber } from "./hands.js";
import { has } from "./values.js";

/** What `page()` put into the page: `rulesets` by id, `jwks`, `texts` by language. */
export const data = JSON.parse(document.getElementById("data").textContent);
/** What is shown: a language, a report of `verify` or the problem in its place, and a step of the round. */
export const state = {
  language: navigator.language.startsWith("ru") ? "ru" : "en", report: null, problem: null, step: 0, run: 0,
};

// ---------------------------------------------------------------------------------------------------- words

const texts = () => data.texts[state.language];
const fill = (template, values) =>
  template.replace(/\{(\w+)\}/g, (all, name) => (has(values, name) ? String(values[name]) : all));

/** The text at a path such as "page.title", its {names} filled. */
export function text(path, values = {}) {
  return fill(path.split(".").reduce((inner, name) => inner?.[name], texts()) ?? path, values);
}

/** Whether a group of texts has one of this name. */
export const hasText = (group, name) => has(texts()[group], name);
/** An amount as the language writes it. */
export const amount = (number) => new Intl.NumberFormat(state.language).format(number);
/** Likewise, with its sign. */
export const signedAmount = (number) => (number > 0 ? `+${amount(number)}` : amount(number).replace("-", "−"));
const capital = (words) => words.charAt(0).toUpperCase() + words.slice(1);

const SUIT_SIGNS = { c: "♣\uFE0E", d: "♦\uFE0E", h: "♥\uFE0E", s: "♠\uFE0E" };
/** A rank as it stands on a card. */
export const rankText = (code) => (code[0] === "T" ? "10" : code[0]);
/** A card such as 10♣. */
export const shortCard = (code) => rankText(code) + SUIT_SIGNS[code[1]];
/** Several of them. */
export const shortCards = (list) => list.map(shortCard).join(" ");
/** A card in words. */
export const cardName = (code) => `${text(`ranks.${code[0]}`)} ${text(`suits.${code[1]}`)}`;
/** The combinations of a hand in words. */
export const handName = (...kinds) => kinds.filter(Boolean).map((kind) => text(`kinds.${kind}`)).join(" + ");

/** A value of an outcome in words. */
export function valueText(value) {
  if (value === undefined) return text("values.absent");
  if (value === null || typeof value === "boolean") return text(`values.${value}`);
  if (typeof value === "number") return amount(value);
  if (typeof value === "object") return JSON.stringify(value);
  if (cardNumber(value) >= 0) return shortCard(value);
  const group = ["kinds", "bets", "results", "actions"].find((name) => hasText(name, value));
  return group ? text(`${group}.${value}`) : value || "“”";
}

/** A JSON pointer into an outcome in words: "box 2 › stake bet › returned". */
export function placeText(pointer, outcome) {
  let inner = outcome;
  const words = [];
  for (const name of pointer.slice(1).split("/")) {
    const previous = words.at(-1);
    inner = inner?.[name];
    if (/^\d+$/.test(name) && previous) words[words.length - 1] = `${previous} ${elementName(inner, name)}`;
    else words.push(hasText("places", name) ? text(`places.${name}`) : name);
  }
  return words.join(" › ");
}

function elementName(item, place) {
  if (item && typeof item.box === "number" && Array.isArray(item.bets)) return item.box;
  if (item && hasText("bets", item.name)) return text(`bets.${item.name}`);
  return Number(place) + 1;
}

function legalText(legal) {
  const bounds = ({ min, max }) => (min ? ` (${amount(min)}–${amount(max)})` : "");
  return legal.map((offer) => text(`actions.${offer.action}`) + bounds(offer)).join(", ");
}

/** A problem in words, its place first. */
export function problemText({ code, pointer = "", values }, outcome) {
  const isNumber = ([, value]) => typeof value === "number";
  const shown = { ...values };
  for (const [name, value] of Object.entries(values).filter(isNumber)) shown[name] = amount(value);
  if (values.legal) shown.legal = legalText(values.legal);
  if (values.index !== undefined) shown.number = values.index + 1;
  const message = text(`problems.${code}`, shown);
  return pointer ? `${capital(placeText(pointer, outcome))}: ${message}` : message;
}

/** What a finding of the verifier says. */
export function findingText(one, outcome) {
  return hasText("messages", one.code) ? text(`messages.${one.code}`, one.values) : problemText(one, outcome);
}

/** A difference in a sentence: between what is claimed and what is computed, or signed. */
export function differenceText(difference, outcome) {
  const side = otherSide(difference);
  const place = capital(placeText(difference.pointer, outcome));
  const [claimed, other] = [difference.claimed, difference[side]].map(valueText);
  return text(`sentences.${side}`, { place, claimed, other });
}

/** The name of what a claim is held against. */
export const otherSide = (difference) => (has(difference, "signed") ? "signed" : "computed");

// ------------------------------------------------------------------------------------------------- elements

/** An element with attributes and children; strings become text nodes, what is null or false is left out. */
export function element(tag, attributes = {}, ...children) {
  return furnish(document.createElement(tag), attributes, children);
}

/** Likewise, of a drawing. */
export function drawing(tag, attributes = {}, ...children) {
  return furnish(document.createElementNS("http://www.w3.org/2000/svg", tag), attributes, children);
}

function furnish(node, attributes, children) {
  const given = Object.entries(attributes).filter(([, value]) => value !== undefined && value !== false);
  for (const [name, value] of given) node.setAttribute(name, value);
  node.append(...children.flat().filter((child) => child !== null && child !== undefined && child !== false));
  return node;
}
