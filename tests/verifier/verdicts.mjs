// node verdicts.mjs < {rulesets, jwks, shown}: the verdict on each text shown, with the code of its first fault.
import { webcrypto } from "node:crypto";
import { readFileSync } from "node:fs";
import { verify } from "../../service/api/verify/verdict.js";

const { shown, ...options } = JSON.parse(readFileSync(0, "utf8"));
const verdicts = [];
for (const text of shown) {
  const unreadable = ({ code }) => ({ verdict: "unreadable", fault: { code } });
  const { verdict, fault } = await verify(text, { ...options, subtle: webcrypto.subtle }).catch(unreadable);
  verdicts.push([verdict, fault?.code ?? null]);
}
console.log(JSON.stringify(verdicts));
