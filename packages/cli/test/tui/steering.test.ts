import { afterEach, beforeEach, expect, test } from "bun:test";
import { messageText } from "@diligent/core";
import { BUSY_MS } from "../../../core/test/support/busy-machine.ts";
import { createTemporaryProject, type TemporaryProject } from "../support/temporary-project.ts";
import { TypedCommands, writeScript } from "../support/typed-commands.ts";
import { WAIT_FOR_GO } from "../support/wait-for-go.ts";

let place: TemporaryProject;
let program: TypedCommands | undefined;

beforeEach(() => {
  place = createTemporaryProject();
});

afterEach(async () => {
  await program?.settle();
  await program?.close();
  program = undefined;
  place.remove();
});

async function start(): Promise<TypedCommands> {
  place.configure({ approval: "auto" });
  program = await new TypedCommands(place).open();
  return program;
}

async function until(isTrue: () => boolean): Promise<void> {
  while (!isTrue()) await Bun.sleep(2);
}

/** A run in the middle of its first call. */
async function startRun(typed: TypedCommands): Promise<void> {
  void typed.say("go");
  await until(() => typed.view.activity.type === "tool");
}

const queuedTexts = ({ view }: TypedCommands) => view.queued.map(({ text }) => text);

const CALL = { toolCalls: [{ name: "bash", input: { command: WAIT_FOR_GO } }] };

const userTexts = async (typed: TypedCommands) => {
  const { session } = await typed.holder.session;
  return session.context.messages.flatMap((message) =>
    message.role === "user" ? [messageText(message)] : [],
  );
};

test("a file mentioned in a message to a run is attached, and shown by its name", async () => {
  writeScript(place, CALL, "Seen.");
  place.write("a.txt", "what stands in a");
  const typed = await start();
  await startRun(typed);
  typed.enter("look at @a.txt");
  await until(() => typed.view.queued.length > 0);
  expect(queuedTexts(typed)).toEqual(["look at @a.txt"]);
  place.write("go", "");
  await typed.settle();
  expect(typed.take("prompt", "answer")).toEqual(["go", "look at @a.txt", "Seen."]);
  const [, steered = ""] = await userTexts(typed);
  expect(steered).toContain("what stands in a");
  expect(typed.view.queued).toEqual([]);
});

test("a message taken back from the run returns its text, and the model does not get it", async () => {
  writeScript(place, CALL, "Done.");
  place.write("a.txt", "what stands in a");
  const typed = await start();
  await startRun(typed);
  typed.enter("look at @a.txt");
  await until(() => typed.view.queued.length === 1);
  typed.enter("and this");
  await until(() => typed.view.queued.length === 2);
  typed.text = "";
  void typed.press("alt+up");
  await until(() => typed.view.queued.length === 1);
  expect([typed.text, queuedTexts(typed)]).toEqual(["and this", ["look at @a.txt"]]);
  void typed.press("alt+up");
  await until(() => typed.view.queued.length === 0);
  expect([typed.text, queuedTexts(typed)]).toEqual(["look at @a.txt\nand this", []]);
  place.write("go", "");
  await typed.settle();
  expect(await userTexts(typed)).toEqual(["go"]);
});

test("Esc returns queued prompts, followed by the text being typed, and saves none of it", async () => {
  writeScript(place, CALL, "Done.");
  const typed = await start();
  await startRun(typed);
  typed.enter("one more");
  await until(() => typed.view.queued.length === 1);
  typed.enter("and another");
  await until(() => typed.view.queued.length === 2);
  typed.text = "half wri";
  const begun = performance.now();
  await typed.press("escape");
  expect(performance.now() - begun).toBeLessThan(1_000 + BUSY_MS);
  expect([typed.text, queuedTexts(typed)]).toEqual(["one more\nand another\nhalf wri", []]);
  expect(await userTexts(typed)).toEqual(["go"]);
});

test("a prompt sent during compaction is shown as queued and sent afterwards", async () => {
  place.write("script.json", {
    version: 1,
    turns: [{ text: "x ".repeat(30_000) }, { text: "two" }, { text: "three" }],
    summaries: [{ text: "## Goal\nTest.", delayMs: 200 }],
  });
  const typed = await start();
  await typed.say("first");
  await typed.say("second");
  typed.take();
  const compacting = typed.run("/compact");
  await until(() => typed.view.activity.type === "compacting");
  typed.enter("third");
  await until(() => typed.view.queued.length === 1);
  await compacting;
  await until(() => typed.view.queued.length === 0);
  await typed.settle();
  expect(typed.take("prompt", "answer")).toEqual(["third", "three"]);
});
