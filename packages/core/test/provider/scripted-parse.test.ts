import { describe, expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseScript, readScript } from "../../src/provider/scripted/parse-script.ts";
import { makeTempDir } from "../support/temp-dir.ts";

function complaintAbout(text: string): string {
  try {
    parseScript(text, "s.json");
    return "none";
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

const turn = (fields: string) => `{"version": 1, "turns": [\n  ${fields}\n]}`;

test("a script is read from its file, with a byte order mark too", async () => {
  const path = join(makeTempDir(), "s.json");
  writeFileSync(path, `\uFEFF{"version": 1, "turns": [{"text": "hello"}]}`);
  expect(await readScript(path)).toEqual({ version: 1, turns: [{ text: "hello" }] });
});

const USAGE = { inputTokens: 1, outputTokens: 2, cacheReadTokens: 3, cacheWriteTokens: 4 };
const REPLAY = { provider: "anthropic", data: { phase: 1 } };
const EVENTS = [
  { type: "start" },
  { type: "usage", usage: USAGE },
  { type: "thinking_delta", delta: "Hm" },
  { type: "thinking_end", thinking: "Hm", signature: "sig" },
  { type: "text_delta", delta: "I" },
  { type: "text_end", text: "I" },
  { type: "tool_call_start", id: "b", name: "ls" },
  { type: "tool_call_delta", id: "b", delta: "{" },
  { type: "tool_call_end", id: "b", name: "ls", input: {} },
];
const REPLY = {
  content: [
    { type: "thinking", thinking: "Hm", signature: "sig", replay: REPLAY },
    { type: "text", text: "I" },
    { type: "opaque", provider: "anthropic", raw: { type: "server" } },
    { type: "tool_call", id: "b", name: "ls", input: {}, invalidInput: "{" },
  ],
  usage: USAGE,
  stopReason: "max_tokens",
  rawStopReason: "length",
};

test("every field can be used", () => {
  const script = {
    $schema: "./script.schema.json",
    version: 1,
    contextWindow: 1_000,
    maxInputTokens: 900,
    maxOutputTokens: 100,
    price: { inputCostPer1M: 1, longContext: { inputCostPer1M: 2, aboveInputTokens: 500 } },
    conditions: {
      compaction: {
        enabled: true,
        reserveTokens: 5,
        keepRecentTokens: 6,
        pruning: { enabled: false, keepLast: 1 },
      },
      flushKnowledge: true,
      maxRetries: 1,
      calibration: { ratio: 0.3, samples: 4 },
      summarizer: { contextWindow: 500, maxOutputTokens: 50, outputCostPer1M: 3 },
    },
    turns: [
      {
        thinking: "t",
        text: "x",
        toolCalls: [{ id: "a", name: "ls", input: { path: "." } }],
        stopReason: "tool_use",
        startUsage: { inputTokens: 1 },
        usage: { inputTokens: 1, outputTokens: 2, cacheReadTokens: 3, cacheWriteTokens: 4 },
        delayMs: 1,
        chunkDelayMs: 0.5,
        chunkChars: 3,
      },
      { error: { errorType: "rate_limit", message: "slow down", retryAfterMs: 10 } },
      { error: { errorType: "context_overflow", message: "too long", contextWindow: 900 } },
      { events: EVENTS, reply: REPLY },
    ],
    summaries: [{ text: "in short" }],
  };
  expect(parseScript(JSON.stringify(script), "s.json")).toEqual(
    parseScript(JSON.stringify(script), "t.json"),
  );
  expect(JSON.parse(JSON.stringify(parseScript(JSON.stringify(script), "s.json")))).toEqual(script);
});

describe("a file that cannot be read is rejected by name:", () => {
  test("a missing one", async () => {
    await expect(readScript("/nowhere/s.json")).rejects.toThrow(
      "Cannot open the script: Cannot read /nowhere/s.json: it does not exist (ENOENT).",
    );
  });

  test("binary data", async () => {
    const path = join(makeTempDir(), "s.json");
    writeFileSync(path, new Uint8Array([127, 69, 76, 70, 2, 1, 1, 0, 0, 0]));
    await expect(readScript(path)).rejects.toThrow(
      `Cannot open the script: ${path} is not valid JSON: binary data.`,
    );
  });

  test("a directory, a device", async () => {
    await expect(readScript("/tmp")).rejects.toThrow(/^Cannot open the script: .*\/tmp.* a directory/);
    await expect(readScript("/dev/zero")).rejects.toThrow(
      /^Cannot open the script: .*\/dev\/zero.* a device/,
    );
  });
});

test.each([
  [turn('{"txt": "a"}'), 's.json:2:11: turns[0].txt: unknown field "txt"; did you mean "text"?'],
  [
    turn('{"toolCalls": [{"naem": "ls", "input": {}}]}'),
    's.json:2:27: turns[0].toolCalls[0].naem: unknown field "naem"; did you mean "name"? (1 more after it)',
  ],
  [
    turn('{"usage": {"zzzzz": 1}}'),
    's.json:2:23: turns[0].usage.zzzzz: unknown field "zzzzz"; known are inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens, webSearches.',
  ],
  [
    '{"version": 1, "turns": [], "summaries": [{"Text": ""}]}',
    's.json:1:52: summaries[0].Text: unknown field "Text"; did you mean "text"?',
  ],
  [
    '{"version": 1, "turns": [], "__proto__": {}}',
    's.json:1:42: __proto__: unknown field "__proto__"; known are version, contextWindow, maxInputTokens, maxOutputTokens, price, conditions, turns, summaries.',
  ],
])("an unknown field is rejected with its position and the nearest known one: %s", (text, complaint) => {
  expect(complaintAbout(text)).toBe(complaint);
});

test.each([
  ["[]", "s.json:1:1: expected object, received array"],
  ['{"version": 2, "turns": []}', "s.json:1:13: version: expected 1"],
  ['{"version": 1}', "s.json:1:1: turns: this field is missing"],
  [turn("null"), "s.json:2:3: turns[0]: expected object, received null"],
  [
    turn('{"toolCalls": [{"name": 5, "input": {}}]}'),
    "s.json:2:27: turns[0].toolCalls[0].name: expected string, received number",
  ],
  [
    turn('{"toolCalls": [{"name": "ls"}]}'),
    "s.json:2:18: turns[0].toolCalls[0].input: this field is missing",
  ],
  [turn('{"delayMs": -1}'), "s.json:2:15: turns[0].delayMs: expected number to be >=0"],
  [
    turn('{"toolCalls": [{"name": "a", "input": {}}, {"id": "call_1", "name": "b", "input": {}}]}'),
    's.json:2:46: turns[0].toolCalls[1]: its id "call_1" is also that of turns[0].toolCalls[0]',
  ],
])("an invalid value is rejected with its position: %s", (text, complaint) => {
  expect(complaintAbout(text)).toBe(complaint);
});

test.each([
  ["", "s.json:1:1: not valid JSON: expected a value."],
  ["{'version': 1}", "s.json:1:2: not valid JSON: expected a name in double quotes or }."],
  ['{"version": 1,\n}', "s.json:2:1: not valid JSON: expected a name in double quotes."],
  ['{"version" 1}', "s.json:1:12: not valid JSON: expected :."],
  ['{"version": 01}', "s.json:1:13: not valid JSON: expected a value."],
  ['{"turns": [1 2]}', "s.json:1:14: not valid JSON: expected , or ]."],
  ['{"turns": []}}', "s.json:1:14: not valid JSON: expected the end of the file."],
  ['["a\nb"]', "s.json:1:4: not valid JSON: expected \\n or another escape for this control character."],
  ['["\\x"]', "s.json:1:3: not valid JSON: expected a known escape, or \\\\ for the backslash itself."],
  ['["a', "s.json:1:4: not valid JSON: expected the closing double quote of a string."],
  ["[".repeat(100_000), "s.json:1:100001: not valid JSON: expected a value or ]."],
])("text that is not JSON is rejected with line, column and the expected token: %#", (text, complaint) => {
  expect(complaintAbout(text)).toBe(complaint);
});
