import { expect, test } from "bun:test";
import type { AgentEvent } from "../../src/agent/types.ts";
import type { SessionManager } from "../../src/session/manager.ts";
import { user } from "../support/agent-run.ts";
import { createSessionProject, note } from "../support/session-project.ts";

/** The items and turns that a run begins, and those that it ends. */
async function runItems(
  session: SessionManager,
): Promise<{ started: string[]; ended: string[]; turns: string[] }> {
  const events: AgentEvent[] = [];
  for await (const event of session.run(user("go"))) events.push(event);
  return {
    started: events.flatMap((event) =>
      event.type === "message_start" || event.type === "tool_start" ? [event.itemId] : [],
    ),
    ended: events.flatMap((event) =>
      event.type === "message_end" || event.type === "tool_end" ? [event.itemId] : [],
    ),
    turns: events.flatMap((event) => (event.type === "turn_start" ? [event.turnId] : [])),
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
  expectUnique(runs);
});

test("itemIds and turnIds of two managers that append to one session file at the same time differ", async () => {
  const turns = [note("a", "b"), { text: "done" }];
  const project = await createSessionProject(...turns);
  const first = project.manager();
  const runs = [await runItems(first)];
  first.flush();
  // Both have read the same file, so they count the same entries.
  project.play(...turns);
  const others = [project.manager(), project.manager()];
  for (const other of others) await other.resume({ mostRecent: true });
  for (const session of [...others, first]) {
    project.play(...turns);
    runs.push(await runItems(session));
  }
  for (const session of [...others, first]) session.close();
  expectUnique(runs);
});

function expectUnique(runs: readonly { started: string[]; turns: string[] }[]): void {
  for (const ids of [runs.flatMap(({ started }) => started), runs.flatMap(({ turns }) => turns)])
    expect([ids.length > runs.length, new Set(ids).size]).toEqual([true, ids.length]);
}
