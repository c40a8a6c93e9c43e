import { parseSeededRuns } from "../seeded-runs.ts";

/** What a user has asked for; `path` leads the search of one target straight to that value. */
export interface FuzzArguments {
  /** Which targets; all when empty. */
  names: readonly string[];
  /** Of each target; its own number when left out. */
  runs: number | undefined;
  seed: number;
  /** Of a value that was found before. */
  path: string | undefined;
}

const PATH = /^\d+(?::\d+)*$/;

/** Takes `[NAME…] [--runs N] [--seed N] [--path PATH]`. @throws Error, in one line for the user, for anything else. */
export function parseFuzzArguments(argv: readonly string[], known: readonly string[]): FuzzArguments {
  const names = argv.filter((word) => known.includes(word));
  const rest = argv.filter((word) => !known.includes(word));
  try {
    const { path, others } = takePath(rest);
    const { runs, seed } = parseSeededRuns(others, 0);
    if (path !== undefined && (names.length !== 1 || !others.includes("--seed")))
      throw new Error("--path belongs to one target and to a --seed.");
    return { names, runs: runs === 0 ? undefined : runs, seed, path };
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new Error(`${reason} Targets: ${known.join(", ")}.`);
  }
}

function takePath(words: readonly string[]): { path: string | undefined; others: readonly string[] } {
  const at = words.indexOf("--path");
  if (at < 0) return { path: undefined, others: words };
  const path = words[at + 1] ?? "";
  if (!PATH.test(path)) throw new Error("--path takes what was told with a problem, such as 7:0:1.");
  return { path, others: words.toSpliced(at, 2) };
}
