// node digests.mjs < values.json: the digest of each value's canonical JSON.
import { readFileSync } from "node:fs";
import { digestOf } from "../../service/api/verify/crypto.js";

console.log(JSON.stringify(JSON.parse(readFileSync(0, "utf8")).map(digestOf)));
