import { describe, expect, test } from "bun:test";
import { mkdirSync, renameSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { findChangedSince, matters } from "../../../src/extensions/evidence/changed-since.ts";
import { EvidenceLedger, findMissing } from "../../../src/extensions/evidence/ledger.ts";
import type { CheckCall } from "../../../src/extensions/evidence/types.ts";
import { makeTempDir } from "../../support/temp-dir.ts";

const TESTS: CheckCall = { name: "bun test", kind: "tests" };
const GREEN = " 3 pass\n 0 fail\n";
const none = async (_sinceMs: number): Promise<string[]> => [];

function openLedger() {
  const ledger = new EvidenceLedger();
  ledger.beginTurn(1_000);
  const run = (endedAtMs: number, output = GREEN, exitCode: number | null = 0, call = TESTS) =>
    ledger.noteCommand({ command: call.name, exitCode, output, endedAtMs }, [call]);
  return {
    ledger,
    run,
    report: (answer = "Done.", found = none) => ledger.report(answer, found, () => ["tests", "lint"]),
  };
}

describe("the evidence of a turn", () => {
  test("is what the last run of each check said", async () => {
    const { run, report } = openLedger();
    run(2_000, " 1 pass\n 2 fail\n", 1);
    run(3_000);
    const { checks } = await report();
    expect(checks).toEqual([
      { ...TESTS, command: "bun test", exitCode: 0, passed: 3, failed: 0, isStale: false },
    ]);
  });

  test("is stale after an edit, and names what was not run", async () => {
    const { ledger, run, report } = openLedger();
    run(2_000);
    ledger.noteEdit("a.ts", 3_000);
    ledger.noteEdit("a.ts", 3_100);
    ledger.noteEdit("b.ts", 3_200);
    const { checks, missing, unsupported } = await report("All tests pass.");
    expect([checks[0]?.isStale, checks[0]?.laterEdits]).toEqual([true, 2]);
    expect([missing, unsupported]).toEqual([["lint"], ["All tests pass."]]);
  });

  test("is stale after a command that changed files", async () => {
    const { ledger, run, report } = openLedger();
    run(2_000);
    ledger.noteCommand({ command: "sed -i s/a/b/ a.ts", exitCode: 0, output: "", endedAtMs: 4_000 }, []);
    const { checks } = await report("Done.", async () => ["a.ts"]);
    expect(checks[0]?.isStale).toBe(true);
  });

  test("is stale after a command that changed files and then ran another check", async () => {
    const { ledger, run, report } = openLedger();
    run(2_000);
    const types: CheckCall = { name: "tsc --noEmit", kind: "types" };
    const command = 'echo "x(" > a.ts && tsc --noEmit';
    ledger.noteCommand({ command, exitCode: 0, output: "", endedAtMs: 4_000 }, [types]);
    const { checks } = await report("Done.", async (sinceMs) => (sinceMs < 3_000 ? ["a.ts"] : []));
    expect(checks.map(({ name, isStale }) => [name, isStale])).toEqual([
      ["bun test", true],
      ["tsc --noEmit", false],
    ]);
  });

  test("is kept for the claims of later turns, but not shown again", async () => {
    const { ledger, run, report } = openLedger();
    run(2_000);
    ledger.beginTurn(5_000);
    expect(await report("All tests pass.")).toEqual({ checks: [], missing: [], unsupported: [] });
  });

  test("is what the runner said if its output was only filtered, and unknown if anything else decided", async () => {
    for (const [hides, output, expected] of [
      ["filter", GREEN, 0],
      ["filter", " 3 pass\n 1 fail\n", 1],
      ["filter", "", null],
      ["other", GREEN, null],
    ] as const) {
      const { run, report } = openLedger();
      run(2_000, output, 0, { ...TESTS, hides });
      expect((await report()).checks[0]?.exitCode).toBe(expected);
    }
  });

  test("satisfies a requirement only if it is green, whole and new", async () => {
    const { ledger, run, report } = openLedger();
    expect(findMissing(["tests", "types"], await report())).toEqual([
      "tests: nothing was run",
      "types: nothing was run",
    ]);
    run(2_000, GREEN, 0, { ...TESTS, name: "bun test -t a", part: "-t" });
    expect(findMissing(["tests"], await report())).toEqual([
      "tests: `bun test -t a` covered only a part (-t)",
    ]);
    run(3_000);
    expect(findMissing(["tests"], await report())).toEqual([]);
    ledger.noteEdit("a.ts", 4_000);
    expect(findMissing(["tests"], await report())[0]).toEndWith("ran before the last changes");
  });
});

test("files that matter and were changed after a time are found, whatever changed them", async () => {
  const root = makeTempDir();
  const write = (path: string, seconds: number) => {
    mkdirSync(join(root, path, ".."), { recursive: true });
    writeFileSync(join(root, path), "x");
    utimesSync(join(root, path), seconds, seconds);
  };
  const before = Date.now() - 60_000;
  for (const path of ["src/a.ts", "node_modules/b/b.js", "dist/c.js", "README.md", ".git/index", "d.py"])
    write(path, Date.now() / 1_000);
  expect((await findChangedSince(root, before)).sort()).toEqual(["d.py", "src/a.ts"]);
  expect(await findChangedSince(root, Date.now() + 60_000)).toEqual([]);
  expect(["a.ts", "docs/a.md", "dist/a.js", "a/node_modules/b.js"].map(matters)).toEqual([
    true,
    false,
    false,
    false,
  ]);
});

test("a file that was deleted after a time is found, and what programs make is not taken for one", async () => {
  const root = makeTempDir();
  mkdirSync(join(root, "src"));
  mkdirSync(join(root, "dist"));
  for (const path of ["src/a.ts", "src/b.ts", "dist/c.js"]) writeFileSync(join(root, path), "x");
  await Bun.sleep(20);
  const since = Date.now();
  await Bun.sleep(100);
  mkdirSync(join(root, "coverage"));
  writeFileSync(join(root, "README.md.part"), "x");
  renameSync(join(root, "README.md.part"), join(root, "README.md"));
  rmSync(join(root, "dist/c.js"));
  expect(await findChangedSince(root, since)).toEqual([]);
  rmSync(join(root, "src/a.ts"));
  expect(await findChangedSince(root, since)).toEqual(["src"]);
});
