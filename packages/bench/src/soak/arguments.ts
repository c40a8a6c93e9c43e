import type { LongSessionKind } from "../../../core/test/support/long-session.ts";

export interface SoakArguments {
  kinds: readonly LongSessionKind[];
  turns: number;
  /** The same seed gives the same session. */
  seed: number;
  /** Tokens. */
  contextWindow: number;
}

const NUMBERS = { "--turns": "turns", "--seed": "seed", "--window": "contextWindow" } as const;
const KINDS: readonly LongSessionKind[] = ["prompts", "calls"];

/** Takes `prompts`, `calls`, `--turns N`, `--seed N`, `--window TOKENS`. @throws Error, in one line for the user, for anything else. */
export function parseSoakArguments(argv: readonly string[]): SoakArguments {
  const numbers = { turns: 2_000, seed: 1, contextWindow: 20_000 };
  const kinds: LongSessionKind[] = [];
  const words = argv.values();
  for (const word of words) {
    const kind = KINDS.find((name) => name === word);
    if (kind) kinds.push(kind);
    else if (isNumberOption(word)) numbers[NUMBERS[word]] = parseNumber(word, words.next().value);
    else {
      const options = Object.keys(NUMBERS).map((option) => `${option} N`);
      throw new Error(`${word}: not known. Sessions: ${KINDS.join(", ")}. Options: ${options.join(", ")}.`);
    }
  }
  return { ...numbers, kinds: kinds.length > 0 ? kinds : KINDS };
}

function isNumberOption(word: string): word is keyof typeof NUMBERS {
  return Object.hasOwn(NUMBERS, word);
}

function parseNumber(option: string, text: string | undefined): number {
  const value = Number(text);
  if (!Number.isInteger(value) || value < 1) throw new Error(`${option} takes a number from 1 on.`);
  return value;
}
