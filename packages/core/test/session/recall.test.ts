import { describe, expect, test } from "bun:test";
import { mkdirSync, realpathSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createAgent } from "../../src/harness/agent.ts";
import { createScriptedStream, parseScript, scriptedModel } from "../../src/provider/scripted.ts";
import type { StreamContext } from "../../src/provider/types.ts";
import { buildSessionContext } from "../../src/session/context-builder.ts";
import { readEntry, searchHiddenEntries } from "../../src/session/recall.ts";
import type { SessionEntry } from "../../src/session/types.ts";
import { createRecallTool } from "../../src/tools/index.ts";
import { noteTool, user as prompt } from "../support/agent-run.ts";
import { compaction, inLine, prune } from "../support/context-entries.ts";
import { assistant, call, result, text, user } from "../support/messages.ts";
import { entry } from "../support/session-files.ts";
import { createSessionProject, note } from "../support/session-project.ts";
import { GOOD_SUMMARY } from "../support/summaries.ts";
import { makeTempDir } from "../support/temp-dir.ts";
import { runTool } from "../support/tool-workspace.ts";

const long = (word: string) => `${word} `.repeat(1_500);

const path = inLine(
  entry("a0000001", null, user("Find the Parser bug")),
  entry("a0000002", null, assistant([text("Reading."), call("1", "read", { file_path: "/p/src/parse.ts" })])),
  entry("a0000003", null, result("1", "export function parse() { throw new RangeError('depth') }")),
  entry("a0000004", null, assistant([call("2", "bash", { command: "bun test" })])),
  entry("a0000005", null, result("2", "3 pass, 1 fail: depth", { toolName: "bash" })),
  compaction("c0000001", null, { firstKeptEntryId: "a0000004" }),
  entry("a0000006", null, assistant([text("The depth is wrong.")])),
);
const idsOf = (query: Parameters<typeof searchHiddenEntries>[1], entries = path) =>
  searchHiddenEntries(entries, query).matches.map(({ id }) => id);

describe("searchHiddenEntries()", () => {
  test("finds only what the context no longer shows, the newest first", () => {
    expect(idsOf({})).toEqual(["a0000003", "a0000002", "a0000001"]);
    const pruned = inLine(...path, prune("d0000001", null, { trimmed: ["a0000005"] }));
    expect(idsOf({}, pruned)).toEqual(["a0000005", "a0000003", "a0000002", "a0000001"]);
  });

  test("finds by words in any order and case, tool, and path or its end", () => {
    expect(idsOf({ query: "bug PARSER" })).toEqual(["a0000001"]);
    expect(idsOf({ query: "parser missing" })).toEqual([]);
    expect(idsOf({ tool: "Read" })).toEqual(["a0000003", "a0000002"]);
    expect(idsOf({ tool: "read", query: "rangeerror" })).toEqual(["a0000003"]);
    expect(idsOf({ path: "src/parse.ts" })).toEqual(["a0000003", "a0000002"]);
    expect(idsOf({ path: "src/other.ts" })).toEqual([]);
  });

  test("says when there are more matches than the limit", () => {
    expect(searchHiddenEntries(path, { limit: 3 })).toMatchObject({ isComplete: true });
    expect(searchHiddenEntries(path, { limit: 2 })).toMatchObject({
      matches: [{ id: "a0000003", call: { name: "read" } }, { id: "a0000002" }],
      isComplete: false,
    });
  });

  test("finds nothing where nothing is hidden", () => {
    expect(idsOf({}, path.slice(0, 5))).toEqual([]);
  });
});

test("readEntry() gives any message of the session whole, by its id or the only one that begins so", () => {
  expect(readEntry(path, "a0000003")?.text).toBe("export function parse() { throw new RangeError('depth') }");
  expect(readEntry(path, "a0000006")?.text).toBe("The depth is wrong.");
  expect(readEntry(path, "a00")).toBeUndefined();
  expect(readEntry(path, "c0000001")).toBeUndefined();
  expect(readEntry(path, "nowhere")).toBeUndefined();
});

test("recall ignores arguments that the model fills with empty strings", async () => {
  const tool = createRecallTool({
    hasHiddenEntries: () => true,
    search: async (query) => searchHiddenEntries(path, query),
    read: async (id) => readEntry(path, id),
  });
  const recall = async (input: object) => (await runTool(tool, input)).output;
  expect(await recall({ query: "rangeerror", tool: "", path: " ", entry: "" })).toContain("[a0000003]");
  expect(await recall({ query: "", entry: "a0000006" })).toContain("The depth is wrong.");
});

