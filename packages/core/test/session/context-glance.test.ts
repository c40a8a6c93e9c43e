import { expect, test } from "bun:test";
import { user } from "../support/agent-run.ts";
import { createSessionProject } from "../support/session-project.ts";

const usage = { inputTokens: 900, outputTokens: 100, cacheReadTokens: 0, cacheWriteTokens: 0 };
const WINDOW = { contextWindow: 10_000 };

test("an empty conversation takes nothing, and its limit is known", async () => {
  const project = await createSessionProject();
  const session = project.manager({ model: WINDOW });
  expect(session.branches.contextSnapshot).toEqual({
    tokens: 0,
    isEstimate: false,
    compactsAt: 7_500,
    contextWindow: 10_000,
  });
});

test("is the provider's count behind an answer, and an estimate once something has followed", async () => {
  const project = await createSessionProject({ text: "one", usage });
  const session = project.manager({ model: WINDOW });
  await session.run(user("go")).result();
  expect(session.branches.contextSnapshot).toEqual({
    tokens: 1_000,
    isEstimate: false,
    compactsAt: 7_500,
    contextWindow: 10_000,
  });
  await session.notify("x".repeat(400));
  expect(session.branches.contextSnapshot).toMatchObject({ tokens: 1_100, isEstimate: true });
});

test("is estimated where no answer was counted, and agrees with what is described by cause", async () => {
  const project = await createSessionProject({ text: "one", usage }, { text: "two", usage });
  const session = project.manager({ model: WINDOW, context: { compaction: { enabled: false } } });
  await session.run(user("x".repeat(4_000))).result();
  const [first] = session.branches.path;
  session.branch(first?.id ?? null);
  const { tokens } = await session.describeContext();
  expect(session.branches.contextSnapshot).toMatchObject({ tokens, isEstimate: true });
  expect(tokens).toBeGreaterThan(1_000);
});
