import { describe, expect, test } from "bun:test";
import { z } from "zod";
import { INTERRUPTED, NOT_STARTED } from "../../src/history.ts";
import { executeToolCall } from "../../src/tool/execute.ts";
import { createToolRegistry } from "../../src/tool/registry.ts";
import type { ApprovalDecision, ApprovalRequest, Tool, ToolContext } from "../../src/tool/types.ts";
import type { ToolCallBlock } from "../../src/types.ts";
import { BUSY_MS } from "../support/busy-machine.ts";

const ran: unknown[] = [];

const echoTool: Tool<z.ZodObject<{ text: z.ZodString; times: z.ZodOptional<z.ZodNumber> }>> = {
  name: "echo",
  description: "Says it again.",
  parameters: z.strictObject({ text: z.string(), times: z.number().optional() }),
  approval: ({ text }) => ({ permission: "execute", toolName: "echo", description: `echo ${text}` }),
  execute: async ({ text, times = 1 }) => {
    ran.push(text);
    return { output: text.repeat(times), metadata: { times } };
  },
};

function call(input: Record<string, unknown>, more: Partial<ToolCallBlock> = {}): ToolCallBlock {
  return { type: "tool_call", id: "call_1", name: "echo", input, ...more };
}

async function execute(toolCall: ToolCallBlock, options: { tool?: Tool; decision?: ApprovalDecision } = {}) {
  ran.length = 0;
  const requests: ApprovalRequest[] = [];
  const execution = await executeToolCall(toolCall, createToolRegistry([options.tool ?? echoTool]), {
    signal: new AbortController().signal,
    decide: async (request) => {
      requests.push(request);
      return options.decision ?? { response: "once" };
    },
  });
  const { timestamp: _, ...message } = execution.message;
  return { ...execution, message, requests, ran: [...ran] };
}

const failed = {
  role: "tool_result",
  toolCallId: "call_1",
  toolName: "echo",
  isError: true,
  outcome: "failed",
} as const;

describe("executeToolCall", () => {
  test("asks, runs and answers", async () => {
    expect(await execute(call({ text: "ab", times: 2 }))).toEqual({
      message: {
        role: "tool_result",
        toolCallId: "call_1",
        toolName: "echo",
        output: "abab",
        isError: false,
        metadata: { times: 2 },
      },
      metadata: { times: 2 },
      rejection: undefined,
      requests: [{ permission: "execute", toolName: "echo", description: "echo ab" }],
      ran: ["ab"],
    });
  });

  test.each([
    ["a missing argument", {}],
    ["a wrong type", { text: 1 }],
    ["null", { text: "a", times: null }],
    ["an unknown argument", { text: "a", extra: true }],
  ])("%s is an error that names the field, and nothing is asked or run", async (_, input) => {
    const { message, requests, ran: executed } = await execute(call(input));
    expect({ ...message, output: "" }).toEqual({ ...failed, output: "" });
    expect(message.output).toMatch(/^Invalid arguments for echo.*(text|times|extra)/s);
    expect([requests, executed]).toEqual([[], []]);
  });

  test("arguments that are not JSON are quoted, and nothing is run", async () => {
    const { message, ran: executed } = await execute(call({}, { invalidInput: '{"text": "a' }));
    expect(message.output).toBe(
      'The arguments are not a JSON object, so the call was not run. Received: {"text": "a',
    );
    expect([message.isError, executed]).toEqual([true, []]);
  });

  test("an unknown tool is an error that lists the known ones", async () => {
    const { message } = await execute(call({}, { name: "ecko" }));
    expect(message.output).toBe('There is no tool "ecko". The tools are: echo.');
  });

  test("a rejection prevents the call from running and tells the model why", async () => {
    const decision: ApprovalDecision = { response: "reject", message: "Not here.", unattended: true };
    const { message, rejection, ran: executed } = await execute(call({ text: "a" }), { decision });
    expect(message).toEqual({ ...failed, outcome: "rejected", output: "Not here." });
    expect(rejection).toEqual(decision);
    expect(executed).toEqual([]);
  });

  test("an error thrown by a tool becomes an error result", async () => {
    const tool: Tool = {
      ...echoTool,
      execute: async () => {
        throw new Error("no such file");
      },
    } as Tool;
    expect((await execute(call({ text: "a" }), { tool })).message).toEqual({
      ...failed,
      output: "no such file",
    });
  });

  test("a tool that names no approval asks for execute with its arguments", async () => {
    const { approval: _, ...tool } = echoTool;
    const { requests } = await execute(call({ text: "a" }), { tool });
    expect(requests).toEqual([
      { permission: "execute", toolName: "echo", description: "echo", details: { text: "a" } },
    ]);
  });

  test("an empty output is replaced by a marker", async () => {
    expect((await execute(call({ text: " \n" }))).message.output).toBe("(no output)");
  });

  test("a long output is truncated, saved completely, and says where", async () => {
    const kept: string[] = [];
    const { message, metadata } = await executeToolCall(
      call({ text: "line\n", times: 3_000 }),
      createToolRegistry([echoTool]),
      {
        signal: new AbortController().signal,
        decide: async () => ({ response: "once" }),
        keepOutput: (id, output) => {
          kept.push(output);
          return `/tmp/${id}.txt`;
        },
      },
    );
    expect(kept).toEqual(["line\n".repeat(3_000)]);
    expect(
      message.output.endsWith(
        "line\n[Output truncated: first 2000 of 3000 lines shown, 15 KB in total. Complete output: /tmp/call_1.txt]",
      ),
    ).toBe(true);
    expect(metadata).toEqual({ times: 3_000, outputPath: "/tmp/call_1.txt" });
  });
});

