import { expect, test } from "bun:test";
import type { Effort } from "../../src/provider/types.ts";
import { readSessionSettings } from "../../src/session/log.ts";
import { readSessionFile } from "../../src/session/read-file.ts";
import { user } from "../support/agent-run.ts";
import { createSessionProject } from "../support/session-project.ts";

async function sessionThinking(effort?: Effort) {
  const project = await createSessionProject({ text: "one" }, { text: "two" });
  const session = project.manager();
  if (effort !== undefined) session.useModel({ effort });
  await session.run(user("first")).result();
  const settings = () => project.lines().filter(({ type }) => type === "settings");
  return { project, session, settings };
}

test("a thinking level is kept with the first prompt, and again only when it changes", async () => {
  const { session, settings } = await sessionThinking("high");
  expect(settings()).toMatchObject([{ effort: "high" }]);
  await session.run(user("second")).result();
  session.useModel({ effort: "high" });
  expect(settings()).toHaveLength(1);
});

test("a thinking level that is chosen between two prompts is kept at once", async () => {
  const { session, settings } = await sessionThinking();
  expect(settings()).toEqual([]);
  session.useModel({ effort: "low" });
  expect(settings()).toMatchObject([{ effort: "low" }]);
  const { entries } = readSessionFile(session.sessionPath ?? "");
  expect(readSessionSettings(entries)?.effort).toBe("low");
});

test("the conversation continues behind its last message, whatever was chosen since", async () => {
  const { project, session } = await sessionThinking();
  const leaf = session.leafId;
  session.useModel({ effort: "max" });
  session.close();
  const resumed = project.manager();
  await resumed.resume({ mostRecent: true });
  expect(resumed.leafId).toBe(leaf);
});
