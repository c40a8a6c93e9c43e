import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { type WrittenKnowledge, writeKnowledge as writeInto } from "../support/knowledge-files.ts";
import { runDiligent } from "../support/run-diligent.ts";
import { runInTerminal } from "../support/run-in-terminal.ts";
import { createTemporaryProject, type TemporaryProject } from "../support/temporary-project.ts";

let place: TemporaryProject;

beforeEach(() => {
  place = createTemporaryProject();
});

afterEach(() => place.remove());

const SESSION = "20260225103000-abcdef";

function writeKnowledge(...entries: WrittenKnowledge[]): void {
  writeInto(place, ...entries);
}

async function run(...args: string[]) {
  const { stdout, stderr, exitCode } = await runDiligent(place, ["knowledge", ...args]);
  return { stdout, stderr, exitCode };
}

const out = (stdout: string) => ({ stdout, stderr: "", exitCode: 0 });

describe("knowledge list", () => {
  test("says so if there is no knowledge", async () => {
    expect(await run()).toEqual(out("No knowledge yet.\n"));
    expect(await run("list", "--json")).toEqual(out("[]\n"));
    expect(JSON.parse((await run("prune", "--json")).stdout)).toEqual({
      replaced: [],
      faded: [],
      isDryRun: false,
    });
  });

  test("shows the highest score first, with id, type, confidence, age, session and one line of content", async () => {
    writeKnowledge(
      { id: "aaaaaaaa", content: `Two\nlines. ${"word ".repeat(50)}`, daysAgo: 2, sessionId: SESSION },
      { id: "bbbbbbbb", content: "Never npm.", type: "correction", confidence: 1 },
      { id: "cccccccc", content: "Not any more." },
      { id: "dddddddd", content: "This instead.", daysAgo: 90, supersedes: "cccccccc" },
    );
    expect(await run()).toEqual(
      out(
        `bbbbbbbb  correction  1.00  1 minute ago\n    Never npm.\n` +
          `aaaaaaaa  pattern     0.80  2 days ago  session ${SESSION}\n    Two lines. ${"word ".repeat(16)}word…\n` +
          `dddddddd  pattern     0.80  3 months ago\n    This instead.\n` +
          "\n1 replaced entry is not listed; diligent knowledge prune removes them.\n",
      ),
    );
  });

  test("respects the width of the terminal", async () => {
    writeKnowledge({ id: "aaaaaaaa", content: "word ".repeat(50), sessionId: SESSION });
    const program = runInTerminal(place, ["knowledge"]);
    await program.shown("…");
    await program.exitCode;
    const lines = program.screen.trimEnd().split("\r\n");
    expect(lines.map((line) => line.length)).toEqual([71, 79]);
  });

  test("prints whole entries with their scores as JSON", async () => {
    writeKnowledge({ id: "aaaaaaaa", content: "Two\nlines.", tags: ["x"], mood: "good" });
    const [entry, ...others] = JSON.parse((await run("list", "--json")).stdout);
    expect([entry, others]).toEqual([
      {
        id: "aaaaaaaa",
        timestamp: expect.stringMatching(/Z$/),
        type: "pattern",
        content: "Two\nlines.",
        confidence: 0.8,
        tags: ["x"],
        mood: "good",
        score: expect.closeTo(0.8, 3),
        uses: 0,
      },
      [],
    ]);
  });

  test("marks entries that name a file that has changed since", async () => {
    place.write("src/a.ts", "new");
    const files = [{ path: "src/a.ts", hash: Bun.SHA256.hash("old", "hex") }];
    writeKnowledge({ id: "aaaaaaaa", content: "On a.ts.", daysAgo: 1, files });
    expect((await run()).stdout).toBe(
      "aaaaaaaa  pattern     0.80  1 day ago  possibly stale: src/a.ts has changed\n    On a.ts.\n" +
        "\n1 decision about a stale or contradicting entry waits for you: diligent knowledge review\n",
    );
    expect(JSON.parse((await run("--json")).stdout)).toMatchObject([{ changedFile: "src/a.ts" }]);
  });

  test("works from a directory inside the project, and with -C", async () => {
    writeKnowledge({ id: "aaaaaaaa", content: "Here." });
    mkdirSync(join(place.project, "sub"));
    const inside = await runDiligent(place, ["knowledge"], { cwd: join(place.project, "sub") });
    const named = await runDiligent(place, ["-C", place.project, "knowledge"], { cwd: place.home });
    expect([inside.stdout, named.stdout]).toEqual([expect.stringContaining("Here."), inside.stdout]);
  });
});
