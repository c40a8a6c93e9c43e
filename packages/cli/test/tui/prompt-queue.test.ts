import { expect, test } from "bun:test";
import { WaitingPrompts } from "../../src/tui/prompt/prompt-queue.ts";
import { createView, type View } from "../../src/tui/view.ts";

/** Prompts, the view's queue, and a session that records what is sent into its run. */
function open() {
  let view: View = createView({ cwd: "/project" });
  const sent: string[] = [];
  const session = {
    steer: (content: unknown) => `steering-${sent.push(String(content))}`,
    takeBack: (which: "last" | "all") => sent.splice(which === "last" ? -1 : 0),
  };
  const prompts = new WaitingPrompts((change) => {
    view = change(view);
  });
  const queued = () => view.queued.map(({ id, text }) => `${id} ${text}`);
  return { prompts, session, sent, queued };
}

const say = (text: string) => ({ text, content: text });

test("taking back the last prompt prefers a waiting one to one that was sent into the run", () => {
  const { prompts, session, queued } = open();
  prompts.beginRun(session);
  prompts.steer(say("steered"), session);
  prompts.add(say("waiting"));
  expect(queued()).toEqual(["steering-1 steered", "waiting-1 waiting"]);
  expect(prompts.takeBack("last")).toEqual(["waiting"]);
  expect(queued()).toEqual(["steering-1 steered"]);
  expect([prompts.takeBack("last"), prompts.takeBack("last"), queued()]).toEqual([["steered"], [], []]);
});

test("taking back all prompts returns them oldest first, and the model gets none", () => {
  const { prompts, session, sent, queued } = open();
  prompts.beginRun(session);
  for (const text of ["one", "two"]) prompts.steer(say(text), session);
  prompts.add(say("three"));
  expect(prompts.takeBack("all")).toEqual(["one", "two", "three"]);
  expect([sent, queued(), prompts.isEmpty]).toEqual([[], [], true]);
});

test("prompts sent into a run stay with it after it has ended, and when only waiting ones are dropped", () => {
  const { prompts, session, sent, queued } = open();
  prompts.beginRun(session);
  prompts.steer(say("steered"), session);
  prompts.add(say("waiting"));
  expect(prompts.drop("all").map(({ text }) => text)).toEqual(["waiting"]);
  expect([sent, queued()]).toEqual([["steered"], ["steering-1 steered"]]);
  prompts.endRun();
  expect([prompts.takeBack("all"), sent]).toEqual([[], ["steered"]]);
});

test("the first of several taken prompts starts a run, and the others join it under a new id", () => {
  const { prompts, session, sent, queued } = open();
  for (const text of ["one", "two", "three"]) prompts.add(say(text));
  const [first, ...rest] = prompts.take();
  expect([first?.text, queued(), prompts.isEmpty]).toEqual([
    "one",
    ["waiting-2 two", "waiting-3 three"],
    true,
  ]);
  prompts.beginRun(session);
  for (const prompt of rest) prompts.steerTaken(prompt, session);
  expect([sent, queued()]).toEqual([
    ["two", "three"],
    ["steering-1 two", "steering-2 three"],
  ]);
  expect(prompts.takeBack("last")).toEqual(["three"]);
  expect(queued()).toEqual(["steering-1 two"]);
});
