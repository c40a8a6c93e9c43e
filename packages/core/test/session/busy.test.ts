import { expect, test } from "bun:test";
import { user } from "../support/agent-run.ts";
import { createSessionProject } from "../support/session-project.ts";
import { GOOD_SUMMARY } from "../support/summaries.ts";

const BUSY = "This session is busy: wait until its compaction has ended.";
/** A session with a conversation, whose compactions wait for a new system prompt. */
async function compactable(buildSystemPrompt: () => Promise<string>) {
  const project = await createSessionProject({ text: "one" }, { text: "two" }, { text: "three" });
  const session = project.manager({
    context: {
      buildSystemPrompt,
      summarizer: async () => ({
        model: project.model,
        streamFunction: project.playing({ text: GOOD_SUMMARY }),
      }),
    },
  });
  for (const text of ["alpha ".repeat(2_000), "beta ".repeat(2_000)]) await session.run(user(text)).result();
  return { project, session };
}

test("while a session is compacted it is neither left nor given another model", async () => {
  const { promise, resolve } = Promise.withResolvers<string>();
  const { project, session } = await compactable(() => promise);
  const { leafId, sessionId } = session;
  const compacting = session.compact();
  expect(() => session.branch(null)).toThrow(BUSY);
  expect(() => session.useModel({ effort: "low" })).toThrow(BUSY);
  await expect(session.branches.leave(null)).rejects.toThrow(BUSY);
  await expect(session.create()).rejects.toThrow(BUSY);
  expect([session.leafId, session.sessionId]).toEqual([leafId, sessionId]);
  resolve("Be brief.");
  expect(await compacting).toMatchObject({ kind: "compacted" });
  session.branch(null);
  expect(project.lines().at(-1)).toMatchObject({ type: "compaction", parentId: leafId });
});

test("a prompt that waits for a compaction is answered where that fails", async () => {
  const { promise, reject } = Promise.withResolvers<string>();
  const { session } = await compactable(() => promise);
  const compacting = session.compact();
  const answered = session.run(user("and now?")).result();
  reject(new Error("no instructions"));
  await expect(compacting).rejects.toThrow("no instructions");
  expect(await answered).toMatchObject([{ role: "assistant", content: [{ text: "three" }] }]);
});
