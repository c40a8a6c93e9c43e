import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { appendFileSync, readFileSync } from "node:fs";
import { summaryOf } from "../../../core/test/support/summaries.ts";
import {
  ANTHROPIC,
  type CountingModel,
  type CountingServer,
  configureModel,
  OPENAI,
  startCountingServer,
} from "../support/counting-service.ts";
import { LONG_SESSION, writeLongSession } from "../support/long-session.ts";
import { runDiligent, startDiligent } from "../support/run-diligent.ts";
import { entryTypes, savedLines, sessionIds } from "../support/session-files.ts";
import { createTemporaryProject, type TemporaryProject } from "../support/temporary-project.ts";

let place: TemporaryProject;

beforeEach(() => {
  place = createTemporaryProject();
});

afterEach(() => place.remove());

// The prompt and the tools take about 2,000 tokens, and a quarter of the window is kept free.
const WINDOW = 10_000;
const LONG = { turns: 4, charactersPerMessage: 3_000 };

async function serve(model: Partial<CountingModel> = {}, service = ANTHROPIC): Promise<CountingServer> {
  const server = await startCountingServer(service, { window: WINDOW, answer: () => "All right.", ...model });
  configureModel(place, service, server, { limits: { contextWindow: WINDOW, maxOutputTokens: 1_000 } });
  return server;
}

async function say(...args: string[]): Promise<void> {
  const { stdout, stderr, exitCode } = await runDiligent(place, ["-p", ...args]);
  expect([stdout, exitCode, stderr]).toEqual(["All right.\n", 0, expect.any(String)]);
}

/** The messages of the last request; a summary comes first. */
function lastMessages({ turns, problems, refused }: CountingServer): string[] {
  expect([problems, refused]).toEqual([[], 0]);
  const messages = turns.at(-1)?.messages ?? [];
  expect(messages[0]?.slice(0, 25)).toBe("[Session Summary]\n## Goal");
  return messages;
}

const entriesOf = (type: string, id?: string) => savedLines(place, id).filter((line) => line.type === type);

describe("a compacted session", () => {
  test("continues with exactly the messages of its last request", async () => {
    writeLongSession(place, OPENAI.model, LONG);
    await using server = await serve({}, OPENAI);
    await say("-c", "and now?");
    const before = lastMessages(server);
    await say("-c", "go on");
    expect(lastMessages(server)).toEqual([...before, "All right.", "go on"]);
    expect(server.summaries).toHaveLength(1);
  });

  test("is forked with its summary and stays unchanged", async () => {
    const path = writeLongSession(place, OPENAI.model, LONG);
    await using server = await serve({}, OPENAI);
    await say("-c", "and now?");
    const [before, file] = [lastMessages(server), readFileSync(path, "utf8")];
    await say("--fork", LONG_SESSION, "try the other way");
    expect(lastMessages(server)).toEqual([...before, "All right.", "try the other way"]);
    expect(readFileSync(path, "utf8")).toBe(file);
    const fork = sessionIds(place).find((id) => id !== LONG_SESSION);
    expect(savedLines(place, fork)[0]).toMatchObject({ id: fork, parentSession: LONG_SESSION });
    expect(entriesOf("compaction", fork)).toHaveLength(1);
  });

  test("is listed with the count of all its messages and its first prompt", async () => {
    writeLongSession(place, ANTHROPIC.model, LONG);
    const list = async () => (await runDiligent(place, ["--list"])).stdout;
    expect(await list()).toContain("] question 0: the lexer knows numbers");
    expect(await list()).toContain("(8 messages)\n");
    await using server = await serve();
    await say("-c", "and now?");
    expect(server.summaries).toHaveLength(1);
    expect(await list()).toMatch(/^Sessions:\n {2}1\. \[.{16}\] question 0: .{47}… \(10 messages\)\n$/);
  });

  test("of version 1 is compacted in its own file, whose lines stay as they are", async () => {
    const path = writeLongSession(place, OPENAI.model, { ...LONG, version: 1 });
    const before = readFileSync(path, "utf8");
    await using server = await serve({}, OPENAI);
    await say("-c", "and now?");
    await say("-c", "go on");
    expect(lastMessages(server).at(-1)).toBe("go on");
    expect(readFileSync(path, "utf8")).toStartWith(before);
    expect(entryTypes(place).slice(9)).toEqual(["message", "compaction", "message", "message", "message"]);
  });
});

