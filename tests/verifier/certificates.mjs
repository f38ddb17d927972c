// node certificates.mjs < outcome.json: certificates of this outcome, good and bad, with a key made for the run.
// Prints {jwks, certificates: {name: JWS}}; the keys' status goes by the name of the certificate.
import { createHash, generateKeyPairSync, sign } from "node:crypto";
import { readFileSync } from "node:fs";

/** RFC 8785, as far as outcomes need it; not the verifier's own, so that the two check each other. */
function canonical(value) {
  if (Array.isArray(value)) return `[${value.map(canonical).join(",")}]`;
  if (value === null || typeof value !== "object") return JSON.stringify(value);
  const members = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return `{${members.map(([name, inner]) => `${JSON.stringify(name)}:${canonical(inner)}`).join(",")}}`;
}

function newKey(more) {
  const { privateKey, publicKey } = generateKeyPairSync("ed25519");
  const { crv, kty, x } = publicKey.export({ format: "jwk" });
  const kid = createHash("sha256").update(canonical({ crv, kty, x })).digest("base64url");
  return { privateKey, jwk: { kty, crv, x, kid, alg: "Ed25519", use: "sig", ...more } };
}

function certify(payload, { privateKey, jwk }, header = {}) {
  const protectedHeader = { alg: "Ed25519", kid: jwk.kid, typ: "russian-poker-outcome+jws", ...header };
  const signed = [canonical(protectedHeader), payload].map((part) => Buffer.from(part).toString("base64url")).join(".");
  return `${signed}.${sign(null, Buffer.from(signed), privateKey).toString("base64url")}`;
}

const outcome = JSON.parse(readFileSync(0, "utf8"));
const keys = {
  active: newKey({ status: "active" }),
  retired: newKey({ status: "retired" }),
  next: newKey({ status: "next" }),
  revoked: newKey({ status: "revoked", reason: "the laptop was stolen" }),
};
const stranger = newKey({ status: "active" });
const payload = canonical(outcome);
const [header, body, signature] = certify(payload, keys.active).split(".");
const richer = structuredClone(outcome);
richer.totals.returned += 1;
const certificates = {
  ...Object.fromEntries(Object.entries(keys).map(([name, key]) => [name, certify(payload, key)])),
  stranger: certify(payload, stranger),
  development: certify(payload, keys.active, { development: true }),
  wrong_alg: certify(payload, keys.active, { alg: "HS256" }),
  wrong_typ: certify(payload, keys.active, { typ: "JWT" }),
  wrong_header: certify(payload, keys.active, { crit: ["exp"] }),
  not_canonical: certify(JSON.stringify(outcome, null, 1), keys.active),
  altered: `${header}.${Buffer.from(canonical(richer)).toString("base64url")}.${signature}`,
  signed_lie: certify(canonical(richer), keys.active),
  forged: `${header}.${body}.${certify(payload, stranger).split(".")[2]}`,
  truncated: `${header}.${body.slice(0, -9)}`,
  short_signature: `${header}.${body}.${signature.slice(0, -4)}`,
};
console.log(JSON.stringify({ jwks: { keys: Object.values(keys).map(({ jwk }) => jwk) }, certificates }));
