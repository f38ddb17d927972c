/**
 * Plain values: what is wrong with one, bytes and text, canonical JSON, and where two documents differ.
 *
 * The first of the verifier's files. They are ES modules, which import each other under Node; the page holds
 * them one after the other in a single module script.
 */

/** What is wrong with an input. `code` names a text, `pointer` the place (RFC 6901), `values` fill the text. */
export class Problem extends Error {
  constructor(code, pointer = "", values = {}) {
    super(`${code} ${pointer} ${JSON.stringify(values)}`);
    this.code = code;
    this.pointer = pointer;
    this.values = values;
  }
}

/** Throws the problem with this code unless the condition holds. */
export function need(condition, code, pointer, values) {
  if (!condition) throw new Problem(code, pointer, values);
}

/**
 * One thing that was checked: `id` names it, `code` what was found. `state` is ok, bad, note (fine, but read it),
 * unknown (could not be checked) or said (can be said only, not computed).
 */
export function finding(id, state, code, values = {}, more = {}) {
  return { id, state, code, values, ...more };
}

/** Whether a value is a JSON object. */
export const isObject = (value) => typeof value === "object" && value !== null && !Array.isArray(value);
/** Whether a value is a whole number, exact and within bounds. */
export const isWhole = (value, least, most) => Number.isSafeInteger(value) && value >= least && value <= most;
/** Whether an object has a member of its own. */
export const has = (object, name) => Object.prototype.hasOwnProperty.call(object, name);

/** Whether a value is text that UTF-8 can write: without half a surrogate pair. */
export const isText = (value) => typeof value === "string" && !/[\uD800-\uDFFF]/u.test(value);

// ------------------------------------------------------------------------------------------ bytes and text

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

/** base64url without padding (RFC 7515). */
export function toBase64url(bytes) {
  const binary = Array.from(bytes, (byte) => String.fromCharCode(byte)).join("");
  return btoa(binary).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}

/** Bytes of strict base64url text; null if it is none (padding, other letters, left-over bits). */
export function fromBase64url(text) {
  if (!/^[A-Za-z0-9_-]*$/.test(text) || text.length % 4 === 1) return null;
  const binary = atob(text.replaceAll("-", "+").replaceAll("_", "/"));
  const bytes = new Uint8Array(binary.length);
  for (let i = 0; i < bytes.length; i += 1) bytes[i] = binary.charCodeAt(i);
  const last = bytes.slice(bytes.length - (bytes.length % 3));
  return toBase64url(last) === text.slice(text.length - (text.length % 4)) ? bytes : null;
}

/** The bytes of all parts, one after the other. */
export function join(...parts) {
  const bytes = new Uint8Array(parts.reduce((length, part) => length + part.length, 0));
  let place = 0;
  for (const part of parts) {
    bytes.set(part, place);
    place += part.length;
  }
  return bytes;
}

// --------------------------------------------------------------------------------------------- documents

/**
 * Text of a JSON value by RFC 8785: members by UTF-16 code units, numbers and strings as ECMAScript writes them.
 *
 * @throws {Problem} for a text or a number that has no such form
 */
export function canonicalJson(value) {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(",")}]`;
  if (isObject(value)) {
    const names = Object.keys(value).sort();
    return `{${names.map((name) => `${canonicalJson(name)}:${canonicalJson(value[name])}`).join(",")}}`;
  }
  need(typeof value !== "string" || isText(value), "text_malformed");
  need(typeof value !== "number" || Number.isFinite(value), "number_malformed");
  return JSON.stringify(value);
}

/**
 * Every place in which a claimed document differs from the computed one, in the order of the computed one.
 *
 * @returns {{pointer: string, claimed: unknown, computed: unknown}[]} `undefined` where one side has nothing
 */
export function differences(claimed, computed, pointer = "") {
  if (Array.isArray(computed) && Array.isArray(claimed)) {
    const length = Math.max(claimed.length, computed.length);
    return Array.from({ length }, (_, i) => differences(claimed[i], computed[i], `${pointer}/${i}`)).flat();
  }
  if (isObject(computed) && isObject(claimed)) {
    const names = new Set([...Object.keys(computed), ...Object.keys(claimed)]);
    return [...names].flatMap((name) => {
      const [one, other] = [claimed, computed].map((document) => (has(document, name) ? document[name] : undefined));
      return differences(one, other, `${pointer}/${name.replaceAll("~", "~0").replaceAll("/", "~1")}`);
    });
  }
  return claimed === computed ? [] : [{ pointer, claimed, computed }];
}
