import { describe, expect, test } from "bun:test";
import { z } from "zod";
import { INTERRUPTED, NOT_STARTED } from "../../src/history.ts";
import { toAnthropicMessages } from "../../src/provider/anthropic/request.ts";
import { toCompatibleMessages } from "../../src/provider/chat-completions/request.ts";
import { toOpenAIInput } from "../../src/provider/openai/request.ts";
import { readMessage } from "../../src/session/parse-line.ts";
import { executeToolCall, type ToolExecutionOptions } from "../../src/tool/execute.ts";
import { createToolRegistry } from "../../src/tool/registry.ts";
import { describeRevision } from "../../src/tool/result.ts";
import type { ApprovalDecision, RevisedCall, Tool } from "../../src/tool/types.ts";
import type { Message, ToolCallBlock } from "../../src/types.ts";
import { noteTool, runScript, unpaired } from "../support/agent-run.ts";

const COMPATIBLE = {
  provider: "local",
  model: "local/m",
  hasTools: true,
  takesThinking: true,
  takesImages: true,
};

const parameters = z.strictObject({ command: z.string().min(1), timeout: z.int().optional() });

interface Shell {
  tool: Tool;
  ran: unknown[];
}

function createShell(run: (command: string) => Promise<string> = async (command) => `ran ${command}`): Shell {
  const ran: unknown[] = [];
  const tool: Tool = {
    name: "shell",
    description: "Runs a command.",
    parameters,
    keep: "tail",
    approval: ({ command }) => ({
      permission: "execute",
      toolName: "shell",
      description: `shell: ${command}`,
      details: { command },
    }),
    execute: async (args) => {
      ran.push(args);
      return { output: await run(parameters.parse(args).command) };
    },
  };
  return { tool, ran };
}

const CALL: ToolCallBlock = {
  type: "tool_call",
  id: "call_1",
  name: "shell",
  input: { command: "rm a", timeout: 5 },
};

async function execute(
  { tool, ran }: Shell,
  decision: ApprovalDecision,
  options: Partial<ToolExecutionOptions> = {},
) {
  const told: unknown[] = [];
  const { message } = await executeToolCall(CALL, createToolRegistry([tool]), {
    signal: new AbortController().signal,
    decide: async () => decision,
    onInput: (input) => told.push(input),
    ...options,
  });
  const { output, isError, input, outcome } = message;
  return { output, isError, outcome, input, ran, told };
}

const CHANGED = { command: "rm -i a", timeout: 5 };

describe("a call whose arguments the user changed", () => {
  test("runs with the user's arguments, and the model is told so first", async () => {
    expect(await execute(createShell(), { response: "once", input: CHANGED })).toEqual({
      output: "The user changed the command before it ran to: rm -i a\n\nran rm -i a",
      isError: false,
      outcome: undefined,
      input: CHANGED,
      ran: [CHANGED],
      told: [CHANGED],
    });
  });

  test.each([
    ["nothing in it", { command: "" }],
    ["an unknown argument", { ...CHANGED, sudo: true }],
    ["a wrong type", { command: ["rm"] }],
    ["no command", {}],
  ])("is not run with %s, nor with the model's arguments", async (_, input) => {
    const { output, ...rest } = await execute(createShell(), { response: "always", input });
    expect(rest).toEqual({ isError: true, outcome: "failed", input: undefined, ran: [], told: [] });
    expect(output).toStartWith("The user's edited arguments are invalid, so it was not run:\n");
  });

  test("runs with the model's arguments if nothing was changed, and not if it is rejected", async () => {
    const same = { timeout: 5, command: "rm a" };
    expect(await execute(createShell(), { response: "once", input: same })).toMatchObject({
      output: "ran rm a",
      input: undefined,
      told: [],
    });
    expect(await execute(createShell(), { response: "reject", message: "No.", input: CHANGED })).toEqual({
      output: "No.",
      isError: true,
      outcome: "rejected",
      input: undefined,
      ran: [],
      told: [],
    });
  });

  test("reports the change above an output that is truncated at its beginning", async () => {
    const shell = createShell(async () => "line\n".repeat(3_000));
    const { output } = await execute(shell, { response: "once", input: CHANGED });
    expect(output).toStartWith(
      "The user changed the command before it ran to: rm -i a\n\n[Output truncated: last 1999 of 3000 lines shown",
    );
    expect(output).toEndWith("line\nline\n");
  });

  test("reports the change if it failed, printed nothing or was stopped", async () => {
    const failing = createShell(() => Promise.reject(new Error("no such file")));
    const preface = "The user changed the command before it ran to: rm -i a\n\n";
    const decision: ApprovalDecision = { response: "once", input: CHANGED };
    expect(await execute(failing, decision)).toMatchObject({
      output: `${preface}no such file`,
      outcome: "failed",
    });
    expect(
      await execute(
        createShell(async () => ""),
        decision,
      ),
    ).toMatchObject({
      output: `${preface}(no output)`,
    });
    const abort = new AbortController();
    const hanging = createShell(() => {
      abort.abort();
      return new Promise(() => undefined);
    });
    expect(await execute(hanging, decision, { signal: abort.signal })).toMatchObject({
      output: preface + INTERRUPTED,
      outcome: "interrupted",
      input: CHANGED,
    });
  });

  test("mentions no run if it was stopped before it began", async () => {
    const abort = new AbortController();
    const options = { signal: abort.signal, beforeChange: async () => abort.abort() };
    expect(await execute(createShell(), { response: "once", input: CHANGED }, options)).toEqual({
      output: NOT_STARTED,
      isError: true,
      outcome: "skipped",
      input: undefined,
      ran: [],
      told: [],
    });
  });
});

