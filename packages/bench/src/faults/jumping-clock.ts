import { createRandom } from "../../../core/test/support/fuzzed-history.ts";

// Loaded before the program: now and then, the wall clock returns another time. The monotonic clock is
// unchanged.

const YEAR_MS = 365 * 24 * 60 * 60 * 1000;
const JUMP_SHARE = 0.05;

const random = createRandom(Number(process.env.JUMPING_CLOCK_SEED ?? "1"));
const realNow = Date.now;
let offsetMs = 0;

function jumpingNow(): number {
  if (random() < JUMP_SHARE) offsetMs = Math.floor((random() * 2 - 1) * YEAR_MS);
  return realNow() + offsetMs;
}

globalThis.Date = new Proxy(Date, {
  construct: (target, args) => Reflect.construct(target, args.length === 0 ? [jumpingNow()] : args),
  get: (target, key) => (key === "now" ? jumpingNow : Reflect.get(target, key)),
});
