import { describe, expect, test } from "bun:test";
import { mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { selectOfferedTools } from "../../src/approval/policy.ts";
import { buildSystemPromptWithKnowledge } from "../../src/config/instructions.ts";
import { buildKnowledgeSection } from "../../src/knowledge/injector.ts";
import { readKnowledge, removeKnowledge } from "../../src/knowledge/store.ts";
import { executeToolCall } from "../../src/tool/execute.ts";
import { createToolRegistry, toToolDefinition } from "../../src/tool/registry.ts";
import { createAddKnowledgeTool } from "../../src/tools/add-knowledge.ts";
import { failure } from "../support/file-workspace.ts";
import { makeTempDir } from "../support/temp-dir.ts";
import { runTool } from "../support/tool-workspace.ts";

const SESSION = "20261121120000-abcdef";

function makePlace() {
  const root = makeTempDir();
  const path = join(root, ".diligent", "knowledge");
  const currentEntryId = () => "12345678";
  const tool = createAddKnowledgeTool(path, SESSION, { root, currentEntryId });
  const add = (input: Record<string, unknown>) =>
    runTool(tool, { type: "pattern", content: "Uses Bun.", ...input });
  const entries = () => readKnowledge(path);
  return { root, path, tool, add, entries };
}

async function savedId(result: ReturnType<ReturnType<typeof makePlace>["add"]>): Promise<string> {
  return String((await result).metadata?.knowledgeId);
}

describe("saving", () => {
  test("add_knowledge creates an entry in .diligent/knowledge/knowledge.jsonl", async () => {
    const { path, add } = makePlace();
    const result = await add({ content: "  Uses Bun.spawn.\n", confidence: 0.9, tags: ["bun"] });
    const line = readFileSync(join(path, "knowledge.jsonl"), "utf8");
    expect(line).toEndWith("}\n");
    expect(JSON.parse(line)).toEqual({
      id: expect.stringMatching(/^[0-9a-f]{8}$/),
      timestamp: expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/),
      sessionId: SESSION,
      entryId: "12345678",
      type: "pattern",
      content: "Uses Bun.spawn.",
      confidence: 0.9,
      tags: ["bun"],
    });
    expect(result).toEqual({
      output: "Knowledge saved: [pattern] Uses Bun.spawn.",
      metadata: { knowledgeId: JSON.parse(line).id, knowledgeContent: "Uses Bun.spawn." },
    });
  });

  test("works without a session, a project or a confidence", async () => {
    const path = join(makeTempDir(), "knowledge");
    await runTool(createAddKnowledgeTool(path), { type: "decision", content: "See a.ts." });
    const [entry] = await readKnowledge(path);
    expect(entry).toEqual({
      id: expect.any(String),
      timestamp: expect.any(String),
      type: "decision",
      content: "See a.ts.",
      confidence: 0.8,
    });
  });

  test("stores the files that it mentions", async () => {
    const { root, add, entries } = makePlace();
    writeFileSync(join(root, "a.ts"), "a");
    await add({ content: "Look at a.ts first, then at b.ts." });
    expect((await entries())[0]?.files).toEqual([{ path: "a.ts", hash: Bun.SHA256.hash("a", "hex") }]);
  });

  test("is shown to the next session, with the instruction to record more", async () => {
    const { add, entries } = makePlace();
    await add({ type: "preference", content: "Short answers." });
    const prompt = buildSystemPromptWithKnowledge("Base.", [], buildKnowledgeSection(await entries(), 1_000));
    expect(prompt).toStartWith("Base.\n\n## Project Knowledge\n");
    expect(prompt).toContain("\n- [preference] Short answers.\n\nYou have access to an add_knowledge tool.");
  });
});

describe("duplicate knowledge", () => {
  test("is not saved twice: the result names the entry and says how to replace it", async () => {
    const { add, entries } = makePlace();
    const id = await savedId(add({}));
    expect(await add({ type: "decision", content: "USES BUN" })).toEqual({
      output:
        `Nothing was saved, because this is already known:\n${id}: [pattern] Uses Bun.\n` +
        `To replace it, call again with supersedes: "${id}".`,
      metadata: { knownAs: id },
    });
    expect((await entries()).length).toBe(1);
  });

  test("is saved if it replaces that very entry", async () => {
    const { add, entries } = makePlace();
    const id = await savedId(add({}));
    await add({ content: "Uses Bun!", confidence: 1, supersedes: id });
    expect((await entries()).map(({ content, supersedes }) => [content, supersedes])).toEqual([
      ["Uses Bun.", undefined],
      ["Uses Bun!", id],
    ]);
  });

  test("that replaces one entry but equals a third is not saved", async () => {
    const { add, entries } = makePlace();
    const id = await savedId(add({}));
    const other = await savedId(add({ content: "Tests are in test/." }));
    expect((await add({ content: "uses bun", supersedes: other })).metadata).toEqual({ knownAs: id });
    expect((await entries()).length).toBe(2);
  });

  test("may be saved again once it was replaced or removed", async () => {
    const { path, add, entries } = makePlace();
    const id = await savedId(add({}));
    const second = await savedId(add({ content: "Uses Node.", supersedes: id }));
    const third = await savedId(add({}));
    await removeKnowledge(path, [third]);
    await add({});
    expect((await entries()).map(({ content }) => content)).toEqual(["Uses Bun.", "Uses Node.", "Uses Bun."]);
    expect(second).not.toBe(third);
  });
});