test("recall is offered once something is hidden, finds it, and reads it whole", async () => {
  const directory = realpathSync(makeTempDir());
  const cwd = join(directory, "project");
  mkdirSync(join(cwd, ".git"), { recursive: true });
  const secret = "The answer is forty-two.";
  writeFileSync(
    join(cwd, "a.txt"),
    `${"filler line\n".repeat(300)}${secret}\n${"filler line\n".repeat(300)}`,
  );
  writeFileSync(
    join(cwd, "diligent.jsonc"),
    JSON.stringify({
      compaction: { pruning: { startRatio: 0, protectTokens: 0, minimumTokens: 1, keepLast: 1 } },
    }),
  );
  const read = (file_path: string) => ({ toolCalls: [{ name: "read", input: { file_path } }] });
  const script = parseScript(
    JSON.stringify({
      version: 1,
      turns: [
        read("a.txt"),
        { toolCalls: [{ name: "ls", input: {} }] },
        { toolCalls: [{ name: "glob", input: { pattern: "*.txt" } }] },
        { toolCalls: [{ name: "recall", input: { query: "forty-two" } }] },
        { text: "Found." },
      ],
    }),
    "recall.json",
  );
  const played = createScriptedStream(script, { startAtTurn: 0 });
  const requests: StreamContext[] = [];
  const agent = await createAgent({
    cwd,
    environment: { HOME: directory, PATH: process.env.PATH },
    model: {
      model: scriptedModel("recall.json", script),
      streamFunction: (model, context, options) => {
        requests.push(structuredClone(context));
        return played(model, context, options);
      },
    },
  });
  await agent.prompt("Read it.");
  await agent.close();
  const isOffered = requests.map(({ tools }) => tools.some(({ name }) => name === "recall"));
  expect(isOffered[0]).toBe(false);
  expect(isOffered.at(-1)).toBe(true);
  const shown = requests.at(-2)?.messages.find((message) => message.role === "tool_result");
  const entryId = /recall with \{"entry":"([0-9a-f]{8})"\}/.exec(
    JSON.stringify(shown).replaceAll("\\", ""),
  )?.[1];
  const found = requests.at(-1)?.messages.at(-1);
  expect(found).toMatchObject({ role: "tool_result", isError: false });
  expect(JSON.stringify(found)).toContain(`[${entryId}]`);
  expect(JSON.stringify(found)).toContain(secret);
});

describe("a session whose model has no recall tool", () => {
  const read = [
    entry("a1", null, user("go")),
    entry("a2", null, assistant([call("1", "read", { file_path: "a.txt" })])),
    entry("a3", null, result("1", "x".repeat(9_000))),
    entry("a4", null, assistant([text("done")])),
  ];
  const shownAfter = (...entries: SessionEntry[]) =>
    JSON.stringify(buildSessionContext(inLine(...read, ...entries)).messages);

  test("sees placeholders and summaries that do not name it, whatever their size", () => {
    const forms = [
      prune("p1", null, { cleared: ["a3"], recall: false }),
      prune("p1", null, { trimmed: ["a3"], recall: false }),
      prune("p1", null, { trimmed: ["a3"], trimHead: 9, trimTail: 9, recall: false }),
    ];
    for (const form of forms) {
      expect(shownAfter(form)).toContain("repeat the call");
      expect(shownAfter(form)).not.toContain("recall");
      const { recall: _, ...withTool } = form;
      expect(shownAfter(withTool)).toContain("recall");
    }
    const details = { readFiles: [], modifiedFiles: [] };
    const summary = compaction("c1", null, { firstKeptEntryId: "a4", details });
    expect(shownAfter(summary)).toContain("The recall tool searches");
    expect(shownAfter({ ...summary, recall: false })).not.toContain("recall");
  });

  test("records so at each compaction and pruning, and one that has the tool does not", async () => {
    const settings = { pruning: { startRatio: 0, protectTokens: 0, minimumTokens: 1, keepLast: 0 } };
    const say = long("word");
    for (const hasTool of [false, true]) {
      const project = await createSessionProject(note(say), note(say), { text: say }, { text: GOOD_SUMMARY });
      const none = { matches: [], isComplete: true };
      const recall = createRecallTool({
        hasHiddenEntries: () => true,
        search: async () => none,
        read: async () => undefined,
      });
      const session = project.manager({
        model: { contextWindow: 20_000, maxOutputTokens: 2_000 },
        tools: [noteTool({ readOnly: true }), ...(hasTool ? [recall] : [])],
        context: { compaction: settings },
      });
      await Array.fromAsync(session.run(prompt(say)));
      await session.compact();
      const marks = project.lines().filter(({ type }) => type === "prune" || type === "compaction");
      expect(new Set(marks.map(({ type }) => type)).size).toBe(2);
      expect(new Set(marks.map((each) => each.recall))).toEqual(new Set([hasTool ? undefined : false]));
    }
  });
});
