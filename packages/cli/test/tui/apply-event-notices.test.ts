import { expect, test } from "bun:test";
import { applyEvent } from "../../src/tui/apply-event.ts";
import { cutFinished } from "../../src/tui/markdown/stream.ts";
import { createView, type View } from "../../src/tui/view.ts";

type Event = Parameters<typeof applyEvent>[1];

function play(events: readonly Event[]): View {
  return events.reduce(
    (view, event) => applyEvent(view, event, { now: 0, cut: cutFinished }),
    createView({ cwd: "/p" }),
  );
}

function notices({ finished }: View): string[] {
  return finished.flatMap((block) => (block.type === "notice" ? [`${block.level}: ${block.text}`] : []));
}

const SAVED: Event = { type: "knowledge_saved", knowledgeId: "k1", content: "Amounts are cents." };

function callThatSaved(knowledgeId: string): Event[] {
  const call = { itemId: "i", toolCallId: "c", toolName: "add_knowledge" };
  return [
    { type: "tool_start", ...call, input: { type: "pattern", content: "Amounts are cents." } },
    { type: "tool_end", ...call, output: "Knowledge saved.", isError: false, metadata: { knowledgeId } },
  ];
}

test("knowledge saved by a visible call is not announced a second time, other knowledge is", () => {
  expect(notices(play([...callThatSaved("k1"), SAVED]))).toEqual([]);
  const told = ["info: 💡 Knowledge saved: Amounts are cents."];
  expect(notices(play([SAVED]))).toEqual(told);
  expect(notices(play([...callThatSaved("k2"), SAVED]))).toEqual(told);
});

test("the user's own actions are not warnings", () => {
  const end = (stopReason: "aborted" | "approval" | "refusal" | "error" | "end_turn") => {
    return notices(play([{ type: "agent_end", messages: [], stopReason }]));
  };
  expect(end("aborted")).toEqual(["info: interrupted"]);
  expect(end("approval")).toEqual(["info: Stopped: request denied"]);
  expect(end("refusal")).toEqual(["warning: the model declined to answer"]);
  expect(end("error")).toEqual(["error: the run failed"]);
  expect(end("end_turn")).toEqual([]);
});
