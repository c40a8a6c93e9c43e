import type { TestCounts } from "./types.ts";

// Runners say how it ended at the end; what a test printed before may look the same.
const MAX_CHARS = 8_000;

interface Pattern {
  /** Matches a closing line; of several, the last one counts, or all of them with `sums`. */
  line: RegExp;
  /** The output is that of this runner only if it has this, too. */
  with?: RegExp;
  sums?: boolean;
  /** What a runner that sums prints at the very end if anything has failed. */
  failure?: RegExp;
  read(groups: Readonly<Record<string, string | undefined>>): TestCounts;
}

const toNumber = (text: string | undefined) =>
  text === undefined ? undefined : Number(text.replace(/,/g, ""));
const plain = ({ passed, failed }: Readonly<Record<string, string | undefined>>): TestCounts => ({
  passed: toNumber(passed) ?? 0,
  failed: toNumber(failed) ?? 0,
});
/** Of runners that print how many ran, and which of these failed. */
const ofTotal = (groups: Readonly<Record<string, string | undefined>>): TestCounts => {
  const failed = (toNumber(groups.failed) ?? 0) + (toNumber(groups.errors) ?? 0);
  const passed = (toNumber(groups.total) ?? 0) - failed - (toNumber(groups.skipped) ?? 0);
  return { passed: Math.max(0, passed), failed };
};

const PATTERNS: readonly Pattern[] = [
  // bun
  { line: /^ *(?<passed>\d+) pass\n(?: *\d+ (?:skip|todo)\n)* *(?<failed>\d+) fail$/gm, read: plain },
  // jest
  {
    line: /^Tests: +(?:(?<failed>\d+) failed, )?(?:\d+ (?:skipped|todo), )*(?:(?<passed>\d+) passed, )?\d+ total$/gm,
    read: plain,
  },
  // vitest
  {
    line: /^ *Tests +(?:(?<failed>\d+) failed(?: \| )?)?(?:(?<passed>\d+) passed)?(?: \| \d+ \w+)* \(\d+\)$/gm,
    read: plain,
  },
  // mocha
  {
    line: /^ *(?<passed>\d+) passing \([^)]*\)(?:\n *\d+ pending)?(?:\n *(?<failed>\d+) failing)?$/gm,
    read: plain,
  },
  // node --test
  { line: /^(?:#|ℹ) pass (?<passed>\d+)\n(?:#|ℹ) fail (?<failed>\d+)$/gm, read: plain },
  // deno
  { line: /^(?:ok|FAILED) \| (?<passed>\d+) passed(?: \([^)]*\))? \| (?<failed>\d+) failed/gm, read: plain },
  // pytest
  {
    line: /^(?:=+ )?(?<counts>\d+ [a-z]+(?:, \d+ [a-z]+)*) in [\d.:]+s?(?: \([^)]*\))?(?: =+)?$/gm,
    read: ({ counts = "" }) => {
      const of = (word: RegExp) => toNumber(word.exec(counts)?.[1]) ?? 0;
      return { passed: of(/(\d+) passed/), failed: of(/(\d+) failed/) + of(/(\d+) errors?/) };
    },
  },
  // unittest
  {
    line: /^Ran (?<total>\d+) tests? in [\d.]+s\n\n(?:OK|FAILED)(?: \((?:failures=(?<failed>\d+))?(?:, )?(?:errors=(?<errors>\d+))?(?:(?:, )?skipped=(?<skipped>\d+))?[^)]*\))?$/gm,
    read: ofTotal,
  },
  // cargo test: once for each binary
  {
    line: /^test result: \w+\. (?<passed>\d+) passed; (?<failed>\d+) failed;/gm,
    sums: true,
    failure: /^error: (?:test failed|\d+ targets? failed|doctest failed)/m,
    read: plain,
  },
  // cargo nextest
  {
    line: /^ *Summary \[[^\]]*\] +\d+ tests? run: (?<passed>\d+) passed(?: \([^)]*\))?(?:, (?<failed>\d+) failed)?/gm,
    read: plain,
  },
  // go test -v: once for each test
  {
    line: /^ *--- (?:(?<passed>PASS)|(?<failed>FAIL)): \S+/gm,
    sums: true,
    failure: /^FAIL\b/m,
    read: ({ passed, failed }) => ({ passed: passed ? 1 : 0, failed: failed ? 1 : 0 }),
  },
  // rspec, mix
  {
    line: /^(?<total>\d+) (?:examples?|tests?), (?<failed>\d+) failures?(?:, (?<skipped>\d+) (?:pending|skipped|excluded))?$/gm,
    read: ofTotal,
  },
  // minitest
  {
    line: /^(?<total>\d+) runs, \d+ assertions, (?<failed>\d+) failures, (?<errors>\d+) errors, (?<skipped>\d+) skips$/gm,
    read: ofTotal,
  },
  // phpunit
  { line: /^OK \((?<passed>\d+) tests?, \d+ assertions?\)$/gm, read: plain },
  {
    line: /^Tests: (?<total>\d+), Assertions: \d+(?:, Errors: (?<errors>\d+))?(?:, Failures: (?<failed>\d+))?(?:, Skipped: (?<skipped>\d+))?\.$/gm,
    read: ofTotal,
  },
  // dotnet
  {
    line: /^(?:Passed|Failed)! +- Failed: +(?<failed>\d+), Passed: +(?<passed>\d+),/gm,
    sums: true,
    read: plain,
  },
  // maven
  {
    line: /^(?:\[\w+\] )?Tests run: (?<total>\d+), Failures: (?<failed>\d+), Errors: (?<errors>\d+), Skipped: (?<skipped>\d+)$/gm,
    read: ofTotal,
  },
  // gradle
  {
    line: /^(?<total>\d+) tests completed, (?<failed>\d+) failed(?:, (?<skipped>\d+) skipped)?$/gm,
    read: ofTotal,
  },
  // playwright
  {
    line: /^ *(?:(?<failed>\d+) failed\n(?:.*\n)*?)? *(?<passed>\d+) passed \([\d.]+m?s\)$/gm,
    read: plain,
  },
  // ctest
  { line: /^\d+% tests passed, (?<failed>\d+) tests failed out of (?<total>\d+)$/gm, read: ofTotal },
  // swift
  { line: /Executed (?<total>\d+) tests?, with (?<failed>\d+) failures?/gm, read: ofTotal },
];

