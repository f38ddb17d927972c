// node census.mjs SIZE: main and second combination of every hand of five or six cards, counted (C5, C6).
// Hands that differ in the names of the suits only are evaluated once: a hand is four sets of ranks, one a suit.
import { evaluateHand } from "../../service/api/verify/hands.js";

const size = Number(process.argv[2]);
const RANKS = "23456789TJQKA";
const counts = {};
const sets = Array.from({ length: 2 ** 13 }, (_, set) => [...RANKS].filter((_, place) => set & (1 << place)));
const ofSize = (count) => [...sets.keys()].filter((set) => sets[set].length === count);
const bySize = Array.from({ length: size + 1 }, (_, count) => ofSize(count));
const FACTORIAL = [1, 1, 2, 6, 24];

function arrangements(hand) {
  const repeats = new Map();
  for (const set of hand) repeats.set(set, (repeats.get(set) ?? 0) + 1);
  return [...repeats.values()].reduce((ways, times) => ways / FACTORIAL[times], FACTORIAL[4]);
}

function visit(hand, left) {
  if (hand.length === 4) {
    if (left === 0) tally(hand);
    return;
  }
  for (let n = 0; n <= left; n += 1) {
    for (const set of bySize[n]) if (hand.length === 0 || set <= hand[hand.length - 1]) visit([...hand, set], left - n);
  }
}

function tally(hand) {
  const { main, second } = evaluateHand(hand.flatMap((set, suit) => sets[set].map((rank) => rank + "cdhs"[suit])));
  const name = second ? `${main}+${second}` : main;
  counts[name] = (counts[name] ?? 0) + arrangements(hand);
}

visit([], size);
console.log(JSON.stringify(counts));