describe("supersedes", () => {
  test("with an unknown id is an error that lists the most similar ones first", async () => {
    const { add, entries } = makePlace();
    const bun = await savedId(add({ content: "Processes are started with Bun.spawn." }));
    const tests = await savedId(add({ content: "Tests are\nin test/." }));
    const text = await failure(add({ content: "Tests are in spec/ now.", supersedes: "?" }));
    expect(text).toBe(
      `Not saved: There is no knowledge with the id "?". Likely ids:\n` +
        `${tests}: [pattern] Tests are in test/.\n${bun}: [pattern] Processes are started with Bun.spawn.`,
    );
    const mistyped = `${bun.slice(0, 7)}${bun.endsWith("0") ? "1" : "0"}`;
    expect(await failure(add({ content: "Tests are elsewhere.", supersedes: mistyped }))).toContain(
      `Likely ids:\n${bun}: `,
    );
    expect((await entries()).length).toBe(2);
  });

  test("reports an empty store, and an entry that was already replaced", async () => {
    const { add } = makePlace();
    expect(await failure(add({ supersedes: "12345678" }))).toBe(
      'Not saved: There is no knowledge with the id "12345678". There is no entry to replace: leave supersedes out.',
    );
    const id = await savedId(add({}));
    const newer = await savedId(add({ content: "Uses Node.", supersedes: id }));
    expect(await failure(add({ content: "Uses Deno.", supersedes: id }))).toBe(
      `Not saved: ${id} was already replaced by a later entry. Likely ids:\n${newer}: [pattern] Uses Node.`,
    );
  });
});

describe("knowledge that may not be saved", () => {
  test.each([
    { content: "" },
    { content: " \n\t" },
    { content: "x".repeat(2_001) },
    { type: "rumour" },
    { confidence: 1.1 },
    { confidence: -0.1 },
    { tags: "bun" },
    { tags: [""] },
    { supersedes: "" },
    { extra: 1 },
  ])("arguments such as %o", async (input) => {
    const { tool } = makePlace();
    const call = {
      type: "tool_call" as const,
      id: "call_1",
      name: "add_knowledge",
      input: { type: "pattern", content: "Uses Bun.", ...input },
    };
    const { message } = await executeToolCall(call, createToolRegistry([tool]), {
      signal: new AbortController().signal,
      decide: () => Promise.reject(new Error("It asked.")),
    });
    expect(message.isError).toBe(true);
    expect(message.output).toStartWith("Invalid arguments for add_knowledge, so it was not run:");
  });

  test.each([
    { content: `The key is sk-ant-api03-${"a1".repeat(20)}` },
    { content: `ghp_${"a1".repeat(18)}` },
    { content: "AKIA" + "IOSFODNN7EXAMPLE" },
    { content: "-----BEGIN PRIVATE KEY-----\nMIIE" },
    { content: `gh\u200bp_${"a1".repeat(18)}` },
    { content: "Harmless.", tags: [`sk-${"a1".repeat(20)}`] },
  ])("keys, such as in %o", async (input) => {
    const { path, add } = makePlace();
    expect(await failure(add(input))).toStartWith("Not saved: this seems to contain a");
    expect(() => statSync(path)).toThrow();
  });

  test("invisible characters are removed, and text of nothing else is rejected", async () => {
    const { add, entries } = makePlace();
    const { output } = await add({ content: "Uses\u200b \x1b[31mBun.\n\u202eAlways." });
    expect(output).toBe("Knowledge saved: [pattern] Uses [31mBun.\nAlways.");
    expect((await entries())[0]?.content).toBe("Uses [31mBun.\nAlways.");
    expect(await failure(add({ content: "\u200b\u2060" }))).toBe("Not saved: it has no visible text.");
  });

  test("half of a character becomes a replacement character", async () => {
    const { add, entries } = makePlace();
    await add({ content: "x\ud800y" });
    expect((await entries())[0]?.content).toBe("x\ufffdy");
  });

  test("any, if a file is in place of the directory: the error says so", async () => {
    const { root, path, add } = makePlace();
    mkdirSync(join(root, ".diligent"));
    writeFileSync(path, "");
    expect(await failure(add({}))).toBe(`${path} is a file; knowledge needs a directory there`);
  });
});

describe("the tool", () => {
  test("needs no approval", async () => {
    const { tool } = makePlace();
    expect(tool.approval?.({ type: "pattern", content: "x", confidence: 1 })).toBeUndefined();
  });

  test("is offered unless writing is disabled", () => {
    const { tool } = makePlace();
    const isOffered = (permission?: "write" | "execute") =>
      selectOfferedTools([tool], {
        rules: permission ? [{ permission, pattern: "*", action: "deny" }] : [],
      }).length === 1;
    expect([isOffered(), isOffered("execute"), isOffered("write")]).toEqual([true, true, false]);
  });

  test("tells the model what is required and what is optional", () => {
    const { name, inputSchema } = toToolDefinition(makePlace().tool);
    expect(name).toBe("add_knowledge");
    expect(inputSchema).toMatchObject({
      type: "object",
      required: ["type", "content"],
      properties: {
        type: { enum: ["pattern", "decision", "discovery", "preference", "correction"] },
        content: { minLength: 1, maxLength: 2_000 },
        confidence: { minimum: 0, maximum: 1, default: 0.8 },
      },
    });
  });
});
