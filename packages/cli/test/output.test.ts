import { describe, expect, test } from "bun:test";
import type { AgentEvent } from "@diligent/core";
import {
  createJsonOutput,
  createStreamJsonOutput,
  createTextOutput,
  type RunOutput,
  type RunResult,
} from "../src/print/output.ts";
import { assistantMessage, usage } from "./support/agent-events.ts";
import { FakeOutput } from "./support/fake-io.ts";
import { parseLines } from "./support/run-diligent.ts";

const HOSTILE = "\x1b]52;c;eA==\x07\x9b31m\u2028\x7f";

const FACTS = { sessionId: "20260225103000-a1b2c3", model: "claude-test", cwd: "/project", version: "0.1.0" };

function result(fields: Partial<RunResult["summary"]> = {}): RunResult {
  return {
    sessionId: FACTS.sessionId,
    summary: {
      result: "The answer",
      stopReason: "end_turn",
      usage: usage(3),
      cost: null,
      turns: 1,
      ...fields,
    },
    durationMs: 12.7,
  };
}

function toolEvents(output: string, isError = false): AgentEvent[] {
  const call = { itemId: "tool-1", toolCallId: "call_1", toolName: "bash" };
  return [
    { type: "tool_start", ...call, input: { command: "npm test\necho done" } },
    { type: "tool_end", ...call, output, isError },
  ];
}

function play(
  create: (io: { stdout: FakeOutput; stderr: FakeOutput }) => RunOutput,
  use: (output: RunOutput) => void,
) {
  const io = { stdout: new FakeOutput(), stderr: new FakeOutput() };
  use(create(io));
  return { stdout: io.stdout.text, stderr: io.stderr.text };
}

describe("the text output", () => {
  test("writes the answer to stdout and progress to stderr", () => {
    const written = play(createTextOutput, (output) => {
      output.begin(FACTS);
      output.notice({ level: "warning", code: "not_saved", message: "nothing is saved" });
      for (const event of toolEvents("1 failed\nmore", true)) output.event(event);
      output.event({ type: "notice", level: "info", code: "x", message: "for your information" });
      output.finish(result());
    });
    expect(written).toEqual({
      stdout: "The answer\n",
      stderr:
        "warning: nothing is saved\nbash: npm test echo done\nbash failed: 1 failed more\nfor your information\n",
    });
  });

  test("adds no second line feed to an answer that ends with one, and none to an empty one", () => {
    expect(play(createTextOutput, (output) => output.finish(result({ result: "a\n" }))).stdout).toBe("a\n");
    expect(play(createTextOutput, (output) => output.finish(result({ result: "" }))).stdout).toBe("");
  });

  test("lets no control sequence through, from any source", () => {
    const written = play(createTextOutput, (output) => {
      output.notice({ level: "warning", code: "x", message: HOSTILE });
      for (const event of toolEvents(HOSTILE, true)) output.event(event);
      output.event({
        type: "tool_start",
        itemId: "1",
        toolCallId: "1",
        toolName: HOSTILE,
        input: { path: HOSTILE },
      });
      output.finish(result({ result: HOSTILE, stopReason: "error", error: { name: "E", message: HOSTILE } }));
    });
    // biome-ignore lint/suspicious/noControlCharactersInRegex: the test looks for control characters
    expect(written.stdout + written.stderr).not.toMatch(/[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028]/);
    expect(written.stdout).toBe("\\x1b]52;c;eA==\\x07\\x9b31m\\u{2028}\\x7f\n");
  });

  test("reports the reason of a failed run on one line", () => {
    const stderrOf = (fields: Partial<RunResult["summary"]>) =>
      play(createTextOutput, (output) => output.finish(result(fields))).stderr;
    expect(stderrOf({ stopReason: "error", error: { name: "E", message: "429: slow\ndown" } })).toBe(
      "diligent: 429: slow down\n",
    );
    expect(stderrOf({ stopReason: "refusal" })).toBe("diligent: the model declined to answer\n");
    expect(stderrOf({ stopReason: "max_tokens" })).toBe("");
    expect(stderrOf({ stopReason: "aborted" })).toBe("diligent: interrupted\n");
    expect(stderrOf({ stopReason: "approval" })).toContain("something needed an approval");
    expect(stderrOf({ stopReason: "max_turns" })).toBe("");
  });
});

describe("the json output", () => {
  test("is one object with all fields, control characters escaped but not changed", () => {
    const { stdout, stderr } = play(createJsonOutput, (output) => {
      output.begin(FACTS);
      for (const event of toolEvents("fine")) output.event(event);
      output.finish(result({ result: HOSTILE, cost: 0.5 }));
    });
    expect(parseLines(stdout)).toEqual([
      {
        sessionId: FACTS.sessionId,
        result: HOSTILE,
        stopReason: "end_turn",
        usage: usage(3),
        cost: 0.5,
        turns: 1,
        durationMs: 13,
      },
    ]);
    // biome-ignore lint/suspicious/noControlCharactersInRegex: the test looks for control characters
    expect(stdout).not.toMatch(/[\x00-\x09\x0b-\x1f\x7f-\x9f\u2028]/);
    expect(stderr).toBe("");
  });

  test("contains the error of a failed run, and writes warnings to stderr", () => {
    const error = { name: "ProviderError", message: "wrong key", errorType: "auth" };
    const { stdout, stderr } = play(createJsonOutput, (output) => {
      output.event({ type: "notice", level: "warning", code: "stall", message: "silent for 45 s" });
      output.event({ type: "notice", level: "info", code: "x", message: "trifle" });
      output.finish(result({ stopReason: "error", error }));
    });
    expect(parseLines(stdout)).toMatchObject([{ stopReason: "error", error, cost: null }]);
    expect(stderr).toBe("warning: silent for 45 s\n");
  });
});

describe("the stream-json output", () => {
  test("writes the session first, then every event, and the result last", () => {
    const message = assistantMessage("Hi");
    const { stdout } = play(createStreamJsonOutput, (output) => {
      output.begin(FACTS);
      output.event({ type: "agent_start" });
      output.event({
        type: "message_delta",
        itemId: "m",
        message,
        delta: { type: "text_delta", delta: "Hi" },
      });
      output.event({ type: "message_end", itemId: "m", message });
      output.finish(result());
    });
    expect(parseLines(stdout)).toEqual([
      { type: "session", ...FACTS },
      { type: "agent_start" },
      { type: "message_delta", itemId: "m", delta: { type: "text_delta", delta: "Hi" } },
      { type: "message_end", itemId: "m", message },
      {
        type: "result",
        sessionId: FACTS.sessionId,
        result: "The answer",
        stopReason: "end_turn",
        usage: usage(3),
        cost: null,
        turns: 1,
        durationMs: 13,
      },
    ]);
    expect(stdout.endsWith("\n")).toBe(true);
    expect(stdout).not.toContain("\r");
  });

  test("writes a notice of the setup as an event, and a warning on stderr too", () => {
    const notice = { level: "warning", code: "not_saved", message: "nothing is saved" } as const;
    const { stdout, stderr } = play(createStreamJsonOutput, (output) => output.notice(notice));
    expect(parseLines(stdout)).toEqual([{ type: "notice", ...notice }]);
    expect(stderr).toBe("warning: nothing is saved\n");
  });
});
