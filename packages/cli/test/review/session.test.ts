import { expect, test } from "bun:test";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { git } from "../../../core/test/support/git-repository.ts";
import { runDiligent } from "../support/run-diligent.ts";
import { ScreenSession } from "../support/screen-session.ts";
import { sessionIds } from "../support/session-files.ts";
import { createTemporaryProject, type TemporaryProject } from "../support/temporary-project.ts";

const FINDING = { file: "a.txt", line: 1, severity: "error", message: "Wrong\u001b[31m word." };
const ANSWER = JSON.stringify({ findings: [FINDING] });
const WRITE = { toolCalls: [{ name: "write", input: { file_path: "made.txt", content: "x" } }] };

function createChangedProject(): TemporaryProject {
  const place = createTemporaryProject({ sandbox: "off" });
  git(place.project, "init", "-q");
  place.write(".git/info/exclude", "script.json\n");
  place.write("a.txt", "old\n");
  git(place.project, "add", "-A");
  git(place.project, "commit", "-qm", "first");
  place.write("a.txt", "new\n");
  return place;
}

/** Of the session and of its reviewer. */
function readSessions(place: TemporaryProject): string {
  const directory = join(place.project, ".diligent", "sessions");
  return sessionIds(place)
    .map((id) => readFileSync(join(directory, `${id}.jsonl`), "utf8"))
    .join("");
}

test("/review on the screen lets a reviewer look that cannot write, and the session's model gets the findings", async () => {
  const place = createChangedProject();
  try {
    await using session = new ScreenSession({ place, turns: [WRITE, ANSWER, "One finding.", "Fixed."] });
    await session.opened();
    await session.say("/review");
    await session.shows("One finding.");
    expect(existsSync(join(place.project, "made.txt"))).toBe(false);
    await session.say("/agents");
    await session.shows("Review the uncommitted changes");
    await session.say("fix it");
    await session.shows("Fixed.");
    const saved = readSessions(place);
    expect(saved).toContain("  1. error, a.txt:1: Wrong\\u001b[31m word.");
    expect(saved).toContain(
      '"name":"task","input":{"description":"Review the uncommitted changes (1 file)."',
    );
  } finally {
    place.remove();
  }
});

test("/review works in print mode, too, and sends nothing if there is nothing to review", async () => {
  const place = createChangedProject();
  try {
    const play = (turns: readonly object[], prompt: string) => {
      const script = place.write("../script.json", { version: 1, turns });
      return runDiligent(place, ["-m", `scripted/${script}`, "-p", prompt]);
    };
    const found = await play([{ text: ANSWER }, { text: "One finding." }], "/review HEAD");
    expect([found.stdout, found.exitCode]).toEqual(["One finding.\n", 0]);
    const asked = await play(
      [{ text: "Looks bad." }, { text: ANSWER }, { text: "One finding." }],
      "/review HEAD",
    );
    expect([asked.stdout, asked.exitCode]).toEqual(["One finding.\n", 0]);
    const none = await play([], "/review --staged");
    expect([none.stdout, none.exitCode]).toEqual(["", 2]);
    expect(none.stderr).toContain("There is nothing to review in the staged changes.");
    const wrong = await play([], "/review no-such-ref");
    expect([wrong.stdout, wrong.exitCode]).toEqual(["", 2]);
    expect(wrong.stderr).toContain("no-such-ref");
  } finally {
    place.remove();
  }
});

test("what the reviewer of /review uses is in the totals of the run, and under its limit of costs", async () => {
  const place = createChangedProject();
  try {
    const usage = { outputTokens: 0, cacheReadTokens: 0, cacheWriteTokens: 0 };
    // A dollar a token.
    const price = { inputCostPer1M: 1e6, outputCostPer1M: 1e6 };
    const turns = [
      { text: ANSWER, usage: { ...usage, inputTokens: 3 } },
      { text: "One finding.", usage: { ...usage, inputTokens: 2 } },
    ];
    const script = place.write("../script.json", { version: 1, price, turns });
    const run = async (...args: string[]) => {
      const ended = await runDiligent(place, [
        ...["-m", `scripted/${script}`, "-p", "/review HEAD", "--output-format", "json", ...args],
      ]);
      const { result, cost, usage: used, stopReason } = JSON.parse(ended.stdout);
      return { result, cost, inputTokens: used.inputTokens, stopReason, exitCode: ended.exitCode };
    };
    const inputTokens = 5;
    expect(await run()).toEqual({
      ...{ result: "One finding.", cost: 5, inputTokens, stopReason: "end_turn", exitCode: 0 },
    });
    expect(await run("--max-cost", "3")).toMatchObject({ cost: 3, stopReason: "max_cost", exitCode: 3 });
  } finally {
    place.remove();
  }
});
