import { afterEach, describe, expect, test } from "bun:test";
import { mkdirSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { endAllProcesses } from "../../src/infrastructure/process/all-processes.ts";
import { findBoxProblem, makeBoxedProject } from "../support/boxed-project.ts";

const problem = await findBoxProblem();

afterEach(endAllProcesses);

describe.skipIf(problem !== undefined)("a protected file that a command creates", () => {
  test("is found in a directory whose name is not valid text", async () => {
    const place = await makeBoxedProject();
    const { output } = await place.run(
      "d=$(printf 'a\\377b'); mkdir -p $d/c; echo CANARY > $d/CLAUDE.md; echo CANARY > $d/c/.envrc; echo x > $d/other; echo CANARY > $(printf '.env.\\377')",
    );
    expect(output.match(/was moved to/g)).toHaveLength(3);
    const left = readdirSync(place.root, { recursive: true, encoding: "buffer" }).map((name) =>
      name.toString(),
    );
    expect(left.filter((name) => /CLAUDE|env/.test(name))).toEqual([]);
  });

  test("is found deep in an additional writable directory", async () => {
    let elsewhere = "";
    const writable: string[] = [];
    const place = await makeBoxedProject({
      writable,
      prepare({ top }) {
        elsewhere = join(top, "elsewhere");
        mkdirSync(join(elsewhere, "a/b/c"), { recursive: true });
        writable.push(elsewhere);
      },
    });
    const { output } = await place.run(`echo CANARY > ${elsewhere}/a/b/c/CLAUDE.md`);
    expect(output).toContain("CLAUDE.md was moved to");
    expect(readdirSync(join(elsewhere, "a/b/c"))).toEqual([]);
  });
});
