import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { GOOD_SUMMARY } from "../../../core/test/support/summaries.ts";
import { type AskedRequest, isFlush } from "../support/asked-request.ts";
import {
  type CountingModel,
  type CountingServer,
  configureModel,
  OPENAI,
  startCountingServer,
} from "../support/counting-service.ts";
import { writeLongSession } from "../support/long-session.ts";
import { parseLines, runDiligent } from "../support/run-diligent.ts";
import { entryTypes, savedMessages, writeSession } from "../support/session-files.ts";
import { createTemporaryProject, type TemporaryProject } from "../support/temporary-project.ts";

let place: TemporaryProject;

beforeEach(() => {
  place = createTemporaryProject();
  writeLongSession(place, OPENAI.model, { turns: 4, charactersPerMessage: 3_000 });
});

afterEach(() => place.remove());

// Small enough for the session to be summarized before the next request.
const LIMITS = { contextWindow: 10_000, maxOutputTokens: 1_000 };
// For a request with fewer tools.
const SMALL = { ...LIMITS, contextWindow: 9_000 };
const NOT_FLUSHING = { flushBeforeCompaction: false };
const ITEMS = [
  { type: "decision", content: "The lexer knows numbers, since the grammar says so." },
  { type: "preference", content: "Tests first." },
];
const SAVING = {
  text: "Here is what I found worth keeping.",
  calls: ITEMS.map((input, index) => ({ id: `call_${index}`, name: "add_knowledge", input })),
};

async function serve(flush: CountingModel["answer"], config: object = {}): Promise<CountingServer> {
  const answer = (request: AskedRequest) => (isFlush(request) ? flush(request) : "All right.");
  const server = await startCountingServer(OPENAI, { window: 200_000, answer });
  configureModel(place, OPENAI, server, { limits: LIMITS, knowledge: {}, ...config });
  return server;
}

const say = (...args: string[]) => runDiligent(place, ["-c", "-p", "and now?", ...args]);

/** The purpose of each request. */
const kinds = ({ asked }: CountingServer) =>
  asked.map((request) => (request.isSummary ? "summary" : isFlush(request) ? "flush" : "turn"));

function savedKnowledge(): unknown[] {
  const path = join(place.project, ".diligent", "knowledge", "knowledge.jsonl");
  return existsSync(path) ? parseLines(readFileSync(path, "utf8")) : [];
}

describe("the knowledge request before a compaction", () => {
  test("is one additional request, of which only the saved knowledge is shown and kept", async () => {
    await using server = await serve(() => SAVING);
    const { stdout, stderr, exitCode } = await say();
    expect([stdout, exitCode]).toEqual(["All right.\n", 0]);
    expect(kinds(server)).toEqual(["flush", "summary", "turn"]);
    expect(savedKnowledge()).toMatchObject(ITEMS);
    for (const { content } of ITEMS) expect(stderr).toContain(`💡 Knowledge saved: ${content}\n`);
    expect(stdout + stderr).not.toContain("worth keeping");
    expect(entryTypes(place).slice(9)).toEqual(["message", "compaction", "message"]);
    expect(JSON.stringify(savedMessages(place))).not.toMatch(
      /worth keeping|about to be replaced|add_knowledge/,
    );
    expect(server.problems).toEqual([]);
  });

  test("equals the next request, and the saved knowledge is in the prompt of that request", async () => {
    await using server = await serve(() => SAVING);
    await say();
    const [flush, , turn] = server.asked;
    expect(flush?.messages.slice(0, -1)).toEqual(savedMessages(place).slice(0, 9).map(toText));
    // After the compaction there is something to recall.
    expect([...(flush?.tools ?? []), "recall"]).toEqual(turn?.tools ?? []);
    expect(flush?.model).toBe(turn?.model);
    expect(flush?.system).not.toContain("Tests first.");
    expect(turn?.system).toContain("- [preference] Tests first.");
  });

  test("is reported by stream-json before the compaction, and counted by json", async () => {
    const usage = { input: 100_000, output: 1_000 };
    await using server = await serve(() => ({ ...SAVING, usage }));
    const { stdout } = await say("--output-format", "stream-json");
    // The test does not depend on whether this machine has a sandbox; a connection is reported when it has ended.
    const lines = parseLines(stdout).filter(({ type, code }) => code !== "no_sandbox" && type !== "network");
    const types = lines.map(({ type }) => type).slice(4, 11);
    const saved = ["knowledge_saved", "knowledge_saved"];
    expect(types).toEqual(["usage", ...saved, "compaction_start", "usage", "compaction_end", "turn_start"]);
    expect(lines.filter(({ type }) => type === "knowledge_saved")).toEqual(
      ITEMS.map(({ content }) => ({ type: "knowledge_saved", knowledgeId: expect.any(String), content })),
    );
    const { usage: counted } = Object(lines.at(-1));
    expect(counted.inputTokens).toBe(
      100_000 + (server.asked[1]?.tokens ?? 0) + (server.asked[2]?.tokens ?? 0),
    );
  });
});