describe("a preview", () => {
  const withPreview = (preview: () => Promise<string | undefined>): Tool =>
    ({ ...echoTool, preview }) as Tool;

  async function previewOf(tool: Tool) {
    const previews: unknown[] = [];
    const { message } = await executeToolCall(call({ text: "a" }), createToolRegistry([tool]), {
      signal: new AbortController().signal,
      decide: async (_, asked) => {
        previews.push(await asked?.preview?.());
        return { response: "reject" };
      },
    });
    return { previews, output: message.output };
  }

  test("is passed to the approver, and is not part of the result", async () => {
    expect(await previewOf(withPreview(async () => "-secret\n+b"))).toEqual({
      previews: ["-secret\n+b"],
      output: "The user rejected this call.",
    });
  });

  test("that cannot be created is left out", async () => {
    const failing = withPreview(() => Promise.reject(new Error("there is a secret in it")));
    expect(await previewOf(failing)).toEqual({
      previews: [undefined],
      output: "The user rejected this call.",
    });
    expect((await previewOf(echoTool as Tool)).previews).toEqual([undefined]);
  });

  test("is not created if nobody asks for it", async () => {
    let made = 0;
    const tool = withPreview(async () => `${++made}`);
    await execute(call({ text: "a" }), { tool });
    expect(made).toBe(0);
  });
});

test("an approval that excludes some files reaches the tool", async () => {
  const asked: unknown[] = [];
  const tool: Tool = {
    ...echoTool,
    execute: async (_: unknown, { isWithheld }: ToolContext) => {
      asked.push(isWithheld?.("/a"), isWithheld?.("/b"));
      return { output: "" };
    },
  } as Tool;
  await execute(call({ text: "a" }), {
    tool,
    decision: { response: "once", withholds: (path) => path === "/a" },
  });
  expect(asked).toEqual([true, false]);
});

describe("aborting", () => {
  const never = () => new Promise<never>(() => {});
  const hanging: Tool = { ...echoTool, execute: never } as Tool;

  test("a tool that does not stop is abandoned, and its result says that the outcome is unknown", async () => {
    const abort = new AbortController();
    const execution = executeToolCall(call({ text: "a" }), createToolRegistry([hanging]), {
      signal: abort.signal,
      decide: async () => ({ response: "once" }),
    });
    setTimeout(() => abort.abort(), 5);
    expect((await execution).message).toMatchObject({ output: INTERRUPTED, outcome: "interrupted" });
  });

  test("a tool that stops by itself and reports its progress is still interrupted", async () => {
    const abort = new AbortController();
    const stopping = async (_: unknown, { signal }: ToolContext) => {
      await new Promise((resolve) => signal.addEventListener("abort", resolve));
      return { output: "half", isError: true };
    };
    const execution = executeToolCall(
      call({ text: "a" }),
      createToolRegistry([{ ...echoTool, execute: stopping } as Tool]),
      { signal: abort.signal, decide: async () => ({ response: "once" }) },
    );
    setTimeout(() => abort.abort(), 5);
    expect((await execution).message).toMatchObject({ output: "half", outcome: "interrupted" });
  });

  test("an unanswered question is cancelled immediately", async () => {
    const abort = new AbortController();
    const started = performance.now();
    const execution = executeToolCall(call({ text: "a" }), createToolRegistry([echoTool]), {
      signal: abort.signal,
      decide: never,
    });
    abort.abort();
    expect((await execution).message).toMatchObject({
      output: NOT_STARTED,
      isError: true,
      outcome: "skipped",
    });
    expect(performance.now() - started).toBeLessThan(500 + BUSY_MS);
  });
});

describe("a note", () => {
  const withNote: Tool = {
    ...echoTool,
    execute: async (args: Record<string, unknown>) => ({
      output: "line\n".repeat(Number(args.times)),
      note: "(more follows)",
    }),
  } as Tool;

  test.each([1, 3_000])("follows an output of %d lines and is never truncated", async (times) => {
    const { message } = await execute(call({ text: "a", times }), { tool: withNote });
    expect(message.output.endsWith("\n(more follows)")).toBe(true);
  });
});

test("the duration of a call is stored from one second on, without the wait for approval", async () => {
  const slow: Tool = {
    name: "echo",
    description: "Takes its time.",
    parameters: z.strictObject({ runMs: z.number() }),
    execute: async ({ runMs }) => {
      await Bun.sleep(Number(runMs));
      return { output: "done", metadata: { kept: true } };
    },
  };
  const timed = (runMs: number, askMs: number) =>
    executeToolCall(call({ runMs }), createToolRegistry([slow]), {
      signal: new AbortController().signal,
      async decide() {
        await Bun.sleep(askMs);
        return { response: "once" };
      },
    });
  const [long, asked] = await Promise.all([timed(1_100, 1_100), timed(0, 1_100)]);
  expect(long.metadata).toEqual({ durationMs: expect.any(Number), kept: true });
  expect(long.message.metadata).toEqual({ durationMs: Number(long.metadata?.durationMs), kept: true });
  expect(long.message.metadata?.durationMs).toBeLessThan(2_000 + BUSY_MS);
  expect(asked.metadata).toEqual({ kept: true });
});
