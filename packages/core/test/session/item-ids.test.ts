import { expect, test } from "bun:test";
import type { AgentEvent } from "../../src/agent/types.ts";
import type { SessionManager } from "../../src/session/manager.ts";
import { user } from "../support/agent-run.ts";
import { createSessionProject, note } from "../support/session-project.ts";

/** The items that a run begins, and those that it ends. */
async function runItems(session: SessionManager): Promise<{ started: string[]; ended: string[] }> {
  const events: AgentEvent[] = [];
  for await (const event of session.run(user("go"))) events.push(event);
  return {
    started: events.flatMap((event) =>
      event.type === "message_start" || event.type === "tool_start" ? [event.itemId] : [],
    ),
    ended: events.flatMap((event) =>
      event.type === "message_end" || event.type === "tool_end" ? [event.itemId] : [],
    ),
  };
}

test("an itemId is used once in a session, after it was resumed and on another branch too", async () => {
  const turns = [note("a", "b"), { text: "done" }];
  const project = await createSessionProject(...turns, ...turns);
  const session = project.manager();
  const runs = [await runItems(session), await runItems(session)];
  session.close();
  for (const atRoot of [false, true]) {
    project.play(...turns);
    const resumed = project.manager();
    await resumed.resume({ mostRecent: true });
    if (atRoot) resumed.branch(null);
    runs.push(await runItems(resumed));
    resumed.close();
  }
  for (const { started, ended } of runs) {
    expect(started).toHaveLength(4);
    expect(ended.toSorted()).toEqual(started.toSorted());
  }
  const all = runs.flatMap(({ started }) => started);
  expect(new Set(all).size).toBe(all.length);
});
