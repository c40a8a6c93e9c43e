import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { GOOD_SUMMARY } from "../../../../core/test/support/summaries.ts";
import { savedLines } from "../../support/session-files.ts";
import { createTemporaryProject, type TemporaryProject } from "../../support/temporary-project.ts";
import { TypedCommands } from "../../support/typed-commands.ts";

let place: TemporaryProject;
let typed: TypedCommands;

beforeEach(async () => {
  place = createTemporaryProject();
  const turns = ["one", "two", "three", "four", "five", "six"].map((text) => ({ text }));
  place.write("script.json", { version: 1, turns, summaries: [{ text: GOOD_SUMMARY, delayMs: 300 }] });
  typed = await new TypedCommands(place).open();
  await typed.say("first");
  await typed.say("second");
  await typed.say("third");
  typed.take();
});

afterEach(async () => {
  await typed.close();
  place.remove();
});

const texts = async () => {
  const { session } = await typed.holder.session;
  return session.context.messages.map(({ role, ...message }) =>
    "content" in message && typeof message.content === "string" ? message.content : role,
  );
};

describe("the session tree", () => {
  test("opens with two presses of Escape on an empty prompt, at the current position", async () => {
    await typed.press("escape", "escape");
    expect(typed.dialog?.title).toBe("Session tree");
    expect(typed.items).toEqual([" ● first", " ● second", " ● third", ">● … three"]);
    expect(typed.dialog?.items.at(-1)?.detail).toBe("← you are here");
  });

  test("continues from a user's message, as a new branch with its text in the editor", async () => {
    await typed.run("/tree");
    await typed.press("up", "up", "enter");
    expect(typed.items).toEqual([
      ">Restore conversation only",
      " Restore conversation, with a summary of this branch",
    ]);
    await typed.press("enter");
    expect(typed.text).toBe("second");
    expect(typed.take("prompt", "answer")).toEqual(["first", "one"]);
    expect(await texts()).toEqual(["first", "assistant"]);
    await typed.say("second, better");
    await typed.run("/tree");
    expect(typed.items).toEqual([
      " ● first",
      "   ○ second",
      "   ○ third",
      "   ○ … three",
      "   ● second, better",
      ">  ● … four",
    ]);
  });

  test("moves to the end of another branch, and to the very beginning", async () => {
    await typed.run("/tree");
    await typed.press("up", "up", "up", "enter", "enter");
    expect([typed.text, await texts()]).toEqual(["first", []]);
    await typed.say("other first");
    await typed.run("/tree");
    expect(typed.items).toEqual(
      [" ● first", " ○ second", " ○ third"]
        .map((item) => item.replace("●", "○"))
        .concat([" ○ … three", " ● other first", ">● … four"]),
    );
    await typed.press("up", "up", "enter", "enter");
    expect(await texts()).toEqual(["first", "assistant", "second", "assistant", "third", "assistant"]);
    expect(typed.text).toBe("first");
  });

  test("asks nothing if no branch is abandoned, and says so if it is already there", async () => {
    await typed.run("/tree");
    await typed.press("enter");
    expect(typed.take()).toEqual(["The conversation is already there."]);
    await typed.run("/tree");
    await typed.press("up", "enter", "enter");
    expect(typed.text).toBe("third");
    await typed.run("/tree");
    expect(typed.items).toEqual([" ● first", " ● second", ">● … two", " ○ third", " ○ … three"]);
    await typed.press("down", "enter");
    expect([typed.dialog, typed.text]).toEqual([undefined, "third"]);
  });

  test("tells the conversation what happened on the abandoned branch, on request", async () => {
    await typed.run("/tree");
    await typed.press("up", "up", "enter", "down", "enter");
    await typed.settle();
    expect(savedLines(place).at(-1)).toMatchObject({ type: "branch_summary", summary: GOOD_SUMMARY });
    expect(await texts()).toEqual(["first", "assistant", `[Branch Summary]\n${GOOD_SUMMARY}`]);
    expect(typed.text).toBe("second");
    expect(typed.take("notice")).toEqual([
      "Summarizing the abandoned branch…",
      "The model got a summary of the other branch.",
      "Continuing from here; the other branches stay in /tree.",
    ]);
  });

  test("stays where it is if the summary is stopped", async () => {
    const before = await texts();
    const lines = savedLines(place).length;
    const { session } = await typed.holder.session;
    const target = session.branches.path[1]?.id ?? null;
    const leaving = typed.context.branch(target, { isSummarized: true });
    while (!typed.blocks.some(({ type }) => type === "notice")) await Bun.sleep(1);
    await typed.press("escape");
    expect(await leaving).toBe(false);
    expect(typed.take("notice")).toEqual([
      "Summarizing the abandoned branch…",
      "Stopped: the conversation is unchanged.",
    ]);
    expect([await texts(), savedLines(place).length]).toEqual([before, lines]);
  });

  test("labels an entry, shows the label and finds it, and removes it again", async () => {
    await typed.run("/tree");
    await typed.press("up", "up", "ctrl+l", "good", " ", "place", "enter");
    expect(typed.items).toEqual([" ● first", ">● [good place] second", " ● third", " ● … three"]);
    await typed.press("place");
    expect(typed.items).toEqual([">● [good place] second"]);
    await typed.press("ctrl+l");
    expect(typed.dialog?.input?.text).toBe("good place");
    await typed.press("ctrl+u", "enter", "ctrl+u");
    expect(typed.items[1]).toBe(" ● second");
  });

  test("does not open for an empty session", async () => {
    await typed.run("/new");
    typed.take();
    await typed.run("/tree");
    expect(typed.take()).toEqual(["No messages yet."]);
  });
});