function toText({ content }: { content?: unknown }): string {
  if (typeof content === "string") return content;
  return Array.isArray(content) ? content.map(({ text }) => text).join("") : "";
}

describe("the knowledge request before a manual compaction", () => {
  const compact = () => runDiligent(place, ["sessions", "compact", "1"]);

  test("is sent, too", async () => {
    await using server = await serve(() => SAVING, { limits: undefined });
    const { stdout, stderr, exitCode } = await compact();
    expect([stdout, exitCode]).toEqual([`${GOOD_SUMMARY}\n`, 0]);
    expect(kinds(server)).toEqual(["flush", "summary"]);
    expect(savedKnowledge()).toMatchObject(ITEMS);
    for (const { content } of ITEMS) expect(stderr).toContain(`💡 Knowledge saved: ${content}\n`);
    expect(entryTypes(place).slice(9)).toEqual(["compaction"]);
    expect(server.problems).toEqual([]);
  });

  test("is not repeated if nothing was said since the last one", async () => {
    await using server = await serve(() => "none", { limits: undefined });
    await compact();
    await compact();
    expect(kinds(server)).toEqual(["flush", "summary", "summary"]);
    await say();
    await compact();
    expect(kinds(server).slice(3)).toEqual(["turn", "flush", "summary"]);
  });

  test("is not sent if there is nothing to summarize", async () => {
    writeSession(place, {
      id: "20260101000000-abcdef",
      modified: "2026-01-01T00:00:00.000Z",
      texts: ["hi", "Hello."],
      model: OPENAI.model,
    });
    await using server = await serve(() => "never", { limits: undefined });
    await runDiligent(place, ["sessions", "compact", "20260101000000-abcdef"]);
    expect(kinds(server)).toEqual([]);
  });
});

describe("the compaction does not depend on the knowledge request:", () => {
  const call = (name: string, input: Record<string, unknown>) => ({
    text: "x",
    calls: [{ id: "call_1", name, input }],
  });

  test.each<[string, CountingModel["answer"]]>([
    ["nothing worth recording", () => "none"],
    ["a server error", () => ({ status: 500, body: "broken" })],
    ["an answer that breaks off", () => ({ events: [], ending: "reset" })],
    ["an invalid entry", () => call("add_knowledge", { type: "poem", content: "" })],
    ["a call of another tool", () => call("bash", { command: "touch made" })],
  ])("%s", async (_, flush) => {
    await using server = await serve(flush);
    const { stdout, stderr, exitCode } = await say("--approval", "auto");
    expect([stdout, exitCode]).toEqual(["All right.\n", 0]);
    expect(kinds(server)).toEqual(["flush", "summary", "turn"]);
    expect(stderr).toMatch(/^Resuming .*\n⟳ .*\nContext compacted: .*\n$/);
    expect([savedKnowledge(), existsSync(join(place.project, "made"))]).toEqual([[], false]);
    expect(entryTypes(place).slice(9)).toEqual(["message", "compaction", "message"]);
  });
});

describe("the knowledge request is not sent", () => {
  test.each<[string, object, string[]]>([
    ["if it is turned off", { knowledge: NOT_FLUSHING }, []],
    ["if no knowledge", { knowledge: { enabled: false }, limits: SMALL }, []],
    ["if nothing may be recorded", { limits: SMALL }, ["--approval", "plan"]],
  ])("%s", async (_, config, args) => {
    await using server = await serve(() => "never", config);
    const { exitCode } = await say(...args);
    expect([exitCode, new Set(kinds(server))]).toEqual([0, new Set(["summary", "turn"])]);
  });

  test("if nothing has to be summarized", async () => {
    await using server = await serve(() => "never", { limits: undefined });
    await say();
    expect(kinds(server)).toEqual(["turn"]);
  });
});