test("passes the summary of each compaction to the next, and only the last one is in the request", async () => {
  await using server = await serve({ summarize: () => summaryOf(`goal ${server.summaries.length}`) });
  for (let run = 0; run < 6; run++) {
    await say(...(run === 0 ? [] : ["-c"]), `prompt ${run}: ${"the lexer knows numbers ".repeat(500)}`);
  }
  const goals = entriesOf("compaction").map(({ summary }) => /goal \d/.exec(String(summary))?.[0]);
  expect(goals.length).toBeGreaterThanOrEqual(3);
  expect(goals).toEqual(goals.map((_, index) => `goal ${index + 1}`));
  const told = server.summaries.map(({ messages }) =>
    /<previous-summary>\n## Goal\n(goal \d)/.exec(messages[0] ?? ""),
  );
  expect(told.map((match) => match?.[1])).toEqual([undefined, ...goals.slice(0, -1)]);
  const [first = ""] = lastMessages(server);
  expect(first.match(/goal \d/g)).toEqual([`goal ${goals.length}`]);
  // No message of the user is forgotten, whenever it was summarized.
  expect(first).toContain("<user-message>\nprompt 0: the lexer knows numbers");
});

describe("a call without a result", () => {
  const call = (id: string, parentId: string) => ({
    type: "message",
    id,
    parentId,
    timestamp: "2026-02-25T10:30:00.000Z",
    message: {
      role: "assistant",
      content: [{ type: "tool_call", id: `toolu_${id}`, name: "bash", input: { command: "make" } }],
      model: ANTHROPIC.model,
      usage: { inputTokens: 1, outputTokens: 1, cacheReadTokens: 0, cacheWriteTokens: 0 },
      stopReason: "tool_use",
      timestamp: 1,
    },
  });

  test("gets one if its turn broke off before the session is compacted and continued", async () => {
    const path = writeLongSession(place, ANTHROPIC.model, LONG);
    appendFileSync(path, `${JSON.stringify(call("000000aa", "00000007"))}\n`);
    await using server = await serve();
    const { exitCode } = await runDiligent(place, ["sessions", "compact", "1"]);
    expect(exitCode).toBe(0);
    await say("-c", "and now?");
    const messages = lastMessages(server).join("\n");
    expect(messages.match(/"command":"make"/g) ?? []).toHaveLength(1);
    expect(messages).toMatch(/interrupted|unknown/i);
  });

  test("gets one if it was interrupted before the next prompt is compacted", async () => {
    writeLongSession(place, ANTHROPIC.model, { ...LONG, turns: 3 });
    let asked = 0;
    await using server = await serve({
      answer: () => {
        const calls = [{ id: "toolu_1", name: "bash", input: { command: "touch began; sleep 30" } }];
        return asked++ === 0 ? { text: "Wait.", calls } : "All right.";
      },
    });
    const running = startDiligent(place, ["-c", "-p", "--approval", "auto", "run it"]);
    while (!(await Bun.file(`${place.project}/began`).exists())) await Bun.sleep(5);
    running.process.kill("SIGINT");
    expect((await running.ended).exitCode).toBe(130);
    await say("-c", `and now? ${"the lexer knows numbers ".repeat(200)}`);
    expect(server.summaries).toHaveLength(1);
    expect(lastMessages(server).join("\n")).toMatch(/interrupted/i);
    expect(entryTypes(place).slice(-3)).toEqual(["message", "compaction", "message"]);
  });
});
