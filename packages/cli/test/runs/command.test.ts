import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { existsSync, mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { runDiligent, startDiligent } from "../support/run-diligent.ts";
import { ScreenSession } from "../support/screen-session.ts";
import { sessionIds } from "../support/session-files.ts";
import { createTemporaryProject, type TemporaryProject } from "../support/temporary-project.ts";

let place: TemporaryProject;

beforeEach(() => {
  place = createTemporaryProject({ sandbox: "off" });
});

afterEach(() => place.remove());

const USAGE = { inputTokens: 1_000_000, outputTokens: 0 };
const WRITE = {
  toolCalls: [{ name: "write", input: { file_path: "made.txt", content: "x" } }],
  usage: USAGE,
};
const SLOW = { text: "Late.", delayMs: 60_000 };

function startSlow(...args: string[]) {
  const script = place.write("../script.json", {
    version: 1,
    price: { inputCostPer1M: 2, outputCostPer1M: 2 },
    turns: [WRITE, SLOW],
  });
  return { script, running: startDiligent(place, ["-m", `scripted/${script}`, ...args, "-p", "go"]) };
}

async function list(): Promise<Record<string, unknown>[]> {
  const { stdout, exitCode } = await runDiligent(place, ["runs", "--json"]);
  expect(exitCode).toBe(0);
  return JSON.parse(stdout);
}

async function untilExists(path: string): Promise<void> {
  while (!existsSync(path)) await Bun.sleep(5);
}

const made = () => untilExists(join(place.project, "made.txt"));
const records = () => readdirSync(join(place.home, ".local", "state", "diligent", "runs"));

describe("diligent runs", () => {
  test("lists a session while it runs, and stop ends it with everything saved", async () => {
    const { running, script } = startSlow();
    await made();
    const [id = ""] = sessionIds(place);
    expect(await list()).toEqual([
      {
        id,
        pid: running.process.pid,
        project: place.project,
        model: `scripted/${script}`,
        state: "working",
        cost: 2,
      },
    ]);
    const text = await runDiligent(place, ["runs"], { cwd: place.home });
    expect(text.stdout).toStartWith(
      `${id} · working · process ${running.process.pid} · less than a minute · $2.00 · `,
    );

    const stopped = await runDiligent(place, ["runs", "stop", id.slice(0, -2)]);
    expect([stopped.stdout, stopped.exitCode]).toEqual([`Stopped ${id}.\n`, 0]);
    expect((await running.ended).exitCode).toBe(143);
    expect([await list(), records()]).toEqual([[], []]);
    expect((await runDiligent(place, ["runs"])).stdout).toBe("No sessions are running.\n");
    const shown = await runDiligent(place, ["sessions", "show", id]);
    expect(shown.stdout).toContain("made.txt");
  });

  test("lists no session whose process was killed, and none that is not saved", async () => {
    const killed = startSlow();
    await made();
    killed.running.process.kill("SIGKILL");
    await killed.running.ended;
    expect(records()).toHaveLength(1);
    expect([await list(), records()]).toEqual([[], []]);
    const hidden = startSlow("--no-session");
    await hidden.running.shown("write: made.txt");
    expect(await list()).toEqual([]);
    hidden.running.process.kill("SIGTERM");
    await hidden.running.ended;
  });

  test("shows a session on the screen as idle, working and waiting, and stop ends the screen", async () => {
    const ask = { toolCalls: [{ name: "bash", input: { command: "touch made.txt" } }] };
    await using session = new ScreenSession({ place, turns: [ask, SLOW] });
    await session.opened();
    const states = async () => (await list()).map(({ state }) => state);
    // The record follows the screen within a moment.
    const becomes = async (state: string) => {
      while ((await states()).join() !== state) await Bun.sleep(20);
    };
    await becomes("idle");
    await session.say("go");
    await session.shows("touch made.txt");
    await becomes("waiting");
    await session.answer("touch made.txt", "y");
    await made();
    await becomes("working");
    const [run] = await list();
    const stopped = await runDiligent(place, ["runs", "stop", String(run?.id)]);
    expect(stopped.exitCode).toBe(0);
    expect(await session.program.exitCode).toBe(143);
    expect(await list()).toEqual([]);
  });

  test("ignores damaged records, and never ends a process by a number alone", async () => {
    const directory = join(place.home, ".local", "state", "diligent", "runs");
    mkdirSync(directory, { recursive: true });
    const bystander = Bun.spawn(["sleep", "60"]);
    const record = {
      id: "20260101000000-abcdef",
      project: "/p",
      model: "m",
      state: "idle",
      cost: 0,
      startedAtMs: 1,
    };
    const put = (name: string, content: unknown) =>
      writeFileSync(
        join(directory, `${name}.json`),
        typeof content === "string" ? content : JSON.stringify(content),
      );
    put("torn", '{"id":"2026');
    put("list", [1]);
    put("group", { ...record, process: { pid: -1 } });
    put("init", { ...record, process: { pid: 1 } });
    // The number of a process that has ended, which another one has now.
    put("reused", { ...record, process: { pid: bystander.pid, startTime: "1" } });
    const stopped = await runDiligent(place, ["runs", "stop", record.id]);
    expect([stopped.exitCode, await list(), bystander.exitCode]).toEqual([2, [], null]);
    bystander.kill();
  });

  test.each([
    [["stop"], "name a session"],
    [["stop", "none"], "no running session has the id none"],
    [["stop", "a", "b"], "unexpected argument b"],
    [["list", "x"], "unexpected argument x"],
    [["stopp"], "did you mean stop?"],
  ])("refuses %j with 2", async (args, reason) => {
    const { stderr, exitCode } = await runDiligent(place, ["runs", ...args]);
    expect(exitCode).toBe(2);
    expect(stderr).toContain(reason);
  });
});
