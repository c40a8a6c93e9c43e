import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { textAnswer } from "../../../core/test/support/answers.ts";
import { startSseServer } from "../../../core/test/support/sse-server.ts";
import { parseLines, type RunningDiligent, runDiligent, startDiligent } from "../support/run-diligent.ts";
import { callAnswer } from "../support/service-answers.ts";
import { said, savedLines, savedMessages } from "../support/session-files.ts";
import { createTemporaryProject, type TemporaryProject } from "../support/temporary-project.ts";

let place: TemporaryProject;
const started: RunningDiligent[] = [];

beforeEach(() => {
  place = createTemporaryProject();
  place.write("a.txt", "the text of a\n");
  script("answer", ...Array.from({ length: 9 }, (_, index) => ({ text: `answer ${index}` })));
});

afterEach(() => {
  for (const { process } of started.splice(0)) process.kill("SIGKILL");
  place.remove();
});

function script(name: string, ...turns: object[]): void {
  place.write(`${name}.json`, { version: 1, turns });
}

function start(name: string, ...args: string[]): RunningDiligent {
  const options = ["-m", `scripted/${name}.json`, "--approval", "auto", "--output-format", "stream-json"];
  const running = startDiligent(place, ["-p", ...options, ...args]);
  started.push(running);
  return running;
}

/** The session's next request, and the verdict of a server that is as strict as the real one. */
async function continueOnServer() {
  await using server = await startSseServer({ events: textAnswer("Going on.") });
  const environment = { ANTHROPIC_API_KEY: "test-key", ANTHROPIC_BASE_URL: server.url };
  const args = ["-p", "-c", "-m", "claude-sonnet-5", "go on"];
  const { stdout, exitCode } = await runDiligent(place, args, { environment });
  expect([stdout, exitCode, server.problems]).toEqual(["Going on.\n", 0, []]);
  return JSON.stringify(server.requests[0]?.body);
}

const BASH = { name: "bash", input: { command: "touch began; sleep 2" } };
const READ = { name: "read", input: { file_path: "a.txt" } };
const SLOW = { chunkChars: 2, chunkDelayMs: 100 };

async function untilMade(name: string): Promise<void> {
  while (!existsSync(join(place.project, name))) await Bun.sleep(5);
}

describe("a signal before the first answer", () => {
  test.each([
    ["SIGINT", 130],
    ["SIGTERM", 143],
    ["SIGHUP", 129],
  ] as const)("%s leaves the prompt in the file, and the session can be continued", async (signal, code) => {
    script("slow", { delayMs: 60_000, text: "never" });
    const running = start("slow", "the prompt");
    await running.shown('"turn_start"');
    running.process.kill(signal);
    expect((await running.ended).exitCode).toBe(code);
    expect(said(savedMessages(place))).toEqual(["user: the prompt"]);
    expect((await start("answer", "-c", "and this").ended).exitCode).toBe(0);
    expect(said(savedMessages(place))).toEqual(["user: the prompt", "user: and this", "assistant: answer 0"]);
    await continueOnServer();
  });
});

describe("an interrupt", () => {
  const phases: Record<string, { turn: object; shown: string; file?: string; saved: string[] }> = {
    "while waiting": { turn: { delayMs: 60_000, text: "x" }, shown: '"turn_start"', saved: [] },
    "while it thinks": {
      turn: { thinking: "one two three four", ...SLOW },
      shown: '"thinking_delta"',
      saved: ["assistant"],
    },
    "while it speaks": {
      turn: { text: "one two three four", ...SLOW },
      shown: '"text_delta"',
      saved: ["assistant"],
    },
    "while a call is written": {
      turn: { toolCalls: [READ], ...SLOW },
      shown: '"tool_call_delta"',
      saved: [],
    },
    "while a call is written, behind a text": {
      turn: { text: "ab", toolCalls: [READ], ...SLOW },
      shown: '"tool_call_delta"',
      saved: ["assistant"],
    },
    "while a tool runs": {
      turn: { toolCalls: [BASH] },
      shown: '"tool_start"',
      file: "began",
      saved: ["assistant", "tool_result"],
    },
    "while the second of three tools runs": {
      turn: { toolCalls: [READ, BASH, READ] },
      shown: '"tool_end"',
      file: "began",
      saved: ["assistant", "tool_result", "tool_result", "tool_result"],
    },
  };
  for (const [phase, { turn, shown, file, saved }] of Object.entries(phases)) {
    test(`${phase} leaves a session that both kinds of provider can continue`, async () => {
      script("run", turn, { text: "never" });
      const running = start("run", "go");
      await running.shown(shown);
      if (file !== undefined) await untilMade(file);
      running.process.kill("SIGINT");
      expect((await running.ended).exitCode).toBe(130);
      expect(savedMessages(place).map(({ role }) => role)).toEqual(["user", ...saved]);
      expect((await start("answer", "-c", "again").ended).exitCode).toBe(0);
      await continueOnServer();
    });
  }
});