/** Failures that the runner does not count as tests, such as a file that cannot be loaded. */
const OTHER_FAILURES: readonly RegExp[] = [
  /^Test Suites: +(\d+) failed/gm,
  /^ *Test Files +(\d+) failed/gm,
  /^ *Errors +(\d+) errors?$/gm,
  /^(?:#|ℹ) cancelled (\d+)$/gm,
];

function countOtherFailures(text: string): number {
  return Math.max(0, ...OTHER_FAILURES.map((line) => Number([...text.matchAll(line)].at(-1)?.[1] ?? 0)));
}

/**
 * What the closing lines of a test runner say; undefined where no known runner says anything. Escape sequences do not
 * count. Only the end of a long output is read.
 *
 * @param isCut true if a part of what the runner printed is missing. How many tests passed is then left out where it
 *   would be the sum of several lines.
 */
export function readTestCounts(output: string, isCut = false): TestCounts | undefined {
  const text = Bun.stripANSI(output.slice(-MAX_CHARS)).replaceAll("\r", "");
  const counts = readClosingLines(text, isCut || output.length >= MAX_CHARS);
  const others = countOtherFailures(text);
  // A file that failed because of its tests is no further failure.
  return counts && others > 0 ? { ...counts, failed: Math.max(counts.failed ?? 0, others) } : counts;
}

function readClosingLines(text: string, isCut: boolean): TestCounts | undefined {
  for (const { line, sums = false, failure, read } of PATTERNS) {
    const found = [...text.matchAll(line)]
      .filter(([whole]) => /\d|---/.test(whole))
      .map(({ groups = {} }) => read(groups));
    const counted = sums ? found : found.slice(-1);
    if (counted.length === 0) continue;
    const total = counted.reduce((sum, { passed = 0, failed = 0 }) => ({
      passed: (sum.passed ?? 0) + passed,
      failed: (sum.failed ?? 0) + failed,
    }));
    if (!sums || !isCut) return total;
    if (failure === undefined) return total.failed ? { failed: total.failed } : undefined;
    return { failed: Math.max(total.failed ?? 0, failure.test(text) ? 1 : 0) };
  }
  return undefined;
}
