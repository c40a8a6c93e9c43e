import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { BUSY_MS } from "../../../core/test/support/busy-machine.ts";
import { GOOD_SUMMARY } from "../../../core/test/support/summaries.ts";
import { writeLongSession } from "../support/long-session.ts";
import { type RunningDiligent, runDiligent, startDiligent } from "../support/run-diligent.ts";
import { savedLines } from "../support/session-files.ts";
import { createTemporaryProject, type TemporaryProject } from "../support/temporary-project.ts";

const WAITING = "Another process is compacting this session; waiting…\n";
const NOTHING = "Nothing to summarize in this session yet.\n";
const SUMMARY_MS = 1_800;

let place: TemporaryProject;
let path: string;

beforeEach(() => {
  place = createTemporaryProject();
  path = writeLongSession(place, "scripted/script.json", { turns: 6, charactersPerMessage: 2_000 });
  script("slow", SUMMARY_MS);
  script("never", 60_000);
  script("quick", 0);
});

afterEach(() => place.remove());

/** The seventh reply is the first one after resuming a session of six turns. */
function script(name: string, delayMs: number): void {
  const turns = Array.from({ length: 8 }, (_, index) => ({ text: index < 6 ? "not played" : "answer" }));
  const summaries = Array.from({ length: 3 }, () => ({ delayMs, text: GOOD_SUMMARY }));
  place.write(`${name}.json`, { version: 1, turns, summaries });
}

const start = (name: string, ...args: string[]) =>
  startDiligent(place, [...args, "-m", `scripted/${name}.json`]);

const locks = () => {
  const directory = join(place.home, ".local", "state", "diligent", "locks");
  return existsSync(directory) ? readdirSync(directory).map((name) => join(directory, name)) : [];
};

/** A compaction that another process has started and whose lock it holds. */
async function startHolder(name: string): Promise<RunningDiligent> {
  const holder = start(name, "sessions", "compact", "1");
  await holder.shown("Compacting context");
  expect(locks()).toHaveLength(1);
  return holder;
}

interface Line {
  type: unknown;
  id: unknown;
  parentId: unknown;
}

/** The types of the entries from the file's last one back to the first. */
function lastPath(): unknown[] {
  const lines: Line[] = savedLines(place).map(({ type, id, parentId }) => ({ type, id, parentId }));
  const found: unknown[] = [];
  for (let line = lines.at(-1); line; line = lines.find(({ id }) => id === line?.parentId))
    found.unshift(line.type);
  return found;
}

const compactions = () => savedLines(place).filter(({ type }) => type === "compaction");
const MESSAGES = Array.from({ length: 12 }, () => "message");

test("a lock is private, and removed when the compaction has ended", async () => {
  const holder = await startHolder("slow");
  expect(locks().map((lock) => statSync(lock).mode & 0o777)).toEqual([0o600]);
  expect(statSync(join(place.home, ".local", "state", "diligent", "locks")).mode & 0o777).toBe(0o700);
  expect((await holder.ended).exitCode).toBe(0);
  expect(locks()).toEqual([]);
});

test("the second of two concurrent compactions waits, says so, and sends no request", async () => {
  const first = await startHolder("slow");
  first.process.kill("SIGSTOP");
  const second = start("quick", "sessions", "compact", "1");
  await second.shown(WAITING);
  expect([compactions().length, first.process.exitCode]).toEqual([0, null]);
  first.process.kill("SIGCONT");
  const ends = await Promise.all([first.ended, second.ended]);
  expect(ends.map(({ exitCode }) => exitCode)).toEqual([0, 0]);
  expect(ends[1].stderr).toEndWith(NOTHING);
  expect(lastPath()).toEqual([...MESSAGES, "compaction"]);
  expect(compactions()).toHaveLength(1);
  expect(ends[1].stderr.split(WAITING)).toHaveLength(2);
  expect(locks()).toEqual([]);
});

test("a prompt sent during a compaction is answered afterwards, from the summary", async () => {
  const holder = await startHolder("slow");
  holder.process.kill("SIGSTOP");
  const prompt = start("quick", "-p", "--verbose", "-c", "the new prompt");
  await prompt.shown(WAITING);
  expect(readFileSync(path, "utf8")).not.toContain("the new prompt");
  holder.process.kill("SIGCONT");
  const ends = await Promise.all([holder.ended, prompt.ended]);
  expect(ends.map(({ exitCode }) => exitCode)).toEqual([0, 0]);
  expect(lastPath()).toEqual([...MESSAGES, "compaction", "model_change", "message", "message"]);
  const [, log = ""] = /logged in (.*)\n/.exec(ends[1].stderr) ?? [];
  const [request = ""] = readFileSync(log, "utf8").split("\n");
  expect(request).toContain("[Session Summary]");
  expect(request).toContain("the new prompt");
  expect(ends[1].stderr).not.toContain("writing to this session too");
});

describe("the lock of a killed compaction", () => {
  test("blocks nobody", async () => {
    const holder = await startHolder("never");
    holder.process.kill("SIGKILL");
    await holder.ended;
    expect(locks()).toHaveLength(1);
    const { stderr, exitCode } = await start("quick", "sessions", "compact", "1").ended;
    expect([exitCode, stderr.includes(WAITING), compactions().length]).toEqual([0, false, 1]);
    expect(locks()).toEqual([]);
  });

  test("is released for processes that already wait for it", async () => {
    const holder = await startHolder("never");
    const waiting = [start("quick", "sessions", "compact", "1"), start("quick", "-p", "-c", "go")];
    await Promise.all(waiting.map((each) => each.shown(WAITING)));
    holder.process.kill("SIGKILL");
    const ends = await Promise.all(waiting.map(({ ended }) => ended));
    expect(ends.map(({ exitCode }) => exitCode)).toEqual([0, 0]);
    expect(locks()).toEqual([]);
  });
});

test.each([
  { args: ["sessions", "compact", "1"], isKept: false },
  { args: ["-p", "-c", "the prompt"], isKept: true },
])("a signal ends the wait for a lock: %p", async ({ args, isKept }) => {
  const holder = await startHolder("never");
  const before = readFileSync(path, "utf8");
  const waiting = start("quick", ...args);
  await waiting.shown(WAITING);
  waiting.process.kill("SIGINT");
  const { exitCode, durationMs } = await waiting.ended;
  expect(exitCode).toBe(130);
  expect(durationMs).toBeLessThan(4_000 + BUSY_MS);
  const added = readFileSync(path, "utf8").slice(before.length);
  expect(added.includes("the prompt")).toBe(isKept);
  holder.process.kill("SIGINT");
  expect((await holder.ended).exitCode).toBe(130);
  expect(locks()).toEqual([]);
});

test("a session that is not on disk needs no lock", async () => {
  await start("quick", "-p", "--no-session", "-c", "go").ended;
  await start("quick", "-p", "go").ended;
  expect(existsSync(join(place.home, ".local", "state", "diligent", "locks"))).toBe(false);
  expect(await runDiligent(place, ["sessions", "list"])).toMatchObject({ exitCode: 0 });
});
