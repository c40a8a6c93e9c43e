import { expect, test } from "bun:test";
import { user } from "../support/agent-run.ts";
import { createSessionProject, note } from "../support/session-project.ts";
import { GOOD_SUMMARY } from "../support/summaries.ts";

const words = (count: number) => "word ".repeat(count);
const sum = (causes: Readonly<Record<string, number>>) =>
  Object.values(causes).reduce((total, tokens) => total + tokens, 0);

test("what a conversation takes is told by cause, estimated where nobody counted it", async () => {
  const project = await createSessionProject(note(words(80)), { text: words(40) });
  const session = project.manager({ systemPrompt: "x".repeat(4_000), model: { contextWindow: 100_000 } });
  await session.run(user(words(400))).result();
  const { causes, ...usage } = await session.describeContext();
  expect(sum(causes)).toBe(usage.tokens);
  expect(usage).toEqual({
    contextWindow: 100_000,
    modelContextWindow: 100_000,
    compactsAt: 83_616,
    tokens: expect.any(Number),
    isEstimate: expect.any(Boolean),
  });
  expect(causes.systemPrompt).toBeGreaterThan(900);
  expect(causes.user).toBeGreaterThan(450);
  expect(causes.toolResults).toBeGreaterThan(80);
  expect(causes.tools).toBeGreaterThan(5);
  expect(causes.summary).toBe(0);
});

test("the provider's own count is taken where it has counted everything", async () => {
  const usage = { inputTokens: 9_000, outputTokens: 1_000 };
  const project = await createSessionProject({ text: "one", usage });
  const session = project.manager();
  await session.run(user("go")).result();
  const { causes, ...counted } = await session.describeContext();
  expect(counted).toMatchObject({ tokens: 10_000, isEstimate: false });
  expect(sum(causes)).toBe(10_000);
});

test("a summary and what was told of another branch are counted as such", async () => {
  const project = await createSessionProject({ text: "one" }, { text: "two" }, { text: GOOD_SUMMARY });
  const session = project.manager();
  await session.run(user("first")).result();
  await session.run(user("second")).result();
  await session.branches.leave(session.branches.path[1]?.id ?? null);
  const { causes, isEstimate } = await session.describeContext();
  expect(causes.summary).toBeGreaterThan(50);
  expect(isEstimate).toBe(true);
});

test("an empty session holds its prompt and its tools", async () => {
  const project = await createSessionProject();
  const { causes } = await project.manager().describeContext();
  expect(causes).toMatchObject({ summary: 0, user: 0, assistant: 0, toolResults: 0 });
  expect(causes.tools).toBeGreaterThan(0);
});

test("describeContext() names the used part of a larger window beside the model's own", async () => {
  const project = await createSessionProject({ text: "one" });
  const session = project.manager({ model: { contextWindow: 1_000_000 } });
  expect(await session.describeContext()).toMatchObject({
    contextWindow: 200_000,
    modelContextWindow: 1_000_000,
    compactsAt: 183_616,
  });
});
