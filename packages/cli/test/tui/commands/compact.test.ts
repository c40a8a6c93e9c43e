import { afterEach, beforeEach, expect, test } from "bun:test";
import { GOOD_SUMMARY } from "../../../../core/test/support/summaries.ts";
import { createTemporaryProject, type TemporaryProject } from "../../support/temporary-project.ts";
import { TypedCommands, writeScript } from "../../support/typed-commands.ts";

let place: TemporaryProject;
let program: TypedCommands | undefined;

beforeEach(() => {
  place = createTemporaryProject();
  writeScript(place, "one", "two", GOOD_SUMMARY);
});

afterEach(async () => {
  await program?.close();
  place.remove();
});

const long = (word: string) => `${word} `.repeat(400);

async function talk(): Promise<TypedCommands> {
  const typed = await new TypedCommands(place).open();
  program = typed;
  await typed.say(long("alpha"));
  await typed.say(long("beta"));
  typed.take();
  return typed;
}

async function messagesOf(typed: TypedCommands) {
  return (await typed.holder.session).session.context.messages;
}

test("/compact --preview asks on the screen, where the first choice keeps the conversation as it is", async () => {
  const typed = await talk();
  const before = await messagesOf(typed);
  await typed.run("/compact --preview");
  const [shown = ""] = typed.take("output");
  expect(shown).toContain("summarized  ");
  expect(shown).toContain("first: alpha alpha");
  expect(shown).toContain("last: two");
  expect(typed.items).toEqual([">No", " Yes"]);
  await typed.press("enter");
  await typed.settle();
  expect(typed.take()).toEqual(["Not summarized; the conversation is unchanged."]);
  expect(await messagesOf(typed)).toEqual(before);
  await typed.run("/compact --preview");
  await typed.press("down", "enter");
  await typed.settle();
  expect(JSON.stringify((await messagesOf(typed))[0])).toContain("[Session Summary]");
});

test("/compact --undo updates the size in the status line", async () => {
  const typed = await talk();
  const { contextTokens } = typed.view.status;
  await typed.run("/compact");
  const compacted = typed.view.status.contextTokens;
  expect(compacted).not.toBe(contextTokens);
  await typed.run("/compact --undo");
  expect(typed.view.status.contextTokens).toBe(contextTokens);
  expect(typed.take("notice").join()).toContain("Summary undone: ");
});