test("the approver can check what a changed call would ask, and whether it is valid", async () => {
  const revised: (RevisedCall | undefined)[] = [];
  await execute(
    createShell(),
    { response: "once" },
    {
      decide: async (_, asked) => {
        revised.push(asked?.revise({ command: "ls" }), asked?.revise({ command: "" }));
        return { response: "once" };
      },
    },
  );
  expect(revised).toEqual([
    {
      input: { command: "ls", timeout: 5 },
      request: {
        permission: "execute",
        toolName: "shell",
        description: "shell: ls",
        details: { command: "ls" },
      },
      preview: undefined,
    },
    undefined,
  ]);
});

test("an answer that changes what a tool asks while it runs is rejected", async () => {
  const answers: string[] = [];
  const { tool, ran } = createShell();
  const asking: Tool = {
    ...tool,
    execute: async (_, { approve }) => {
      answers.push(await approve({ permission: "execute", toolName: "shell", description: "more" }));
      return { output: "" };
    },
  };
  let asked = 0;
  const decide = async (): Promise<ApprovalDecision> =>
    asked++ === 0 ? { response: "once" } : { response: "once", input: CHANGED };
  await execute({ tool: asking, ran }, { response: "once" }, { decide });
  expect(answers).toEqual(["reject"]);
});

describe("the description of a change for the model", () => {
  test.each([
    [{ a: "x" }, { a: "y\nz" }, "The user changed the a before it ran to:\ny\nz\n"],
    [
      { a: "x", b: 1 },
      { a: "y", b: 2 },
      'The user changed the arguments before it ran to: {"a":"y","b":2}\n',
    ],
    [{ a: "x", b: 1 }, { a: "x" }, 'The user changed the arguments before it ran to: {"a":"x"}\n'],
  ])("is short and complete: %j to %j", (before, after, told) => {
    expect(describeRevision(before, after)).toBe(told);
  });

  test("marks what is left out of a very long text", () => {
    const told = describeRevision({ command: "ls" }, { command: `echo ${"y".repeat(9_000)}` });
    expect(told).toEndWith("y\n[1005 more characters of it]\n");
    expect(told.length).toBeLessThan(8_200);
  });
});

describe("in a run", () => {
  const change = (text: string): ApprovalDecision => ({ response: "once", input: { text } });

  async function run() {
    const calls: string[] = [];
    const toolCalls = ["a", "b", "c"].map((text) => ({ name: "note", input: { text } }));
    const result = await runScript([{ toolCalls }, { text: "Done." }], {
      tools: [noteTool({ calls, readOnly: true, delayMs: 5 })],
      approve: async ({ details }) => (details?.text === "b" ? change("B") : "once"),
    });
    return { ...result, calls };
  }

  test("calls that run in parallel are changed separately", async () => {
    const { calls, added, events } = await run();
    expect(calls.toSorted()).toEqual(["end B", "end a", "end c", "start B", "start a", "start c"]);
    const results = added.flatMap((message) => (message.role === "tool_result" ? [message] : []));
    expect(results.map(({ output, input }) => [output, input])).toEqual([
      ["noted a", undefined],
      ["The user changed the text before it ran to: B\n\nnoted B", { text: "B" }],
      ["noted c", undefined],
    ]);
    const told = events.flatMap((event) =>
      event.type === "tool_update" || event.type === "tool_end"
        ? [[event.type, event.toolCallId, event.input]]
        : [],
    );
    expect(told.filter(([, , input]) => input !== undefined)).toEqual([
      ["tool_update", "call_2", { text: "B" }],
      ["tool_end", "call_2", { text: "B" }],
    ]);
    expect(unpaired(added)).toEqual([]);
  });

  test("the history keeps the model's own call, and providers get only the result's text", async () => {
    const { added } = await run();
    const withoutInput = added.map((message): Message => {
      if (message.role !== "tool_result") return message;
      const { input: _, ...rest } = message;
      return rest;
    });
    expect(JSON.stringify(added[0])).toContain('"input":{"text":"b"}');
    const bodies = (messages: readonly Message[]) => [
      toAnthropicMessages(messages, {
        hasTools: true,
        rejectedThinking: new Set(),
        deferredTools: new Set(),
      }),
      toOpenAIInput(messages, { hasTools: true, takesReasoning: true, refused: new Set() }),
      toCompatibleMessages(messages, COMPATIBLE),
    ];
    expect(bodies(added)).toEqual(bodies(withoutInput));
  });
});

test("the arguments that ran are read back from a file, and invalid ones are left out", () => {
  const saved = { role: "tool_result", toolCallId: "c", toolName: "bash", output: "x", isError: false };
  const read = (input: unknown) => readMessage({ ...saved, input, timestamp: 1 });
  expect([read({ command: "ls" }), read("ls"), read(["ls"]), read(null)]).toEqual([
    { ...saved, input: { command: "ls" }, timestamp: 1 } as Message,
    ...Array.from({ length: 3 }, () => ({ ...saved, timestamp: 1 }) as Message),
  ]);
});
