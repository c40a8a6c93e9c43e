import { describe, expect, test } from "bun:test";
import { mkdirSync, realpathSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import { type AgentOptions, createAgent } from "../../src/harness/agent.ts";
import { UsageError } from "../../src/harness/errors.ts";
import { createScriptedStream, parseScript, scriptedModel } from "../../src/provider/scripted.ts";
import type { ApprovalRequest, Tool } from "../../src/tool/types.ts";
import * as messages from "../support/answers.ts";
import * as responses from "../support/openai-answers.ts";
import { startSseServer } from "../support/sse-server.ts";
import { makeTempDir } from "../support/temp-dir.ts";

const parameters = z.object({ sides: z.int() });
const rollDie: Tool<typeof parameters> = {
  name: "roll_die",
  description: "Rolls a die.",
  parameters,
  execute: async ({ sides }) => ({ output: `rolled ${sides}` }),
};

const ROLL = { toolCalls: [{ name: "roll_die", input: { sides: 6 } }] };

function makeProject(turns: object[]): Pick<AgentOptions, "cwd" | "environment" | "model"> {
  const directory = realpathSync(makeTempDir());
  const cwd = join(directory, "project");
  mkdirSync(join(cwd, ".git"), { recursive: true });
  writeFileSync(join(directory, "script.json"), JSON.stringify({ version: 1, turns }));
  const environment = { HOME: directory, PATH: process.env.PATH };
  return { cwd, environment, model: `scripted/${join(directory, "script.json")}` };
}

describe("createAgent()", () => {
  test("prompt() resolves with the text, the stop reason, the usage and the cost", async () => {
    const agent = await createAgent(makeProject([{ text: "It is a game." }]));
    const { text, stopReason, usage, cost } = await agent.prompt("What is this?");
    await agent.close();
    expect({ text, stopReason, cost }).toEqual({ text: "It is a game.", stopReason: "end_turn", cost: null });
    expect(Object.keys(usage).sort()).toEqual([
      "cacheReadTokens",
      "cacheWriteTokens",
      "inputTokens",
      "outputTokens",
    ]);
  });

  test("prompt() continues the conversation, and subscribe() gets events until it is revoked", async () => {
    const agent = await createAgent(makeProject([{ text: "One." }, { text: "Two." }]));
    const ended: string[] = [];
    const unsubscribe = agent.subscribe((event) => void ended.push(event.type));
    await agent.prompt("First");
    const { length } = ended;
    unsubscribe();
    expect((await agent.prompt("Second")).text).toBe("Two.");
    await agent.close();
    expect([ended[0], ended.at(-1), ended.length]).toEqual(["agent_start", "agent_end", length]);
  });

  test("a custom tool runs when approve() says once, and approve() sees its arguments", async () => {
    const requests: ApprovalRequest[] = [];
    const approve = (request: ApprovalRequest) => {
      requests.push(request);
      return "once" as const;
    };
    const agent = await createAgent({ ...makeProject([ROLL, { text: "Done." }]), tools: [rollDie], approve });
    const outputs: string[] = [];
    agent.subscribe((event) => event.type === "tool_end" && outputs.push(event.output));
    await agent.prompt("Roll a die.");
    await agent.close();
    expect(outputs).toEqual(["rolled 6"]);
    expect(requests.map(({ toolName, details }) => ({ toolName, details }))).toEqual([
      { toolName: "roll_die", details: { sides: 6 } },
    ]);
  });

  test("a call that needs approval is denied without approve()", async () => {
    const agent = await createAgent({ ...makeProject([ROLL, { text: "Done." }]), tools: [rollDie] });
    const failures: boolean[] = [];
    agent.subscribe((event) => event.type === "tool_end" && failures.push(event.isError));
    const { stopReason } = await agent.prompt("Roll a die.");
    await agent.close();
    expect({ failures, stopReason }).toEqual({ failures: [true], stopReason: "approval" });
  });

  test("a custom provider answers, and builtinTools: false leaves only the custom tools", async () => {
    const script = parseScript(JSON.stringify({ version: 1, turns: [{ text: "Mine." }] }), "own.json");
    const answer = createScriptedStream(script);
    const offered: string[][] = [];
    const model = {
      model: scriptedModel("own.json", script),
      streamFunction: ((asked, context, options) => {
        offered.push((context.tools ?? []).map(({ name }) => name));
        return answer(asked, context, options);
      }) satisfies typeof answer,
    };
    const agent = await createAgent({
      ...makeProject([]),
      model,
      tools: [rollDie],
      builtinTools: false,
      approve: () => "reject",
    });
    expect((await agent.prompt("Who answers?")).text).toBe("Mine.");
    await agent.close();
    expect(offered).toEqual([["roll_die"]]);
  });

  test("an unknown model is a UsageError before anything is sent", async () => {
    const failure = createAgent({ ...makeProject([]), model: "no-such-model" });
    expect(await failure.catch((error: unknown) => error)).toBeInstanceOf(UsageError);
  });
});

describe("createAgent({ apiKey })", () => {
  const VENDORS = [
    {
      model: "claude-sonnet-5",
      urlVariable: "ANTHROPIC_BASE_URL",
      keyVariable: "ANTHROPIC_API_KEY",
      events: messages.textAnswer("Hello!"),
    },
    {
      model: "gpt-5.6",
      urlVariable: "OPENAI_BASE_URL",
      keyVariable: "OPENAI_API_KEY",
      events: responses.textAnswer("Hello!"),
    },
  ];

  test.each(VENDORS)(
    "sends it to the provider of $model instead of the key from the environment",
    async (vendor) => {
      await using server = await startSseServer({ events: vendor.events });
      const { cwd, environment } = makeProject([]);
      const agent = await createAgent({
        cwd,
        model: vendor.model,
        apiKey: "given-key",
        environment: { ...environment, [vendor.urlVariable]: server.url, [vendor.keyVariable]: "other-key" },
      });
      const { text, stopReason } = await agent.prompt("Hi");
      await agent.close();
      expect({ text, stopReason, problems: server.problems }).toEqual({
        text: "Hello!",
        stopReason: "end_turn",
        problems: [],
      });
      expect(server.requests.map(({ headers }) => headers.authorization)).toEqual(["Bearer given-key"]);
    },
  );

  test("is redacted in the output of a command, and no command inherits it", async () => {
    const command = 'printenv ANTHROPIC_API_KEY || echo "unset given-key"';
    const call = messages.block(
      0,
      { type: "tool_use", id: "toolu_1", name: "bash", input: {} },
      { type: "input_json_delta", partial_json: JSON.stringify({ command }) },
    );
    await using server = await startSseServer(
      { events: [messages.messageStart(), ...call, ...messages.messageEnd("tool_use")] },
      { events: messages.textAnswer("Done.") },
    );
    const { cwd, environment } = makeProject([]);
    const agent = await createAgent({
      cwd,
      model: "claude-sonnet-5",
      apiKey: "given-key",
      environment: { ...environment, ANTHROPIC_BASE_URL: server.url },
      approve: () => "once",
    });
    const outputs: string[] = [];
    agent.subscribe((event) => event.type === "tool_end" && outputs.push(event.output));
    await agent.prompt("Print the key.");
    await agent.close();
    expect(outputs).toHaveLength(1);
    expect(outputs[0]).toStartWith("unset ");
    expect(outputs[0]).not.toContain("given-key");
    expect(JSON.stringify(server.requests[1]?.body)).not.toContain("given-key\\n");
  });

  test("is a UsageError for a model of neither Anthropic nor OpenAI", async () => {
    const failure = createAgent({ ...makeProject([]), apiKey: "given-key" });
    expect(await failure.catch((error: unknown) => error)).toBeInstanceOf(UsageError);
  });
});

describe("HarnessExtension", () => {
  test("gate() denies what approve() would allow, onEvent() sees the run, close() is called once", async () => {
    const seen: string[] = [];
    const agent = await createAgent({
      ...makeProject([ROLL, { text: "Done." }]),
      approve: () => "once",
      extensions: [
        {
          name: "dice",
          tools: [rollDie],
          gate: ({ toolName }) =>
            toolName === "roll_die" ? { action: "deny", reason: "dice are forbidden" } : undefined,
          onEvent: (event) => event.type === "tool_end" && seen.push(event.output),
          close: () => void seen.push("closed"),
        },
      ],
    });
    await agent.prompt("Roll a die.");
    await agent.close();
    expect(seen).toEqual(["Refused: dice are forbidden [extension]. Do not work around it.", "closed"]);
  });

  test("gate() makes a call ask that the policy allows", async () => {
    const asked: string[] = [];
    const list = { toolCalls: [{ name: "ls", input: { path: "." } }] };
    const agent = await createAgent({
      ...makeProject([list, { text: "Done." }]),
      approve: ({ toolName }) => {
        asked.push(toolName);
        return "once";
      },
      extensions: [{ name: "careful", gate: () => ({ action: "ask", reason: "it is new" }), close() {} }],
    });
    await agent.prompt("List.");
    await agent.close();
    expect(asked).toEqual(["ls"]);
  });

  test("promptSection is part of the system prompt", async () => {
    const script = parseScript(JSON.stringify({ version: 1, turns: [{ text: "Yes." }] }), "own.json");
    const answer = createScriptedStream(script);
    const prompts: string[] = [];
    const streamFunction: typeof answer = (asked, context, options) => {
      prompts.push(context.systemPrompt ?? "");
      return answer(asked, context, options);
    };
    const agent = await createAgent({
      ...makeProject([]),
      model: { model: scriptedModel("own.json", script), streamFunction },
      extensions: [{ name: "rules", promptSection: "Answer in one word.", close() {} }],
    });
    await agent.prompt("Hello");
    await agent.close();
    expect(prompts.map((prompt) => prompt.includes("Answer in one word."))).toEqual([true]);
  });
});
