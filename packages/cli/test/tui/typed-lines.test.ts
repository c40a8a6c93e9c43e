import { afterEach, beforeEach, expect, test } from "bun:test";
import { join } from "node:path";
import { createTemporaryProject, type TemporaryProject } from "../support/temporary-project.ts";
import { TypedCommands } from "../support/typed-commands.ts";

let place: TemporaryProject;
let typed: TypedCommands;

beforeEach(async () => {
  place = createTemporaryProject();
  place.write("script.json", { version: 1, turns: [{ text: "Done." }] });
  typed = await new TypedCommands(place).open();
  typed.take();
});

afterEach(async () => {
  await typed.close();
  place.remove();
});

test("the output of a command follows the typed line; a list leaves nothing behind", async () => {
  typed.enter(" /cost ");
  await typed.settle();
  expect(typed.take()).toEqual(["/cost", "No requests in this session yet."]);
  typed.enter("/model");
  await typed.settle();
  expect(typed.dialog?.name).toBe("model");
  expect(typed.take()).toEqual([]);
});

test("/? is the same as /help", async () => {
  typed.enter("/?");
  await typed.settle();
  expect(typed.take("output")[0]).toStartWith("Commands and shortcuts\n\n");
});

test("the prompt of /init has each paragraph and each item on one line", async () => {
  const sent: string[] = [];
  const { default: prompt } = await import("../../src/tui/commands/init-prompt.md", {
    with: { type: "text" },
  });
  const { INIT } = await import("../../src/tui/commands/session-commands.ts");
  await INIT.run("", { ...typed.context, send: (text) => void sent.push(text) });
  const [text = ""] = sent;
  const words = (whole: string) => whole.split(/\s+/).filter(Boolean);
  const path = join(place.project, "AGENTS.md");
  expect(words(text)).toEqual(words(prompt.replaceAll("{path}", path)));
  expect(text.split("\n").filter((line) => !/^$|^- |[.:]$/.test(line))).toEqual([]);
});

test("/tree with an id moves there, and reports an unknown id", async () => {
  await typed.say("first");
  const { session } = await typed.holder.session;
  const [first] = session.branches.entries;
  typed.take();
  await typed.run(`/tree ${first?.id.slice(0, 6)}`);
  await typed.press("enter");
  await typed.settle();
  expect(typed.text).toBe("first");
  await typed.run("/tree zzz");
  expect(typed.take("notice").at(-1)).toBe("error: No entry zzz in this session; /tree lists them.");
});
