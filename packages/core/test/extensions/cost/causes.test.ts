import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { countParts, scaleParts } from "../../../src/extensions/cost/count-parts.ts";
import { type CountedRequest, countTokens, startCachingService } from "../../support/caching-service.ts";
import { CostStage, requestsOf, say } from "../../support/cost-stage.ts";
import { assistant, image, text } from "../../support/messages.ts";
import { READ_TOOL } from "../../support/models.ts";

const SOURCES = join(import.meta.dir, "..", "..", "..", "src");

test("a server's tools and its part of the prompt count as the server, images and summaries as themselves", () => {
  const tool = (name: string) => ({ name, description: "Finds things.", inputSchema: { type: "object" } });
  const section = "# Servers (MCP)\nUse them.\n## docs\n  Search first.\n## other.one\n  Ask.";
  const parts = countParts(
    {
      systemPrompt: `Base.\n\n${section}`,
      tools: [tool("read"), tool("mcp__docs__find"), tool("mcp__docs__open")],
      messages: [
        { role: "user", content: "[Session Summary]\nIt was done.", timestamp: 0 },
        { role: "user", content: [text("Look at this."), image()], timestamp: 0 },
        assistant([
          { type: "thinking", thinking: "Hm." },
          { type: "thinking", thinking: "So.", signature: "x" },
        ]),
      ],
    },
    { facts: { cwd: "/", projectRoot: "/", platform: "linux", date: "2026-01-01" }, additional: [section] },
  );
  expect(Object.keys(parts)).toEqual([
    ...["system", "mcp", "mcp:docs", "mcp:other_one"],
    ...["tool:read", "summary", "user", "images", "thinking"],
  ]);
  expect(parts.images).toBe(1_200);
  expect(parts["mcp:docs"]).toBeGreaterThan((parts["tool:read"] ?? 0) * 2);
});

test("parts are scaled to whole numbers that add up to the provider's count", () => {
  const scaled = scaleParts({ system: 1.4, user: 2.2, assistant: 0.4 }, 1_001);
  expect(sum(Object.values(scaled))).toBe(1_001);
  expect(scaled).toEqual({ system: 350, user: 551, assistant: 100 });
  expect(scaleParts({}, 50)).toEqual({});
});

test("the tokens of each cause are within a tenth of those that a tokenizer counts", async () => {
  await using service = await startCachingService();
  const stage = new CostStage(service);
  stage.write("AGENTS.md", readFileSync(join(SOURCES, "..", "..", "..", "CLAUDE.md"), "utf8"));
  stage.write("code.ts", readFileSync(join(SOURCES, "session", "tree.ts"), "utf8"));
  stage.write("data.json", readFileSync(join(SOURCES, "..", "package.json"), "utf8"));
  stage.write(
    "../.config/diligent/skills/release/SKILL.md",
    "---\nname: release\ndescription: How a release of this project is prepared, checked and published to users.\n---\nDo it.\n",
  );
  const opened = await stage.openSession();
  service.answers.push(
    { calls: [{ name: "read", input: { file_path: "code.ts" } }] },
    {
      calls: [
        { name: "read", input: { file_path: "data.json" } },
        { name: "grep", input: { pattern: "parent|position", path: "code.ts" } },
      ],
    },
    "The file finds the leaf of a conversation. It walks from an entry to its parents, and an entry whose parent is missing continues with the entry before it.",
  );
  await say(opened, "What does code.ts do, and which dependencies does the package have?");
  await say(opened, "Thank you. Now explain how the path of a branch is found, step by step.");
  const requests = requestsOf(opened);
  expect(requests).toHaveLength(4);
  for (const [index, { parts, usage }] of requests.entries()) {
    const counted = service.counted[index];
    if (!counted) throw new Error("The service has not received this request.");
    const reported = usage.inputTokens + usage.cacheReadTokens + usage.cacheWriteTokens;
    expect(reported).toBe(counted.tokens);
    expect(sum(Object.values(parts))).toBe(reported);
    const expected = countByCause(counted);
    const all = sum(Object.values(expected));
    for (const [cause, tokens] of Object.entries(expected)) {
      const share = (tokens / all) * reported;
      const difference = Math.abs((parts[cause] ?? 0) - share) / share;
      // In a few words, one token more is more than a tenth.
      if (Math.abs((parts[cause] ?? 0) - share) > 4)
        expect({ cause, difference }).toEqual({ cause, difference: Math.min(difference, 0.1) });
    }
    expect(Object.keys(parts).filter((cause) => !(cause in expected))).toEqual([]);
  }
  expect(Object.keys(requests.at(-1)?.parts ?? {})).toEqual(
    expect.arrayContaining([
      "system",
      "instructions",
      "skills",
      "tool:bash",
      "user",
      "calls",
      "results:read",
    ]),
  );
  await stage.close();
});

/** Counted from the request as it was sent, by its texts. */
function countByCause({ system, tools, messages }: CountedRequest): Record<string, number> {
  const counts: Record<string, number> = {};
  const add = (cause: string, text: string) => {
    counts[cause] = (counts[cause] ?? 0) + countTokens(text);
  };
  const starts = [
    ["system", 0],
    ["instructions", system.indexOf("Instructions from: ")],
    ["skills", system.indexOf("## Skills\n")],
    ["knowledge", system.indexOf("You have access to an add_knowledge tool")],
  ] as const;
  for (const [index, [cause, start]] of starts.entries())
    add(cause, system.slice(start, starts[index + 1]?.[1]));
  for (const { name, description, input_schema: inputSchema } of tools)
    add(`tool:${String(name)}`, JSON.stringify({ name, description, inputSchema }));
  const names = new Map<string, string>();
  for (const message of messages) addMessage(message, { add, names });
  return counts;
}

interface Counting {
  add(cause: string, text: string): void;
  names: Map<string, string>;
}

function addMessage(message: unknown, { add, names }: Counting): void {
  const { role, content } = JSON.parse(JSON.stringify(message));
  for (const block of typeof content === "string" ? [{ type: "text", text: content }] : content) {
    if (block.type === "text") add(role, block.text);
    if (block.type === "tool_use") {
      names.set(block.id, block.name);
      add("calls", `${block.name} ${JSON.stringify(block.input)}`);
    }
    if (block.type !== "tool_result") continue;
    const { content: output } = block;
    const text =
      typeof output === "string" ? output : output.map((each: { text?: string }) => each.text ?? "").join("");
    add(`results:${names.get(block.tool_use_id)}`, text);
  }
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}

test("a deferred tool takes no tokens", () => {
  const tool = { name: "mcp__tracker__find", description: "Finds issues.", inputSchema: {} };
  const tools = [
    { ...READ_TOOL, name: "read" },
    { ...tool, isDeferred: true as const },
  ];
  expect(Object.keys(countParts({ systemPrompt: "You help.", tools, messages: [] }))).toEqual([
    "system",
    "tool:read",
  ]);
});
