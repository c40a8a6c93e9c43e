import { describe, expect, test } from "bun:test";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { BENCHMARKS } from "../src/benchmarks/index.ts";
import { FAULT_TRIALS } from "../src/faults/trials/index.ts";
import { FUZZ_TARGETS } from "../src/fuzz/targets/index.ts";
import { SOAK_KINDS } from "../src/soak/arguments.ts";

const PACKAGES = join(import.meta.dir, "..", "..");

/** The number of cases of each group. */
const COUNTS = {
  SEC: 36,
  BOX: 16,
  REL: 46,
  PRO: 22,
  MCP: 17,
  SUB: 11,
  HOK: 9,
  HIS: 16,
  EDI: 10,
  PLG: 9,
  KNO: 5,
  COS: 10,
  TSX: 6,
};
const MOST_WORDS = 6;

interface Case {
  id: string;
  situation: string;
  held: { name: string; title: string | undefined }[];
}

const CASES = readCases(readFileSync(join(import.meta.dir, "..", "CASES.md"), "utf8"));

function readCases(text: string): Case[] {
  return Array.from(
    text.matchAll(/^\| (\w+-\d+) \| (.+) \| (.+) \|$/gm),
    ([, id = "", situation = "", held = ""]) => ({
      id,
      situation,
      held: Array.from(held.matchAll(/`([^`]+)`(?: "([^"]+)")?/g), ([, name = "", title]) => ({
        name,
        title,
      })),
    }),
  );
}

const RUNS: Record<string, readonly string[]> = {
  faults: FAULT_TRIALS.map(({ name }) => name),
  fuzz: FUZZ_TARGETS.map(({ name }) => name),
  bench: BENCHMARKS.map(({ name }) => name),
  soak: SOAK_KINDS,
};

/** The problem with something that CASES.md says checks a case. */
function findFault({ name, title }: Case["held"][number]): string | undefined {
  const [command = "", run] = name.split(" ");
  if (run !== undefined) return RUNS[command]?.includes(run) ? undefined : `there is no ${name}`;
  const [group = "", ...file] = name.split("/");
  const path = join(PACKAGES, group, "test", `${file.join("/")}.test.ts`);
  if (!existsSync(path)) return `there is no ${path}`;
  // A title may be broken over lines, and written with escapes.
  const source = readFileSync(path, "utf8").replace(/\s+/g, " ");
  return title === undefined || source.includes(title) ? undefined : `${name} has no “${title}”`;
}

describe("CASES.md", () => {
  test("names no case twice and omits none", () => {
    const ids = CASES.map(({ id }) => id);
    expect(ids.filter((id, index) => ids.indexOf(id) !== index)).toEqual([]);
    const counts = Object.keys(COUNTS).map((group) => [
      group,
      ids.filter((id) => id.startsWith(`${group}-`)).length,
    ]);
    expect(Object.fromEntries(counts)).toEqual(COUNTS);
  });

  test("names only existing tests, trials, targets, sessions and benchmarks", () => {
    const faults = CASES.flatMap(({ id, held }) =>
      held.flatMap((each) => {
        const fault = findFault(each);
        return fault === undefined ? [] : [`${id}: ${fault}`];
      }),
    );
    expect(faults).toEqual([]);
  });

  test("names at least one check for each case, and describes the case in a few words", () => {
    expect(CASES.filter(({ held }) => held.length === 0).map(({ id }) => id)).toEqual([]);
    expect(CASES.filter(({ situation }) => situation.split(" ").length > MOST_WORDS)).toEqual([]);
  });
});
