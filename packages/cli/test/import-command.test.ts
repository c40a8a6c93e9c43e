import { afterEach, beforeEach, expect, test } from "bun:test";
import { appendFileSync } from "node:fs";
import {
  writeClaudeCode,
  writeCodex,
  writeGemini,
  writeOpencode,
  writePi,
} from "../../core/test/support/foreign-fixtures.ts";
import { runDiligent } from "./support/run-diligent.ts";
import { createTemporaryProject, type TemporaryProject } from "./support/temporary-project.ts";

let place: TemporaryProject;

beforeEach(() => {
  place = createTemporaryProject();
});

afterEach(() => place.remove());

function run(...args: string[]) {
  return runDiligent(place, args, { environment: { TZ: "UTC" } });
}

const WRITE: Readonly<Record<string, (place: TemporaryProject) => unknown>> = {
  "claude-code": writeClaudeCode,
  codex: writeCodex,
  pi: writePi,
  opencode: writeOpencode,
  gemini: writeGemini,
};

test.each(Object.keys(WRITE))(
  "a session of %s is imported, continued with another model, and exported",
  async (agent) => {
    WRITE[agent]?.(place);
    const { stdout, stderr, exitCode } = await run("import", agent, "--json");
    expect({ stderr, exitCode }).toEqual({ stderr: "", exitCode: 0 });
    const sessions: { id: string; source: string; messages: number; toolCalls: number; skipped: object }[] =
      JSON.parse(stdout);
    const [session] = sessions;
    expect(Object.keys(session ?? {}).sort()).toEqual(["id", "messages", "skipped", "source", "toolCalls"]);
    const id = session?.id ?? "";
    expect((await run("--list")).stdout).toContain("(");
    // The scripted model refuses a request that a provider would refuse.
    place.write("script.json", {
      version: 1,
      turns: [...Array(9).fill({ text: "wrong turn" }), { text: "Continued." }],
    });
    const continued = await run(
      "-p",
      "go on from here",
      "-c",
      id,
      "-m",
      "scripted/script.json",
      "--output-format",
      "json",
    );
    expect(JSON.parse(continued.stdout)).toMatchObject({ sessionId: id, stopReason: "end_turn" });
    const document = (await run("export", id)).stdout;
    expect(document).toContain("The quote is missing.");
    expect(document).toContain("go on from here");
  },
);

test("an import without sessions says so, and an unknown agent is a usage error with the nearest name", async () => {
  expect(await run("import", "pi")).toMatchObject({ stdout: "No sessions found.\n", exitCode: 0 });
  expect(await run("import", "codx")).toMatchObject({
    stderr: "diligent: import: unknown agent codx (did you mean codex?)\n",
    exitCode: 2,
  });
  expect((await run("import")).exitCode).toBe(2);
  expect((await run("import", "pi", "missing.jsonl")).exitCode).toBe(2);
});

test("an import prints the id, the counts and what it skipped", async () => {
  writeCodex(place);
  const { stdout } = await run("import", "codex");
  expect(stdout).toMatch(
    /^20260501100000-[0-9a-f]{12} \(9 messages; 3 tool calls; skipped: .*compacted 1.*result_without_call 1.*\)\n$/,
  );
});

test("an imported session that was continued here stays where it is when the other agent continues it, too", async () => {
  const path = writeCodex(place);
  const [session] = JSON.parse((await run("import", "codex", "--json")).stdout);
  const turns = Array(9).fill({ text: "Continued." });
  place.write("script.json", { version: 1, turns });
  const proceed = (prompt: string) => run("-p", prompt, "-c", session.id, "-m", "scripted/script.json");
  expect((await proceed("go on from here")).exitCode).toBe(0);
  const content = [{ type: "input_text", text: "said there" }];
  const payload = { type: "message", role: "user", content };
  const line = { timestamp: "2026-05-01T11:00:00Z", type: "response_item", payload };
  appendFileSync(path, `\n${JSON.stringify(line)}\n`);
  expect((await run("import", "codex")).stdout).toContain(
    "; updated on another branch, because you have continued it here: see /tree;",
  );
  expect((await run("import", "codex")).stdout).toContain("; unchanged;");
  const shown = (await run("sessions", "show", session.id)).stdout;
  expect(shown).toContain("go on from here");
  expect(shown).not.toContain("said there");
  expect((await proceed("and further")).exitCode).toBe(0);
  expect((await run("sessions", "show", session.id)).stdout).toMatch(/go on from here.*and further/s);
});
