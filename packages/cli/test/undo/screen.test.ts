import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { MoveControl } from "@diligent/core/harness";
import { ConversationDriver } from "../../src/tui/conversation-driver.ts";
import { createKeymap } from "../../src/tui/keys/keymap.ts";
import { activityLine } from "../../src/tui/live-region.ts";
import { createTheme } from "../../src/tui/theme.ts";
import { runInTerminal } from "../support/run-in-terminal.ts";
import { createTemporaryProject, type TemporaryProject } from "../support/temporary-project.ts";
import { TypedCommands, writeScript } from "../support/typed-commands.ts";

let place: TemporaryProject;
let typed: TypedCommands | undefined;

beforeEach(() => {
  place = createTemporaryProject();
  place.write("a.txt", "one\n");
});

afterEach(async () => {
  await typed?.close();
  place.remove();
});

const read = () => readFileSync(join(place.project, "a.txt"), "utf8");
const bashOf = (command: string) => ({ toolCalls: [{ name: "bash", input: { command } }] });
const change = (text: string) => bashOf(`printf '${text}\\n' > a.txt`);

async function open(...turns: (string | object)[]): Promise<TypedCommands> {
  writeScript(place, ...turns);
  typed = await new TypedCommands(place, { options: { approval: "auto" } }).open();
  return typed;
}

describe("undo and /diff on the screen", () => {
  test("/undo reverts prompt by prompt, /redo restores, and the model is notified", async () => {
    const program = await open(change("two"), "done", change("three"), "done", "I see.");
    await program.say("first");
    await program.say("second");
    program.take();
    await program.run("/undo");
    expect(program.take()).toEqual([
      "Undid the changes of the last prompt that changed files: one path.\n  ± a.txt",
    ]);
    expect(read()).toBe("two\n");
    await program.run("/undo");
    expect(read()).toBe("one\n");
    program.take();
    await program.run("/undo");
    expect(program.take()).toEqual(["Nothing to undo in this session."]);
    await program.run("/redo");
    expect(program.take()).toEqual(["Restored what was undone: one path.\n  ± a.txt"]);
    expect(read()).toBe("two\n");
    await program.say("third");
    const { session } = await program.holder.session;
    const told = session.context.messages.filter(({ role, ...message }) => {
      const { content } = { content: "", ...message };
      return role === "user" && typeof content === "string" && content.startsWith("[The user has");
    });
    expect(told).toHaveLength(3);
  });

  test("after an undo the model must read a file again before it edits it", async () => {
    const edit = (from: string, to: string) => ({
      toolCalls: [{ name: "edit", input: { file_path: "a.txt", old_string: from, new_string: to } }],
    });
    const look = { toolCalls: [{ name: "read", input: { file_path: "a.txt" } }] };
    const program = await open(look, edit("one", "two"), "done", edit("two", "three"), "done");
    await program.say("first");
    await program.run("/undo");
    program.take();
    await program.say("second");
    expect(program.take("tool")[0]).toMatch(/changed|read it again|Read it/i);
    expect(read()).toBe("one\n");
  });

  test("/diff shows the shell's changes too, and nothing once they were undone", async () => {
    const program = await open(change("two"), "done");
    await program.say("first");
    program.take();
    await program.run("/diff");
    expect(program.take()).toEqual([
      "a.txt +1 −1\n@@ -1,1 +1,1 @@\n-one\n+two\n",
      "1 path changed, +1 −1, by any tool. /undo undoes the last prompt's changes.",
    ]);
    await program.run("/undo");
    program.take();
    await program.run("/diff");
    expect(program.take()).toEqual(["The project is the same as before this session's first change."]);
  });

  test("/diff shows permissions next to other content, and removed files", async () => {
    place.write("old.txt", "bye\n");
    const program = await open(
      { toolCalls: [{ name: "bash", input: { command: "echo two > a.txt; chmod 700 a.txt; rm old.txt" } }] },
      "done",
    );
    await program.say("first");
    program.take();
    await program.run("/diff");
    expect(program.take()).toEqual([
      "a.txt +1 −1\n@@ -1,1 +1,1 @@\n-one\n+two\n",
      "old.txt +0 −1\n@@ -1,1 +0,0 @@\n-bye\n",
      "a.txt: permissions 644 → 700",
      "2 paths changed, +1 −2, by any tool. /undo undoes the last prompt's changes.",
    ]);
  });

  test("a jump with files says beforehand what is kept, and leaves the user's changes", async () => {
    const program = await open(change("two"), "done", bashOf("echo x > new.txt; echo three > a.txt"), "done");
    await program.say("first");
    await program.say("second");
    place.write("a.txt", "mine\n");
    await program.run("/tree");
    await program.press("up", "enter");
    expect(program.dialog?.items[1]?.detail).toBe(
      "one path is restored, 1 changed since is kept; /redo reverses that",
    );
    program.take();
    await program.press("down", "enter");
    await program.settle();
    expect(read()).toBe("mine\n");
    expect(program.take("output")[0]?.split("\n")).toEqual([
      "Restored the files to that point: one path.",
      "  − new.txt",
      expect.stringMatching(/^ {2}! a\.txt: .*; left unchanged$/),
    ]);
  });

  test("/diff names files that are not text", async () => {
    const command = "printf '\\0\\1' > bin; ln -s a.txt link; mkdir dir; chmod 600 a.txt; touch empty";
    const program = await open({ toolCalls: [{ name: "bash", input: { command } }] }, "done");
    await program.say("first");
    program.take();
    await program.run("/diff");
    expect(program.take("output")).toEqual([
      [
        "a.txt: permissions 644 → 600",
        "bin: new binary or large file (2 bytes)",
        "dir: new directory",
        "empty: new empty file",
        "link: new link to a.txt",
      ].join("\n"),
    ]);
  });

  test("a jump in the tree restores the files on request", async () => {
    const program = await open(change("two"), "done", change("three"), "done");
    await program.say("first");
    await program.say("second");
    await program.run("/tree");
    await program.press("up", "enter");
    expect(program.items).toEqual([
      ">Restore conversation only",
      " Restore conversation and files",
      " Restore conversation, with a summary of this branch",
    ]);
    program.take();
    await program.press("down", "enter");
    await program.settle();
    expect([read(), program.text]).toEqual(["two\n", "second"]);
    expect(program.take("output")).toEqual(["Restored the files to that point: one path.\n  ± a.txt"]);
  });
});

