import { expect, test } from "bun:test";
import type { AgentLoopConfig, ChangeTracker } from "../../src/agent/types.ts";
import { noteTool, runScript } from "../support/agent-run.ts";

const call = (text: string, name = "note") => ({ name, input: { text } });

/** Runs replies with these calls, and tells what happened in which order. */
async function follow(replies: object[][], config: Partial<AgentLoopConfig> = {}): Promise<string[]> {
  const happened: string[] = [];
  const changes: ChangeTracker = {
    async beforeChanges({ isFirst, notify }) {
      happened.push(`before${isFirst ? ", first" : ""}`);
      if (isFirst) notify("warning", "no_undo", "told");
      await Bun.sleep(5);
      happened.push("kept");
    },
    afterChanges: () => void happened.push("after"),
    async settled() {
      await Bun.sleep(5);
      happened.push("settled");
    },
  };
  const approve = async () => {
    happened.push("asked");
    return "once" as const;
  };
  const tools = [noteTool({ calls: happened }), noteTool({ name: "look", readOnly: true, calls: happened })];
  const turns = [...replies.map((toolCalls) => ({ toolCalls: toolCalls.map(toCall) })), { text: "Done." }];
  await runScript(turns, {
    tools,
    approve,
    changes,
    onEvent({ type }) {
      if (type === "agent_end" || type === "notice") happened.push(type);
    },
    ...config,
  });
  return happened;
}

function toCall(given: object): { name: string; input: Record<string, unknown> } {
  return { name: "note", input: {}, ...given };
}

test("the files that a call may change are recorded after approval and before the call, and the record is complete before the run ends", async () => {
  expect(await follow([[call("a")], [call("b")]])).toEqual([
    ...["asked", "before, first", "notice", "kept", "start a", "end a", "after"],
    ...["asked", "before", "kept", "start b", "end b", "after"],
    ...["settled", "agent_end"],
  ]);
});

test("a call that only reads, is rejected or has invalid arguments is not recorded", async () => {
  const reading = await follow([[call("a", "look")], [{ name: "note", input: {} }]]);
  expect(reading.filter((each) => /before|after/.test(each))).toEqual([]);
  const refused = await follow([[call("a")]], { approve: async () => "reject" });
  expect(refused).toEqual(["settled", "agent_end"]);
});

test("a run that is stopped while files are recorded does not run the call", async () => {
  const stop = new AbortController();
  const changes: ChangeTracker = {
    async beforeChanges() {
      stop.abort();
      await Bun.sleep(5);
    },
    afterChanges() {},
    async settled() {},
  };
  const calls: string[] = [];
  const { end } = await runScript([{ toolCalls: [call("a")] }], {
    tools: [noteTool({ calls })],
    changes,
    signal: stop.signal,
  });
  expect([calls, end.stopReason]).toEqual([[], "aborted"]);
});
