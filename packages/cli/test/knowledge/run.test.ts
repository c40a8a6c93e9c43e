import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { readFileSync, rmSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { type SseServer, startSseServer } from "../../../core/test/support/sse-server.ts";
import { markWritten } from "../support/knowledge-files.ts";
import { parseLines, runDiligent } from "../support/run-diligent.ts";
import { savedLines } from "../support/session-files.ts";
import { createTemporaryProject, type TemporaryProject } from "../support/temporary-project.ts";
import {
  ANTHROPIC_SERVICE,
  environmentFor,
  SERVICES,
  type VendorService,
  wholeReply,
} from "../support/vendor-service.ts";

let place: TemporaryProject;

beforeEach(() => {
  place = createTemporaryProject();
});

afterEach(() => place.remove());

const CONTENT = "This project uses Bun.spawn for process execution instead of Node.js child_process";
const INPUT = { type: "preference", content: CONTENT };
const HEADER = "## Project Knowledge\nThe following knowledge was accumulated from previous sessions:\n\n";
const RECORDING = "You have access to an add_knowledge tool.";

function answers(service: VendorService) {
  const call = { id: "toolu_1", name: "add_knowledge", input: INPUT };
  return [
    wholeReply(service, { text: "I'll remember that.", calls: [call] }),
    wholeReply(service, { text: "Done." }),
  ];
}

function print(server: SseServer, args: string[], service: VendorService = ANTHROPIC_SERVICE) {
  return runDiligent(place, ["-p", ...args], { environment: environmentFor(service, server.url) });
}

/** The knowledge in the last request, and the tools that it offered. */
function lastRequest(server: SseServer): { prompt: string; tools: string[] } {
  const body = JSON.parse(JSON.stringify(server.requests.at(-1)?.body));
  const prompt: unknown = body.instructions ?? body.system.map(({ text }: { text: string }) => text).join("");
  return { prompt: String(prompt), tools: body.tools.map(({ name }: { name: string }) => name) };
}

function knowledgeLines(): Record<string, unknown>[] {
  return parseLines(readFileSync(join(place.project, ".diligent/knowledge/knowledge.jsonl"), "utf8"));
}

function writeKnowledge(...entries: object[]): void {
  const lines = entries.map((entry, index) => {
    const common = {
      id: `0000000${index}`,
      timestamp: new Date().toISOString(),
      type: "pattern",
      confidence: 1,
    };
    return JSON.stringify({ ...common, ...entry });
  });
  place.write(".diligent/knowledge/knowledge.jsonl", lines.map((line) => `${line}\n`).join(""));
  markWritten(place, lines[0] ?? "");
}

describe.each(SERVICES)("with $name", (service) => {
  test("knowledge saved in one session is in the next session's system prompt", async () => {
    await using server = await startSseServer(...answers(service));
    const prompt = "this project always uses Bun.spawn instead of child_process";
    const saving = await print(server, [prompt], service);
    expect([saving.stdout, saving.exitCode]).toEqual(["Done.\n", 0]);
    expect(saving.stderr).toContain(`💡 Knowledge saved: ${CONTENT}\n`);
    expect(lastRequest(server).prompt).not.toContain(HEADER);

    await print(server, ["run the tests"], service);
    const { prompt: told } = lastRequest(server);
    expect(told).toContain(`\n\n${HEADER}- [preference] ${CONTENT}\n\n${RECORDING}`);
    expect(server.problems).toEqual([]);
  });
});

test("a saved entry names its session and the entry of its call, and needs no approval", async () => {
  await using server = await startSseServer(...answers(ANTHROPIC_SERVICE));
  const { stdout } = await print(server, ["--output-format", "stream-json", "go"]);
  const lines = savedLines(place);
  const caller = lines.find(({ message }) => JSON.stringify(message ?? "").includes('"add_knowledge"'));
  const [saved] = knowledgeLines();
  expect(saved).toMatchObject({ sessionId: String(lines[0]?.id), entryId: caller?.id, content: CONTENT });
  const types = parseLines(stdout).map(({ type }) => type);
  expect(types).not.toContain("approval_request");
  expect(types.slice(types.indexOf("tool_end"), types.indexOf("tool_end") + 2)).toEqual([
    "tool_end",
    "knowledge_saved",
  ]);
  const event = parseLines(stdout).find(({ type }) => type === "knowledge_saved");
  expect(event).toEqual({ type: "knowledge_saved", knowledgeId: saved?.id, content: CONTENT });
});

test("known content is not saved again, without a message", async () => {
  writeKnowledge({ content: CONTENT });
  await using server = await startSseServer(...answers(ANTHROPIC_SERVICE));
  const { stderr, exitCode } = await print(server, ["go"]);
  expect([exitCode, knowledgeLines().length]).toEqual([0, 1]);
  expect(stderr).not.toContain("💡");
});

test("recording is refused and not requested in plan mode, while existing knowledge is sent", async () => {
  writeKnowledge({ content: "Uses Bun." });
  await using server = await startSseServer(...answers(ANTHROPIC_SERVICE));
  await print(server, ["--approval", "plan", "go"]);
  const { prompt, tools } = lastRequest(server);
  expect(tools).toContain("add_knowledge");
  expect(prompt).not.toContain(RECORDING);
  expect(prompt).toContain(`${HEADER}- [pattern] Uses Bun.`);
  expect(knowledgeLines().length).toBe(1);
});

describe("recording is not offered and not requested, while existing knowledge is sent,", () => {
  test.each([
    ["without a session", ["--no-session"], {}],
    ["if writing is denied", [], { permissions: [{ permission: "write", pattern: "*", action: "deny" }] }],
  ])("%s", async (_, args, config) => {
    writeKnowledge({ content: "Uses Bun." });
    place.write("diligent.jsonc", config);
    await using server = await startSseServer(wholeReply(ANTHROPIC_SERVICE, { text: "Done." }));
    await print(server, [...args, "go"]);
    const { prompt, tools } = lastRequest(server);
    expect(tools).not.toContain("add_knowledge");
    expect(prompt).toContain(`${HEADER}- [pattern] Uses Bun.`);
    expect(knowledgeLines().length).toBe(1);
  });
});

test("knowledge that is turned off is neither sent nor recorded", async () => {
  writeKnowledge({ content: "Uses Bun." });
  place.write("diligent.jsonc", { knowledge: { enabled: false } });
  await using server = await startSseServer(wholeReply(ANTHROPIC_SERVICE, { text: "Done." }));
  await print(server, ["go"]);
  const { prompt, tools } = lastRequest(server);
  expect([
    prompt.includes("Knowledge"),
    prompt.includes("Uses Bun"),
    tools.includes("add_knowledge"),
  ]).toEqual([false, false, false]);
});

test("a configured budget is respected, and knowledge with the highest score comes first", async () => {
  writeKnowledge(
    { content: "What was replaced.", confidence: 1 },
    { content: "What is not so sure.", confidence: 0.1 },
    { content: "What replaces.", supersedes: "00000000", confidence: 0.9 },
    { content: "What is from last year.", timestamp: "2020-01-01T00:00:00.000Z" },
  );
  place.write("diligent.jsonc", { knowledge: { injectionBudget: 40 } });
  await using server = await startSseServer(wholeReply(ANTHROPIC_SERVICE, { text: "Done." }));
  await print(server, ["go"]);
  const told = `${HEADER}- [pattern] What replaces.\n- [pattern] What is not so sure.\n`;
  expect(lastRequest(server).prompt).toContain(`${told}\n${RECORDING}`);
});

test("knowledge about a file that has changed since is marked", async () => {
  place.write("src/a.ts", "new");
  writeKnowledge({
    content: "a.ts is old.",
    timestamp: "2020-01-01T00:00:00.000Z",
    files: [{ path: "src/a.ts", hash: Bun.SHA256.hash("old", "hex") }],
  });
  await using server = await startSseServer(wholeReply(ANTHROPIC_SERVICE, { text: "Done." }));
  await print(server, ["go"]);
  const line = "- [pattern] a.ts is old. (possibly stale: src/a.ts has changed since)";
  expect(lastRequest(server).prompt).toContain(`${HEADER}${line}\n`);
});

test("a knowledge file that is a link is not read; the run continues with a message", async () => {
  writeKnowledge({ content: "Uses Bun." });
  const file = join(place.project, ".diligent/knowledge/knowledge.jsonl");
  rmSync(file);
  symlinkSync(place.write("theirs.jsonl", "{}"), file);
  await using server = await startSseServer(wholeReply(ANTHROPIC_SERVICE, { text: "Done." }));
  const { stdout, stderr, exitCode } = await print(server, ["go"]);
  expect([stdout, exitCode]).toEqual(["Done.\n", 0]);
  expect(stderr).toBe(
    `warning: Knowledge of earlier sessions is not used: ${file} is not read: it is a symbolic link\n`,
  );
});
