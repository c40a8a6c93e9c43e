import { describe, expect, test } from "bun:test";
import { applyEvent } from "../../src/tui/apply-event.ts";
import { renderCallBlock } from "../../src/tui/blocks/tool-renderers.ts";
import { createKeymap } from "../../src/tui/keys/keymap.ts";
import { activityLine } from "../../src/tui/live-region.ts";
import { cutFinished } from "../../src/tui/markdown/stream.ts";
import { createTheme } from "../../src/tui/theme.ts";
import { createView, type View } from "../../src/tui/view.ts";
import { usage } from "../support/agent-events.ts";

type Event = Parameters<typeof applyEvent>[1];

const start = createView({ cwd: "/p" });
const theme = createTheme({ color: false });
const keymap = createKeymap();

function play(events: readonly Event[], view: View = start): View {
  return events.reduce((before, event) => applyEvent(before, event, { now: 0, cut: cutFinished }), view);
}

test("the outcome of a call comes from its event, whatever the call printed", () => {
  const call = { itemId: "i", toolCallId: "c", toolName: "bash" };
  const shown = (end: object) => {
    const { lastCall } = play([
      { type: "tool_start", ...call, input: { command: "psql" } },
      { type: "tool_end", ...call, output: "Refused: connection", isError: true, ...end },
    ]);
    return lastCall && renderCallBlock(lastCall, { width: 60, theme, now: 0 })[0];
  };
  expect(shown({ outcome: "failed", metadata: { exitCode: 1 } })).toBe("✗ bash psql · exit code 1");
  expect(shown({})).toBe("✗ bash psql · failed");
  expect(shown({ outcome: "rejected" })).toBe("✗ bash psql · rejected");
});

test("a call edited by the user shows what runs, during and after it", () => {
  const call = { itemId: "i", toolCallId: "c", toolName: "bash" };
  const begun = play([
    { type: "tool_start", ...call, input: { command: "rm a" } },
    { type: "tool_update", ...call, partialResult: "", input: { command: "rm -i a" } },
    { type: "tool_update", ...call, partialResult: "sure?" },
  ]);
  const look = { width: 60, theme, now: 0 };
  expect(begun.live.map((block) => block.type === "tool" && renderCallBlock(block, look)[0])).toEqual([
    "• bash rm -i a",
  ]);
  const ended = play([
    { type: "tool_start", ...call, input: { command: "rm a" } },
    { type: "tool_end", ...call, output: "gone", isError: false, input: { command: "rm -i a" } },
  ]);
  expect(ended.lastCall && renderCallBlock(ended.lastCall, look)[0]).toBe("✓ bash rm -i a");
});

describe("the size of the context", () => {
  const counted = (event: Partial<Extract<Event, { type: "usage" }>>, before: readonly Event[] = []) => {
    const { contextTokens, sessionTokens, cost } = play([
      ...before,
      { type: "usage", usage: usage(10), cost: 1, ...event },
    ]).status;
    return { contextTokens, sessionTokens, cost };
  };

  test("is that of the conversation's own requests, even during compaction", () => {
    const compacting = compactionStart(5);
    const own = { contextTokens: 40, sessionTokens: 40, cost: 1 };
    expect(counted({})).toEqual(own);
    expect(counted({}, [compacting])).toEqual(own);
  });

  test.each(["summary", "knowledge"] as const)(
    "is not that of a request for %s, although it costs money",
    (purpose) => {
      expect(counted({ purpose })).toEqual({ contextTokens: 0, sessionTokens: 40, cost: 1 });
    },
  );
});

describe("a message that joined the run", () => {
  const queued: View = {
    ...start,
    queued: [
      { id: "1", text: "same" },
      { id: "2", text: "same" },
    ],
  };

  test("is matched with the queued one by its id, not by its text", () => {
    const after = play([{ type: "steering", text: "same", id: "2" }], queued);
    expect(after.queued).toEqual([{ id: "1", text: "same" }]);
    expect(after.finished).toEqual([{ type: "prompt", text: "same" }]);
  });

  test("is shown although it looks like a command, unless it only records one", () => {
    expect(play([{ type: "steering", text: "!ls", id: "3" }]).finished).toEqual([
      { type: "prompt", text: "!ls" },
    ]);
    expect(play([{ type: "steering", text: "!ls", id: "3", isNote: true }])).toEqual(start);
  });

  test("from another source has no id and removes nothing from the queue", () => {
    const after = play([{ type: "steering", text: "same" }], queued);
    expect([after.queued, after.finished.length]).toEqual([queued.queued, 1]);
  });
});

test("a pruning of tool results is shown, and the context size is the new one", () => {
  const event: Event = { type: "prune", entryIds: ["a", "b"], tokensBefore: 90_400, tokensAfter: 61_600 };
  const { finished, status } = play([event]);
  expect(finished).toEqual([
    { type: "notice", level: "info", text: "Shortened 2 tool results: 90k → 62k tokens" },
  ]);
  expect(status).toMatchObject({ contextTokens: 61_600, isContextEstimated: true });
  expect(play([{ ...event, entryIds: ["a"] }]).finished).toMatchObject([
    { text: "Shortened 1 tool result: 90k → 62k tokens" },
  ]);
});

function compactionStart(estimatedTokens: number): Event {
  const tokensByCause = { systemPrompt: 0, tools: 0, summary: 0, user: 0, assistant: 0, toolResults: 0 };
  return {
    type: "compaction_start",
    estimatedTokens,
    trigger: "threshold",
    cutEntryIds: [],
    keptEntryIds: [],
    tokensByCause,
  };
}

test("a retry names the attempt and the key that stops it in any width, the reason only where it fits", () => {
  const reason = "Too many requests, slow down please and wait for a bit longer.";
  const retry = { type: "retry", since: 0, attempt: 2, until: 3_000, reason } as const;
  const line = (width: number) => activityLine(retry, { width, theme, now: 0, keymap })?.slice(2);
  expect(line(40)).toBe("Attempt 2 in 3 s… (0 s · Esc to stop)");
  expect(line(60)).toBe("Too many requests,… Attempt 2 in 3 s… (0 s · Esc to stop)");
  expect(line(200)).toStartWith(`${reason.slice(0, 50)}`);
});

test("a retry during compaction leaves the compaction visible", () => {
  const line = (view: View) => activityLine(view.activity, { width: 90, theme, now: 0, keymap })?.slice(2);
  const waiting = play([
    compactionStart(142_000),
    { type: "status_change", status: "retry", retry: { attempt: 2, delayMs: 3_000 } },
  ]);
  expect(line(waiting)).toStartWith("⟳ Compacting context (142k tokens)… Attempt 2 in 3 s…");
  const again = play([{ type: "status_change", status: "busy" }], waiting);
  expect(line(again)).toStartWith("⟳ Compacting context (142k tokens)… (0");
  const alone = play([{ type: "status_change", status: "retry", retry: { attempt: 2, delayMs: 3_000 } }]);
  expect(line(alone)).toStartWith("Attempt 2 in 3 s…");
});
