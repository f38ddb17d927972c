// node forged.mjs < outcome.json: certificates that the service would never make, forged from a genuine outcome.
// Prints {jwks, certificates: {name: JWS}}; `jwks` has the one key that signed what is well signed but wrong.
import { createHash, generateKeyPairSync, sign } from "node:crypto";
import { readFileSync } from "node:fs";

/** RFC 8785, as far as outcomes need it; not the verifier's own, so that the two check each other. */
function canonical(value) {
  if (Array.isArray(value)) return `[${value.map(canonical).join(",")}]`;
  if (value === null || typeof value !== "object") return JSON.stringify(value);
  const members = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return `{${members.map(([name, inner]) => `${JSON.stringify(name)}:${canonical(inner)}`).join(",")}}`;
}

function newKey() {
  const { privateKey, publicKey } = generateKeyPairSync("ed25519");
  const { crv, kty, x } = publicKey.export({ format: "jwk" });
  const kid = createHash("sha256").update(canonical({ crv, kty, x })).digest("base64url");
  return { privateKey, jwk: { kty, crv, x, kid, alg: "Ed25519", use: "sig", status: "retired" } };
}

function certify(payload, { privateKey, jwk }, header = {}) {
  const protectedHeader = { alg: "Ed25519", kid: jwk.kid, typ: "russian-poker-outcome+jws", ...header };
  const signed = [canonical(protectedHeader), payload].map((part) => Buffer.from(part).toString("base64url")).join(".");
  return `${signed}.${sign(null, Buffer.from(signed), privateKey).toString("base64url")}`;
}

const { certificate, ...outcome } = JSON.parse(readFileSync(0, "utf8"));
const [header, body, signature] = certificate.split(".");
const last = signature.at(-1);
const [forger, stranger] = [newKey(), newKey()];
const payload = canonical(outcome);
const richer = structuredClone(outcome);
richer.totals.returned += 1;
const base64url = (text) => Buffer.from(text).toString("base64url");
const certificates = {
  well_signed: certify(payload, forger),
  stranger: certify(payload, stranger),
  wrong_alg: certify(payload, forger, { alg: "HS256" }),
  no_alg: certify(payload, forger, { alg: "none" }),
  wrong_typ: certify(payload, forger, { typ: "JWT" }),
  wrong_header: certify(payload, forger, { crit: ["exp"] }),
  marked: certify(payload, forger, { development: true }),
  marked_false: certify(payload, forger, { development: false }),
  not_canonical: certify(JSON.stringify(outcome, null, 1), forger),
  signed_lie: certify(canonical(richer), forger),
  altered: `${header}.${base64url(canonical(richer))}.${signature}`,
  forged: `${header}.${body}.${certify(payload, stranger).split(".")[2]}`,
  under_other_kid: `${certify(payload, forger).split(".")[0]}.${body}.${signature}`,
  truncated: `${header}.${body.slice(0, -9)}`,
  short_signature: `${header}.${body}.${signature.slice(0, -4)}`,
  loose_bits: `${header}.${body}.${signature.slice(0, -1)}${{ A: "B", Q: "R", g: "h", w: "x" }[last]}`,
};
console.log(JSON.stringify({ jwks: { keys: [forger.jwk] }, certificates }));
