import { describe, expect, test } from "bun:test";
import { mkdirSync, realpathSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import { type AgentOptions, createAgent } from "../../src/harness/agent.ts";
import { UsageError } from "../../src/harness/errors.ts";
import { createScriptedStream, parseScript, scriptedModel } from "../../src/provider/scripted.ts";
import type { ApprovalRequest, Tool } from "../../src/tool/types.ts";
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

  test("a call that needs consent is refused without approve()", async () => {
    const agent = await createAgent({ ...makeProject([ROLL, { text: "Done." }]), tools: [rollDie] });
    const failures: boolean[] = [];
    agent.subscribe((event) => event.type === "tool_end" && failures.push(event.isError));
    const { stopReason } = await agent.prompt("Roll a die.");
    await agent.close();
    expect({ failures, stopReason }).toEqual({ failures: [true], stopReason: "approval" });
  });

  test("a provider of the caller's own answers, and builtinTools: false leaves only the caller's tools", async () => {
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

describe("HarnessExtension", () => {
  test("gate() refuses what approve() would allow, onEvent() sees the run, close() is called once", async () => {
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

  test("gate() has a call asked about that the policy allows", async () => {
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
