/** How a target is searched. The same seed tries the same values in the same order. */
export interface FuzzSearch {
  runs: number;
  seed: number;
  /** Of a value that was found before, as it was told: only this one is tried. */
  path?: string | undefined;
  /** The search ends after this time, with what it has tried by then. */
  limitMs?: number | undefined;
}

/** What a search came to; it ends with the first problem. */
export interface FuzzOutcome {
  tried: number;
  /** What breaks the promise and how to see it again; undefined when nothing was found. */
  problem?: string;
}

/** Something that has to hold for every value that chance makes. */
export interface FuzzTarget {
  name: string;
  /** One line. */
  about: string;
  /** How many values are tried when nothing is said, and in the checks before each commit. */
  runs: { usual: number; short: number };
  search(search: FuzzSearch): Promise<FuzzOutcome>;
}
