import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createProjectHarness } from "@diligent/core/harness";
import { createProviderStream, EMPTY_USAGE } from "@diligent/core/providers";
import type { ContentBlock, StreamFunction } from "@diligent/core/run";
import type { Benchmark } from "../figure.ts";
import { Series, takeTurns } from "../measure/statistics.ts";
import type { Stage } from "../stage/stage.ts";

const RUNS = 15;
const BUDGET_MS = 15;
// Providers take longer for the arguments of a call.
const ARGUMENTS_MS = 100;

const MODEL = {
  ...{ id: "bench-1", provider: "bench", contextWindow: 200_000, maxOutputTokens: 8_000 },
  thinking: "none" as const,
};

/** What a sub-agent costs before its model is asked for the first time. */
export const subagents: Benchmark = {
  name: "subagents",
  about: "from the call of `task` to the sub-agent's first request",
  async measure(stage) {
    const usual = new Series(() => firstRequestMs(stage, { isFirst: false }));
    const first = new Series(() => firstRequestMs(stage, { isFirst: true }));
    await takeTurns([usual, first], stage.runs(RUNS));
    const figure = (name: string, { values }: Series) => ({
      name: `subagents, ${name}`,
      unit: "ms" as const,
      rule: { kind: "amount" as const },
      measured: values,
      budget: BUDGET_MS,
    });
    return [figure("first request", usual), figure("first request of the first one in a session", first)];
  },
};

/** @param options.isFirst false: another sub-agent has worked in the session before. */
async function firstRequestMs(stage: Stage, { isFirst }: { isFirst: boolean }): Promise<number> {
  const cwd = createProject(stage);
  let calls = isFirst ? 1 : 2;
  let calledAt = 0;
  let elapsedMs = 0;
  const streamFunction: StreamFunction = (model, { messages }) => {
    // Only the prompt: the request of a sub-agent.
    if (messages.length === 1 && calledAt > 0) elapsedMs = performance.now() - calledAt;
    const isParent = JSON.stringify(messages[0]).includes("parent");
    const content = isParent && calls-- > 0 ? delegate(calls) : [{ type: "text" as const, text: "Done." }];
    const stream = createProviderStream();
    const stopReason = content[0]?.type === "tool_call" ? ("tool_use" as const) : ("end_turn" as const);
    const message = { role: "assistant" as const, content, model: model.id, usage: EMPTY_USAGE, stopReason };
    const end = () =>
      stream.push({ type: "done", stopReason, message: { ...message, timestamp: Date.now() } });
    queueMicrotask(() => {
      stream.push({ type: "start" });
      const [first] = content;
      if (first?.type !== "tool_call") return end();
      stream.push({ type: "tool_call_start", id: first.id, name: first.name });
      setTimeout(end, ARGUMENTS_MS);
    });
    return stream;
  };
  const harness = await createProjectHarness({ cwd, environment: stage.environment() });
  const { session } = await harness.openSession({ fresh: true }, { model: { model: MODEL, streamFunction } });
  await session.run({ role: "user", content: "parent", timestamp: Date.now() }).consume((event) => {
    if (event.type === "tool_start") calledAt = performance.now();
  });
  await harness.close();
  if (elapsedMs === 0) throw new Error("The sub-agent has sent no request.");
  return elapsedMs;
}

function delegate(number: number): ContentBlock[] {
  const input = { description: "Look around", prompt: "Look.", agent: "explore" };
  return [{ type: "tool_call", id: `call_${number}`, name: "task", input }];
}

function createProject(stage: Stage): string {
  const root = stage.scratch.makeDirectory("subagents-project");
  mkdirSync(join(root, ".git"));
  writeFileSync(join(root, "CLAUDE.md"), "Use tabs.\n");
  for (let index = 0; index < 200; index++) writeFileSync(join(root, `module-${index}.ts`), "export {};\n");
  return root;
}
