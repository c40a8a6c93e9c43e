import { describe, expect, test } from "bun:test";
import type { ApprovalRequest, ApprovalResponse } from "../../src/tool/types.ts";
import { createTools } from "../../src/tools/index.ts";
import { FileTracker } from "../../src/tools/workspace.ts";
import { noteTool, runScript } from "../support/agent-run.ts";
import { makeTempDir } from "../support/temp-dir.ts";

const CALL = { toolCalls: [{ name: "note", input: { text: "a" } }] };

async function runWith(response: ApprovalResponse | undefined) {
  const requests: ApprovalRequest[] = [];
  const calls: string[] = [];
  const { added } = await runScript([CALL, { text: "Done." }], {
    tools: [noteTool({ calls })],
    ...(response && {
      approve: async (request) => {
        requests.push(request);
        return response;
      },
    }),
  });
  const result = added.find((message) => message.role === "tool_result");
  return { requests, calls, isError: result?.isError };
}

describe("an approval response", () => {
  const RAN = { calls: ["start a", "end a"], isError: false };

  test('is "once" for every request if nobody decides', async () => {
    expect(await runWith(undefined)).toEqual({ requests: [], ...RAN });
  });

  test.each(["once", "always"] as const)("of %s lets the tool run", async (response) => {
    expect(await runWith(response)).toMatchObject(RAN);
  });

  test("of reject is an error result, and the tool does not run", async () => {
    expect(await runWith("reject")).toMatchObject({ calls: [], isError: true });
  });
});

test("an approval request names its tool, its permission and its details, and is plain data", async () => {
  const { requests } = await runWith("once");
  const expected = {
    permission: "execute",
    toolName: "note",
    description: "note",
    details: { text: "a" },
  } as const;
  expect(requests).toEqual([expected]);
  expect(JSON.parse(JSON.stringify(requests))).toEqual([expected]);
});

test("previews are in the event of the question, and not in anything that the model reads", async () => {
  const tool = { ...noteTool({ calls: [] }), preview: async () => "-old\n+new" };
  const { events, added } = await runScript([CALL, { text: "Done." }], {
    tools: [tool],
    approve: async (request, { announce, preview }) => {
      const shown = { ...request, details: { diff: await preview?.() } };
      announce("shell_command", { shown, mode: "ask" });
      return "once";
    },
  });
  const asked = events.flatMap((event) => (event.type === "approval_request" ? [event] : []));
  expect(asked).toEqual([
    {
      type: "approval_request",
      requestId: expect.any(String),
      request: {
        permission: "execute",
        toolName: "note",
        description: "note",
        details: { diff: "-old\n+new" },
      },
      toolCallId: "call_1",
      gate: "shell_command",
      mode: "ask",
    },
  ]);
  expect(JSON.stringify(added)).not.toContain("+new");
});

test("every tool that changes something or reads outside describes its request", () => {
  const cwd = makeTempDir();
  const tools = createTools({
    cwd,
    root: cwd,
    environment: {},
    sessionId: "s",
    files: new FileTracker(),
    outputDirectory: () => undefined,
  });
  const examples: Record<string, Record<string, unknown>> = {
    bash: { command: "ls" },
    read: { file_path: "a" },
    write: { file_path: "a", content: "" },
    edit: { file_path: "a", old_string: "a", new_string: "b" },
    glob: { pattern: "*" },
    grep: { pattern: "a" },
    ls: {},
  };
  const permissions = tools.map(({ name, parameters, approval }) => {
    const request = approval?.(parameters.parse(examples[name]));
    return [request?.toolName, request?.permission];
  });
  expect(Object.fromEntries(permissions)).toEqual({
    bash: "execute",
    read: "read",
    write: "write",
    edit: "write",
    glob: "read",
    grep: "read",
    ls: "read",
  });
});