describe("SIGKILL", () => {
  test("while a tool runs: the next request is valid, and the model learns that the outcome is unknown", async () => {
    script("run", { thinking: "hm", text: "I begin.", toolCalls: [READ, BASH] }, { text: "never" });
    const running = start("run", "go");
    await untilMade("began");
    running.process.kill("SIGKILL");
    await running.ended;
    expect(savedMessages(place).map(({ role }) => role)).toEqual(["user", "assistant", "tool_result"]);
    expect((await start("answer", "-c", "on").ended).exitCode).toBe(0);
    const body = await continueOnServer();
    expect(body.match(/"tool_use_id"/g)).toHaveLength(2);
    expect(body).toContain("the text of a");
    expect(body).toContain("Whether it took effect is unknown");
  });

  test("during a later answer: everything before it is saved", async () => {
    await start("answer", "first").ended;
    script("run", { text: "never" }, { text: "one two three four five six", ...SLOW });
    const running = start("run", "-c", "second");
    await running.shown('"text_delta"');
    running.process.kill("SIGKILL");
    await running.ended;
    expect(said(savedMessages(place))).toEqual(["user: first", "assistant: answer 0", "user: second"]);
    await continueOnServer();
  });

  test("during a conversation with a real service: signed thinking and calls are sent back unchanged", async () => {
    const thinking = { text: "hm", signature: "signed" };
    const events = callAnswer({ id: "toolu_01", ...BASH, thinking });
    await using server = await startSseServer({ events });
    const running = startDiligent(place, ["-p", "-m", "claude-sonnet-5", "--approval", "auto", "go"], {
      environment: { ANTHROPIC_API_KEY: "test-key", ANTHROPIC_BASE_URL: server.url },
    });
    started.push(running);
    await untilMade("began");
    running.process.kill("SIGKILL");
    await running.ended;
    const body = await continueOnServer();
    expect([server.problems, body.includes('"signature":"signed"')]).toEqual([[], true]);
  });
});

test("two processes in one session both finish with a complete history, and both are notified", async () => {
  await start("answer", "first").ended;
  const search = (pattern: string) => ({ name: "grep", input: { pattern } });
  // Both have read the file before the first meeting, and have written to it before the second.
  const meet = (name: string, other: string, index: number) => ({
    name: "bash",
    input: { command: `touch ${name}${index}; until [ -e ${other}${index} ]; do sleep 0.02; done` },
  });
  const turns = (name: string, other: string) => [
    { text: "not played" },
    ...Array.from({ length: 5 }, (_, index) => ({
      text: `${name} ${index}`,
      // No two alike, so that they do not look like a loop.
      toolCalls: [
        index < 2 ? meet(name, other, index) : search(`${name}${index}`),
        { name: "glob", input: { pattern: `${name}${index}` } },
      ],
      delayMs: 60,
    })),
    { text: `${name} done` },
  ];
  script("left", ...turns("left", "right"));
  script("right", ...turns("right", "left"));
  const left = start("left", "-c", "prompt of left");
  const right = start("right", "-c", "prompt of right");
  const ends = await Promise.all([left.ended, right.ended]);
  expect(ends.map(({ exitCode }) => exitCode)).toEqual([0, 0]);
  for (const { stdout } of ends) {
    expect(parseLines(stdout).filter(({ code }) => code === "shared_session")).toHaveLength(1);
  }
  const lines = savedLines(place);
  for (const name of ["left", "right"]) {
    const history = said(branchTo(lines, `${name} done`));
    expect(history.slice(0, 2)).toEqual(["user: first", "assistant: answer 0"]);
    const own = history.filter((line) => line.startsWith(`assistant: ${name}`));
    expect(own).toEqual([0, 1, 2, 3, 4, "done"].map((index) => `assistant: ${name} ${index}`));
    expect(history).toContain(`user: prompt of ${name}`);
  }
  // 2 before, and for each: a change of model, a prompt, 5 replies with 2 results, a last text.
  expect(lines).toHaveLength(1 + 2 + 2 * (1 + 1 + 5 * 3 + 1));
  await continueOnServer();
});

/** The messages of the branch that ends with this text. */
function branchTo(lines: readonly Record<string, unknown>[], text: string) {
  const byId = new Map(lines.map((line) => [line.id, line]));
  const branch: Record<string, unknown>[] = [];
  let line = lines.find((each) => JSON.stringify(each.message)?.includes(`"${text}"`));
  for (; line; line = byId.get(line.parentId)) branch.unshift(line);
  return branch.flatMap(({ message }) => (isMessage(message) ? [message] : []));
}

function isMessage(value: unknown): value is { role: string } {
  return typeof value === "object" && value !== null && "role" in value;
}
