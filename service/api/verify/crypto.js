/** Hashes, the generator behind the shuffle, and certificates: FIPS 180-4, FIPS 198-1, SP 800-90A, RFC 7515. */

import {
  Problem, canonicalJson, finding, fromBase64url, has, isObject, join, need, toBase64url, toHex, utf8,
} from "./values.js";

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

/** `sha256:` and the hex SHA-256 of a value's canonical JSON. */
export function digestOf(value) {
  return `sha256:${toHex(sha256(utf8(canonicalJson(value))))}`;
}

// ------------------------------------------------------------------------------------------------ generator

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

// --------------------------------------------------------------------------------------------- certificates

const JWS_TYPE = "russian-poker-outcome+jws";
const HEADER_MEMBERS = ["alg", "kid", "typ", "development"];
const KEY_STATES = { active: "ok", retired: "ok", next: "note", revoked: "bad" };

/**
 * Take a certificate apart (RFC 7515 compact).
 *
 * @returns {{header: object, payload: object, canonical: boolean, signed: Uint8Array, signature: Uint8Array}}
 * @throws {Problem} `jws_…` if it is cut off or no JWS
 */
export function readCertificate(jws) {
  const parts = jws.split(".");
  const whole = parts.length === 3 && parts.every((part) => part);
  need(whole, "jws_parts", "", { count: parts.filter((part) => part).length });
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
function thumbprint({ crv, kty, x }) {
  return toBase64url(sha256(utf8(canonicalJson({ crv, kty, x }))));
}

/**
 * What a certificate's header, key and signature are worth.
 *
 * @param {object} certificate from `readCertificate`
 * @param {object} jwks the public keys
 * @param {SubtleCrypto} [subtle] Web Crypto, where there is one
 * @returns {Promise<object[]>} findings `key` and `signature`
 */
export async function checkSignature(certificate, jwks, subtle) {
  const { header } = certificate;
  const key = (jwks?.keys ?? []).find((one) => one.kid === header.kid);
  const refused = headerFault(header) ?? keyFault(key, header);
  if (refused) return [refused];
  return [keyFinding(key), await signatureFinding(certificate, key, subtle)];
}

function headerFault(header) {
  const fault = (code, values) => finding("key", "bad", code, values);
  if (header.alg !== "Ed25519") return fault("wrong_alg", { alg: String(header.alg) });
  if (header.typ !== JWS_TYPE) return fault("wrong_typ", { typ: String(header.typ) });
  const strange = Object.keys(header).find((name) => !HEADER_MEMBERS.includes(name));
  return strange === undefined ? null : fault("wrong_header", { name: strange });
}

function keyFault(key, header) {
  const fault = (code, values) => finding("key", "bad", code, values);
  if (!key) return fault("key_unknown", { kid: String(header.kid) });
  const isKey = key.kty === "OKP" && key.crv === "Ed25519" && fromBase64url(String(key.x))?.length === 32;
  const isNamed = isKey && thumbprint(key) === key.kid && has(KEY_STATES, key.status);
  if (!isNamed) return fault("key_malformed", { kid: key.kid });
  const mark = key.development ? true : undefined;
  return header.development === mark ? null : fault("wrong_header", { name: "development" });
}

function keyFinding({ kid, status, reason = "", development }) {
  if (development && status !== "revoked") return finding("key", "note", "key_development", { kid });
  return finding("key", KEY_STATES[status], `key_${status}`, { kid, reason });
}

async function signatureFinding({ signed, signature }, { kty, crv, x }, subtle) {
  if (!subtle) return finding("signature", "unknown", "no_web_crypto");
  let publicKey;
  try {
    publicKey = await subtle.importKey("jwk", { kty, crv, x }, { name: "Ed25519" }, false, ["verify"]);
  } catch {
    return finding("signature", "unknown", "no_ed25519");
  }
  const valid = await subtle.verify({ name: "Ed25519" }, publicKey, signature, signed);
  return valid ? finding("signature", "ok", "signature_valid") : finding("signature", "bad", "signature_forged");
}