describe("while files are being restored", () => {
  /** Starts to restore files until the signal is aborted, and says so. */
  function begin(program: TypedCommands) {
    const begun = Promise.withResolvers<MoveControl>();
    const moving = program.context.moveFiles("undo", async (control) => {
      begun.resolve(control);
      await new Promise<void>((resolve) => control.signal?.addEventListener("abort", () => resolve()));
      control.onProgress?.({ doing: "rollBack", done: 3, total: 2_000 });
      program.context.print("stopped");
    });
    return { begun: begun.promise, moving };
  }

  const activity = (program: TypedCommands) =>
    activityLine(program.view.activity, {
      ...{ width: 90, now: program.view.activity.type === "idle" ? 0 : program.view.activity.since },
      ...{ theme: createTheme({ color: false }), keymap: createKeymap() },
    });

  test("the operation and its progress are shown, and Escape stops it", async () => {
    const program = await open("done");
    const { begun, moving } = begin(program);
    const { onProgress } = await begun;
    expect(activity(program)).toMatch(/^. Undoing… \(0 s · Esc to stop\)$/);
    onProgress?.({ doing: "look", done: 12, total: 20_000 });
    expect(activity(program)).toContain("Undoing: scanning files, 12 of 20,000…");
    onProgress?.({ doing: "restore", done: 1_200, total: 20_000 });
    expect(activity(program)).toContain("Undoing: 1,200 of 20,000 done…");
    await program.press("escape");
    await moving;
    expect([program.view.activity.type, program.take("output")]).toEqual(["idle", ["stopped"]]);
  });

  test("a prompt waits until it has ended, and no other operation restores files", async () => {
    const program = await open("an answer");
    const { begun, moving } = begin(program);
    await begun;
    await program.run("/redo");
    expect(program.take()).toEqual(["error: Cannot restore files while a task is running."]);
    program.enter("a prompt");
    while (program.view.queued.length === 0) await Bun.sleep(1);
    // A user who stops the operation gets back the prompts that waited for it.
    await program.press("escape");
    await moving;
    expect(program.text).toBe("a prompt");
  });

  test("no shell command of the user starts, and its line returns to the editor", async () => {
    const program = await open("done");
    const { begun, moving } = begin(program);
    await begun;
    program.enter("!touch begun");
    while (program.text === "") await Bun.sleep(1);
    await program.press("escape");
    await moving;
    expect([program.text, existsSync(join(place.project, "begun"))]).toEqual(["!touch begun", false]);
    expect(program.take("notice")).toEqual([
      "error: Cannot run a command while files are being restored; Esc stops it.",
    ]);
  });
});

test("quitting names files being restored, but not files that are only scanned", async () => {
  const driver = new ConversationDriver({
    session: () => new Promise(() => {}),
    change: () => {},
    room: () => ({ rows: 24, columns: 80, keymap: createKeymap() }),
  });
  const seen: unknown[] = [];
  const look = async () => void seen.push(driver.isMovingFiles, driver.interruptedMove);
  await driver.moveFiles("undo", look, { isDryRun: true });
  await driver.moveFiles("redo", look);
  expect([...seen, driver.interruptedMove]).toEqual([true, undefined, true, "redo", undefined]);
});

test("/undo and /redo work the same at the line prompt", async () => {
  writeScript(place, change("two"), "All done.");
  const program = runInTerminal(place, ["--plain-ui", "-m", "scripted/script.json", "--approval", "auto"]);
  await program.shown("diligent> ");
  program.type("go\r");
  await program.shown("All done.");
  await program.shown("diligent> ");
  program.type("/undo\r");
  await program.shown("Undid the changes of the last prompt that changed files: one path.");
  await program.shown("± a.txt");
  expect(read()).toBe("one\n");
  program.type("/redo\r");
  await program.shown("Restored what was undone: one path.");
  expect(read()).toBe("two\n");
  program.type("/quit\r");
  expect(await program.exitCode).toBe(0);
});
