import { expect, test } from "bun:test";
import { user } from "./support/agent-run.ts";
import { createSessionProject } from "./support/session-project.ts";

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
