import type { LongSessionKind } from "../../../core/test/support/long-session.ts";
import { WARM_TURNS } from "./evaluate.ts";

/** Sessions in this process, and the real program: in a terminal, in print mode, and both of these while they wait. */
export type SoakKind = LongSessionKind | "screen" | "print" | "idle";

/** The user's choices, with defaults for the rest. */
export interface SoakArguments {
  kinds: readonly SoakKind[];
  /** Default: the usual number for each kind. */
  turns: number | undefined;
  /** The same seed gives the same session. */
  seed: number;
  /** In tokens. */
  contextWindow: number;
  /** How long to observe idle programs. */
  seconds: number;
}

const USUAL_SECONDS = 20;
const LONG_SECONDS = 600;

const NUMBERS = {
  "--turns": "turns",
  "--seed": "seed",
  "--window": "contextWindow",
  "--seconds": "seconds",
} as const;

/** Every kind, in execution order. */
export const SOAKS: readonly { name: SoakKind; about: string }[] = [
  { name: "prompts", about: "many prompts in a small window, in this process" },
  { name: "calls", about: "many calls in one run, in this process" },
  { name: "screen", about: "the real program in a terminal, with results of 50 KB" },
  { name: "print", about: "the same in one run of -p" },
  { name: "idle", about: "the screen and print mode while they wait" },
];
/** The names of `SOAKS`. */
export const SOAK_KINDS: readonly SoakKind[] = SOAKS.map(({ name }) => name);

/** For the real program, the second hundred turns are compared with the last hundred. */
export const MIN_PROGRAM_TURNS = 3 * WARM_TURNS;

/**
 * Parses kinds of sessions, `--turns N`, `--seed N`, `--window TOKENS`, `--seconds N`, and `--long` for ten
 * minutes.
 * @throws Error, with a line for the user, for anything else.
 */
export function parseSoakArguments(argv: readonly string[]): SoakArguments {
  const numbers: Omit<SoakArguments, "kinds"> = {
    turns: undefined,
    seed: 1,
    contextWindow: 20_000,
    seconds: USUAL_SECONDS,
  };
  const kinds: SoakKind[] = [];
  const words = argv.values();
  for (const word of words) {
    const kind = SOAK_KINDS.find((name) => name === word);
    if (kind) kinds.push(kind);
    else if (word === "--long") numbers.seconds = LONG_SECONDS;
    else if (isNumberOption(word)) numbers[NUMBERS[word]] = parseNumber(word, words.next().value);
    else {
      const options = Object.keys(NUMBERS).map((option) => `${option} N`);
      throw new Error(
        `${word}: unknown. Sessions: ${SOAK_KINDS.join(", ")}. Options: --long, ${options.join(", ")}.`,
      );
    }
  }
  const chosen = kinds.length > 0 ? kinds : SOAK_KINDS;
  assertComparable(chosen, numbers.turns);
  return { ...numbers, kinds: chosen };
}

function assertComparable(kinds: readonly SoakKind[], turns: number | undefined): void {
  const long = kinds.filter((kind) => kind === "screen" || kind === "print");
  if (turns === undefined || turns >= MIN_PROGRAM_TURNS || long.length === 0) return;
  throw new Error(
    `--turns ${turns}: too few for ${long.join(" and ")}; at least ${MIN_PROGRAM_TURNS}, because the second hundred is compared with the last.`,
  );
}

function isNumberOption(word: string): word is keyof typeof NUMBERS {
  return Object.hasOwn(NUMBERS, word);
}

function parseNumber(option: string, text: string | undefined): number {
  const value = Number(text);
  if (!Number.isInteger(value) || value < 1) throw new Error(`${option} needs a number of at least 1.`);
  return value;
}
