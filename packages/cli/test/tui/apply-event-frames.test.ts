import { describe, expect, test } from "bun:test";
import { applyEvent } from "../../src/tui/apply-event.ts";
import { createView, type View } from "../../src/tui/view.ts";
import { assistantMessage, usage } from "../support/agent-events.ts";

type Event = Parameters<typeof applyEvent>[1];

/** Everything above the last blank line is finished. */
function cut(markdown: string): { finished: string; rest: string } {
  const at = markdown.lastIndexOf("\n\n") + 1;
  return { finished: markdown.slice(0, at), rest: markdown.slice(at) };
}

/** The views after events, one per tick; finished blocks are removed after each, as the screen does. */
function frames(events: readonly Event[]): View[] {
  const views: View[] = [];
  for (const [index, event] of events.entries()) {
    const before = views.at(-1) ?? createView({ cwd: "/p" });
    views.push(applyEvent({ ...before, finished: [] }, event, { now: (index + 1) * 100, cut }));
  }
  return views;
}

const parts = ({ finished, live, activity }: View) => ({ finished, live, activity: activity.type });
const PARTIAL = assistantMessage("");
const START: Event = { type: "message_start", itemId: "i", message: PARTIAL };

function delta(type: "text_delta" | "thinking_delta", text: string): Event {
  return { type: "message_delta", itemId: "i", message: PARTIAL, delta: { type, delta: text } };
}

function endOfMessage(text: string): Event {
  return { type: "message_end", itemId: "i", message: assistantMessage(text) };
}

const callOf = (toolCallId: string) => ({ itemId: toolCallId, toolCallId, toolName: "bash" });
const startOf = (id: string): Event => ({ type: "tool_start", ...callOf(id), input: { command: id } });
const endOf = (id: string): Event => ({ type: "tool_end", ...callOf(id), output: `${id}!`, isError: false });

describe("a streaming answer", () => {
  test("is live until a block of it ends, follows its thinking, and is complete at its end", () => {
    const texts = ["a\n", "\nb", "c"].map((text) => delta("text_delta", text));
    const shown = frames([START, delta("thinking_delta", "hm"), ...texts, endOfMessage("a\n\nbc")]).map(
      parts,
    );
    const thinking = { type: "thinking" as const, text: "hm", startedAt: 200 };
    const answer = (markdown: string) => ({ type: "answer" as const, markdown });
    expect(shown).toEqual([
      { finished: [], live: [], activity: "idle" },
      { finished: [], live: [thinking], activity: "thinking" },
      { finished: [{ ...thinking, endedAt: 300 }], live: [answer("a\n")], activity: "answering" },
      { finished: [answer("a\n")], live: [answer("\nb")], activity: "answering" },
      { finished: [], live: [answer("\nbc")], activity: "answering" },
      { finished: [answer("\nbc")], live: [], activity: "waiting" },
    ]);
  });

  test("that restarts is shown once", () => {
    const events = [
      START,
      delta("text_delta", "old"),
      START,
      delta("text_delta", "new"),
      endOfMessage("new"),
    ];
    expect(frames(events).flatMap(({ finished }) => finished)).toEqual([{ type: "answer", markdown: "new" }]);
  });

  test("is shown at its end if it was never streamed", () => {
    expect(frames([endOfMessage("all")])[0]?.finished).toEqual([{ type: "answer", markdown: "all" }]);
  });
});

test("a call that ends first waits for the one above it, so that the order stays the same", () => {
  const views = frames([startOf("one"), startOf("two"), endOf("two"), endOf("one")]);
  const ids = (blocks: View["live"]) =>
    blocks.flatMap((block) => (block.type === "tool" ? [block.call.toolCallId] : []));
  expect(views.map(({ finished, live }) => [ids(finished), ids(live)])).toEqual([
    [[], ["one"]],
    [[], ["one", "two"]],
    [[], ["one", "two"]],
    [["one", "two"], []],
  ]);
  expect(views.at(-1)?.lastCall?.call.result?.output).toBe("two!");
});

test("a retry shows its attempt and its delay, followed by the wait for the model", () => {
  const views = frames([
    { type: "status_change", status: "retry", retry: { attempt: 2, delayMs: 4_000 } },
    { type: "status_change", status: "busy" },
    { type: "status_change", status: "idle" },
  ]);
  expect(views.map(({ activity }) => activity)).toEqual([
    { type: "retry", since: 100, attempt: 2, until: 4_100 },
    { type: "waiting", since: 200 },
    { type: "idle" },
  ]);
});

test("the reasons of several attempts are one changing line, and none stays in the transcript", () => {
  const retry = (attempt: number, reason: string): Event[] => [
    { type: "status_change", status: "retry", retry: { attempt, delayMs: 4_000 } },
    {
      type: "notice",
      level: "warning",
      code: "retry",
      message: `${reason} Attempt ${attempt} in 4 s.`,
    },
  ];
  const views = frames([...retry(2, "Busy."), ...retry(3, "The connection was lost.")]);
  expect(views.flatMap(({ finished }) => finished)).toEqual([]);
  expect(views.at(-1)?.activity).toEqual({
    type: "retry",
    since: 300,
    attempt: 3,
    until: 4_300,
    reason: "The connection was lost.",
  });
  const anew = "Cut off. Attempt 2 in 4 s. Restarting the response.";
  const notice: Event = { type: "notice", level: "warning", code: "retry", message: anew };
  const [retrying] = retry(2, "");
  expect(frames(retrying ? [retrying, notice] : []).at(-1)?.finished).toEqual([
    { type: "notice", level: "warning", text: anew },
  ]);
});

test("usage shows the size of the latest request and the session's total; an unknown price stays unknown", () => {
  const used = (tokens: number, cost: number | null): Event => ({
    type: "usage",
    usage: usage(tokens),
    cost,
  });
  const views = frames([used(10, 0.5), used(5, 0.25), used(1, null), used(1, 1)]);
  expect(
    views.map(({ status: { contextTokens, sessionTokens, cost } }) => [contextTokens, sessionTokens, cost]),
  ).toEqual([
    [40, 40, 0.5],
    [20, 60, 0.75],
    [4, 64, null],
    [4, 68, null],
  ]);
});

test("every open block is finished when a run ends", () => {
  const end: Event = { type: "agent_end", messages: [], stopReason: "aborted" };
  const last = frames([START, delta("text_delta", "half"), startOf("one"), end]).at(-1);
  expect(last?.finished.map(({ type }) => type)).toEqual(["answer", "tool", "notice"]);
  expect([last?.live, last?.activity]).toEqual([[], { type: "idle" }]);
});
