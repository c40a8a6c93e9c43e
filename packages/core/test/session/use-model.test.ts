import { expect, test } from "bun:test";
import type { StreamFunction } from "../../src/provider/types.ts";
import { user } from "../support/agent-run.ts";
import { createSessionProject } from "../support/session-project.ts";
import { summaryOf } from "../support/summaries.ts";

test("another model answers from the next run on, in the same conversation", async () => {
  const project = await createSessionProject({ text: "one" });
  const session = project.manager();
  await session.run(user("first")).result();
  const asked: string[] = [];
  const play = project.playing({ text: "unused" }, { text: "two" });
  session.useModel({
    model: { ...project.model, id: "scripted/other.json", contextWindow: 50_000 },
    effort: "high",
    streamFunction(model, context, options) {
      asked.push(`${model.id} ${options.effort} ${context.messages.length}`);
      return play(model, context, options);
    },
  });
  await session.run(user("second")).result();
  expect(asked).toEqual(["scripted/other.json high 3"]);
  expect(project.lines().map(({ type }) => type)).toEqual([
    "session",
    "message",
    "message",
    "settings",
    "model_change",
    "message",
    "message",
  ]);
  expect((await session.describeContext()).contextWindow).toBe(50_000);
});

test("the model cannot be changed while it answers", async () => {
  const project = await createSessionProject({ text: "one" });
  const session = project.manager();
  const run = session.run(user("first"));
  expect(() => session.useModel({ model: project.model, streamFunction: project.playing() })).toThrow("busy");
  await run.result();
});

test("the number of retries is that of the run's conditions, or else the configured one", async () => {
  const project = await createSessionProject();
  const asked: unknown[] = [];
  const streamFunction: StreamFunction = (model, context, options) => {
    asked.push([model.id, options.purpose ?? "turn", options.maxRetries]);
    return project.playing({ text: summaryOf("go on") })(model, context, options);
  };
  const real = { ...project.model, id: "real" };
  const agentConfig = {
    model: project.model,
    streamFunction,
    systemPrompt: "Test.",
    tools: [],
    maxRetries: 2,
  };
  const session = project.manager({ agentConfig, conditions: { maxRetries: 1 } });
  const hold = async () => {
    for (let run = 0; run < 4; run++) await session.run(user("go on")).result();
    await session.compact();
  };
  await hold();
  session.useModel({ model: real });
  await hold();
  session.useModel({ model: project.model, conditions: {} });
  await session.run(user("go on")).result();
  const distinct = [...new Set(asked.map((line) => JSON.stringify(line)))];
  expect(distinct.map((line) => JSON.parse(line))).toEqual([
    ["scripted/test.json", "turn", 1],
    ["scripted/test.json", "summary", 1],
    ["real", "turn", 2],
    ["real", "summary", 2],
    ["scripted/test.json", "turn", null],
  ]);
});
