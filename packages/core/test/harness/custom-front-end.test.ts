import { expect, test } from "bun:test";
import { mkdirSync, realpathSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import {
  type AgentEvent,
  type AskPerson,
  createHarness,
  type HarnessExtension,
  type Model,
  type StreamFunction,
  type Tool,
} from "../../src/index.ts";
import { createProviderStream, EMPTY_USAGE } from "../../src/providers.ts";
import { makeTempDir } from "../support/temp-dir.ts";

const MODEL: Model = { id: "echo-1", provider: "echo", contextWindow: 32_000, maxOutputTokens: 1_000 };

const parameters = z.object({ environment: z.enum(["staging", "production"]) });

/** Everything that an application adds to diligent, made of public names only. */
function createApplication() {
  const deployed: string[] = [];
  const asked: string[] = [];
  const sent: number[] = [];

  const deploy: Tool<typeof parameters> = {
    name: "deploy",
    description: "Deploys the project.",
    parameters,
    async execute({ environment }) {
      deployed.push(environment);
      return { output: `Deployed to ${environment}.` };
    },
  };

  // The first two answers call the tool, the third one reports what the tool returned.
  const streamFunction: StreamFunction = (model, { messages, tools }) => {
    sent.push(messages.length);
    const results = messages.filter((message) => message.role === "tool_result");
    const environment = ["staging", "production"][results.length];
    const stream = createProviderStream();
    const frame = { role: "assistant", model: model.id, usage: EMPTY_USAGE, timestamp: 0 } as const;
    stream.push({ type: "start" });
    if (environment !== undefined) {
      const offered = tools.find(({ name }) => name === "deploy");
      const call = {
        type: "tool_call" as const,
        id: `call_${results.length}`,
        name: offered?.name ?? "not offered",
        input: { environment },
      };
      stream.push({ type: "tool_call_start", id: call.id, name: call.name });
      stream.push({ ...call, type: "tool_call_end" });
      const message = { ...frame, content: [call], stopReason: "tool_use" as const };
      stream.push({ type: "done", stopReason: "tool_use", message });
      return stream;
    }
    const text = results.map(({ output }) => output.split("\n")[0]).join(" | ");
    stream.push({ type: "text_delta", delta: text });
    stream.push({ type: "text_end", text });
    const message = { ...frame, content: [{ type: "text" as const, text }], stopReason: "end_turn" as const };
    stream.push({ type: "done", stopReason: "end_turn", message });
    return stream;
  };

  const ask: AskPerson = async ({ toolName, details }) => {
    asked.push(`${toolName} ${JSON.stringify(details)}`);
    return details?.environment === "staging" ? "once" : "reject";
  };
  return { deployed, asked, sent, deploy, streamFunction, ask };
}

/** A front end that renders a run as lines. */
class LineRenderer {
  readonly lines: string[] = [];

  render(event: AgentEvent): void {
    switch (event.type) {
      case "tool_start":
        this.lines.push(`> ${event.toolName} ${JSON.stringify(event.input)}`);
        break;
      case "tool_end":
        this.lines.push(`< ${event.isError ? "error" : event.output}`);
        break;
      case "message_delta":
        if (event.delta.type === "text_delta") this.lines.push(event.delta.delta);
        break;
      case "agent_end":
        this.lines.push(`(${event.stopReason})`);
        break;
    }
  }
}

test("an application adds a tool, a provider, an approval and a renderer to a harness by public names", async () => {
  const { deployed, asked, sent, deploy, streamFunction, ask } = createApplication();
  const home = realpathSync(makeTempDir());
  const cwd = join(home, "project");
  mkdirSync(join(cwd, ".git"), { recursive: true });
  const extension: HarnessExtension = { name: "deployment", tools: [deploy], close() {} };
  const harness = await createHarness({
    cwd,
    environment: { HOME: home, PATH: process.env.PATH },
    overrides: { persist: false, builtinTools: false, extensions: [extension] },
  });
  const renderer = new LineRenderer();
  const { session } = await harness.openSession(
    { fresh: true },
    { model: { model: MODEL, streamFunction }, approvalMode: "ask", ask },
  );
  const run = session.run({ role: "user", content: "Deploy everywhere.", timestamp: 0 });
  run.subscribe((event) => renderer.render(event));
  await run.result();
  await harness.close();

  expect(asked).toEqual(['deploy {"environment":"staging"}', 'deploy {"environment":"production"}']);
  expect(deployed).toEqual(["staging"]);
  expect(sent).toEqual([1, 3, 5]);
  expect(renderer.lines).toEqual([
    '> deploy {"environment":"staging"}',
    "< Deployed to staging.",
    '> deploy {"environment":"production"}',
    "< error",
    expect.stringContaining("Deployed to staging. | "),
    "(end_turn)",
  ]);
});
