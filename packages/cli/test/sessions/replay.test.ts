import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { existsSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { startSseServer } from "../../../core/test/support/sse-server.ts";
import { runDiligent, startDiligent } from "../support/run-diligent.ts";
import { sessionIds } from "../support/session-files.ts";
import { createTemporaryProject, type TemporaryProject } from "../support/temporary-project.ts";
import { ANTHROPIC_SERVICE, environmentFor, wholeReply } from "../support/vendor-service.ts";

let place: TemporaryProject;

// Of the form of a key that services are called with, and of no service.
const TOKEN = `ghp_${"16C7e42F292c6912E7710c838347Ae178B4a"}`;

beforeEach(() => {
  place = createTemporaryProject();
  place.configure({ record: true, sandbox: "off" });
  place.write("a.txt", `first\nsecond\ntoken = ${TOKEN}\n`);
});

afterEach(() => place.remove());

const recordOf = (id: string | undefined) =>
  join(place.project, ".diligent", "sessions", "records", `${id}.jsonl`);

const READ = { id: "toolu_1", name: "read", input: { file_path: "a.txt" } };
const TASK = {
  id: "toolu_2",
  name: "task",
  input: { description: "look", prompt: "Look at a.txt.", agent: "explore" },
};

describe("diligent replay", () => {
  test("replays a session of a server's model, its sub-agent and its second opening, with the server gone", async () => {
    const environment = await recordWithServer();
    const { stdout, stderr, exitCode } = await runDiligent(place, ["replay"], { environment });
    expect([stderr, exitCode]).toEqual(["", 0]);
    expect(stdout).toMatch(
      /^Equal: \S+, \d+ events in 2 openings, hash [0-9a-f]{16}\nEqual: \S+ \(explore\), \d+ events, hash [0-9a-f]{16}\n$/,
    );
    const listed = await runDiligent(place, ["replay", "1", "--json"], { environment });
    expect(JSON.parse(listed.stdout)).toEqual([
      expect.objectContaining({ openings: 2, events: expect.any(Number), hash: expect.any(String) }),
      expect.objectContaining({ agent: "explore", openings: 1 }),
    ]);
  });

  test("keeps the record beside the session, private, unseen by git and without secrets", async () => {
    const environment = await recordWithServer();
    const [id] = mainSessions();
    const record = recordOf(id);
    expect(statSync(record).mode & 0o777).toBe(0o600);
    expect(readFileSync(record, "utf8")).not.toContain(environment.ANTHROPIC_API_KEY ?? "none");
    expect(readFileSync(record, "utf8")).not.toContain(TOKEN);
    expect(readFileSync(record, "utf8")).toContain("second");
    Bun.spawnSync(["git", "init", "--quiet"], { cwd: place.project });
    const status = Bun.spawnSync(["git", "status", "--porcelain", "--untracked-files=all"], {
      cwd: place.project,
    });
    expect(status.stdout.toString()).not.toContain("records");
    await runDiligent(place, ["sessions", "rm", id ?? "", "--yes"]);
    expect(existsSync(record)).toBe(false);
  });

  test("exits 1 with the first difference, and 2 with a damaged record", async () => {
    await recordWithServer();
    const [id] = mainSessions();
    const record = recordOf(id);
    const text = readFileSync(record, "utf8");
    writeFileSync(record, text.replace("first\\n", "other\\n"));
    const different = await runDiligent(place, ["replay"]);
    expect(different.exitCode).toBe(1);
    expect(different.stdout).toMatch(/^Different: \S+, at event \d+, line \d+ of the record\n {2}recorded: /);
    expect(different.stdout).toContain('{"type":"tool_end"');
    writeFileSync(record, text.replace('{"t":"out"', '{"t":'));
    const damaged = await runDiligent(place, ["replay"]);
    expect([damaged.exitCode, damaged.stdout]).toEqual([2, ""]);
    expect(damaged.stderr).toMatch(/^diligent: replay: line \d+ of \S+ is damaged\n$/);
  });

  test("exits 2 without a record", async () => {
    const script = place.write("script.json", { version: 1, turns: [{ text: "Hello." }] });
    place.configure({ sandbox: "off", record: false });
    await runDiligent(place, ["-p", "-m", `scripted/${script}`, "hello"]);
    for (const args of [["replay"], ["replay", "nobody"], ["replay", "1", "2"], ["replay", "--fast"]])
      expect([args, (await runDiligent(place, args)).exitCode]).toEqual([args, 2]);
  });

  test("replays a run that was interrupted in the middle of a command, and one that was killed", async () => {
    const command = "echo begun; sleep 30";
    const turns = [
      { text: "Running.", toolCalls: [{ name: "bash", input: { command } }] },
      { text: "Done." },
    ];
    const script = place.write("script.json", { version: 1, turns });
    for (const signal of ["SIGINT", "SIGKILL"] as const) {
      const args = [
        "-p",
        "-m",
        `scripted/${script}`,
        "--approval",
        "auto",
        "--output-format",
        "stream-json",
        "go",
      ];
      const running = startDiligent(place, args);
      await running.shown('"partialResult":"begun');
      running.process.kill(signal);
      await running.ended;
      const { stdout, exitCode } = await runDiligent(place, ["replay"]);
      expect([stdout, exitCode]).toEqual([expect.stringMatching(/^Equal: /), 0]);
      expect(stdout.includes("The record is not complete: the program was killed")).toBe(
        signal === "SIGKILL",
      );
    }
  });
});

/** The sessions that are not those of sub-agents. */
function mainSessions(): string[] {
  const sessions = join(place.project, ".diligent", "sessions");
  return sessionIds(place).filter((id) => {
    const [header = "{}"] = readFileSync(join(sessions, `${id}.jsonl`), "utf8").split("\n");
    return JSON.parse(header).agent === undefined;
  });
}

/** A session with a sub-agent that is continued once. */
async function recordWithServer(): Promise<Record<string, string>> {
  const say = (text: string, ...calls: (typeof READ | typeof TASK)[]) =>
    wholeReply(ANTHROPIC_SERVICE, { text, calls });
  await using server = await startSseServer(
    say("Reading.", READ),
    say("Asking.", TASK),
    say("I look.", { ...READ, id: "toolu_3" }),
    say("It has two lines."),
    say("Done."),
    say("Again."),
  );
  const environment = {
    ...environmentFor(ANTHROPIC_SERVICE, server.url),
    ANTHROPIC_API_KEY: "sk-ant-4f9Qe81LwZ07",
  };
  for (const args of [
    ["-p", "look"],
    ["-p", "-c", "--", "again"],
  ])
    expect((await runDiligent(place, args, { environment })).exitCode).toBe(0);
  return environment;
}
