import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { BUSY_MS } from "../../../core/test/support/busy-machine.ts";
import { readShellLine } from "../../src/shell-line.ts";
import { renderBlock } from "../../src/tui/blocks/render-blocks.ts";
import { createKeymap } from "../../src/tui/keys/keymap.ts";
import { applyKey } from "../../src/tui/keys-to-effects.ts";
import { liveLines } from "../../src/tui/live-region.ts";
import { toEarlierShellCall, toShellCall } from "../../src/tui/shell-call.ts";
import { createTheme } from "../../src/tui/theme.ts";
import { createView, type View } from "../../src/tui/view.ts";
import { createTemporaryProject, type TemporaryProject } from "../support/temporary-project.ts";
import { TypedCommands, writeScript } from "../support/typed-commands.ts";
import { WAIT_FOR_GO } from "../support/wait-for-go.ts";

const theme = createTheme({ color: false });
const keymap = createKeymap();

let place: TemporaryProject;
let program: TypedCommands | undefined;

beforeEach(() => {
  place = createTemporaryProject();
  writeScript(place, "one", "two", "three");
});

afterEach(async () => {
  await program?.settle();
  await program?.close();
  program = undefined;
  place.remove();
});

async function start(): Promise<TypedCommands> {
  program = await new TypedCommands(place).open();
  return program;
}

async function enter(typed: TypedCommands, text: string): Promise<void> {
  typed.enter(text);
  await typed.settle();
}

async function until(isTrue: () => boolean): Promise<void> {
  while (!isTrue()) await Bun.sleep(5);
}

const messages = async (typed: TypedCommands) => (await typed.holder.session).session.context.messages;

const said = async (typed: TypedCommands) =>
  (await messages(typed)).map((message) =>
    "content" in message
      ? [message.content]
          .flat()
          .map((part) => (typeof part === "string" || part.type !== "text" ? part : part.text))
      : message.output,
  );

const queuedTexts = ({ view }: TypedCommands) => view.queued.map(({ text }) => text);

const LEAD = "The user ran this command in their own shell, not through you.";

describe("a line that begins with !", () => {
  test("runs in the project without a question, is shown, and is shared with the model in the next prompt", async () => {
    const typed = await start();
    await enter(typed, "!echo hello; pwd; false");
    expect(typed.take()).toEqual([`! → hello\n${place.project}\n[exit code 1]`]);
    expect(typed.view).toMatchObject({
      shell: undefined,
      lastCall: {
        type: "shell",
        isSharedWithModel: true,
        call: { input: { command: "echo hello; pwd; false" } },
      },
    });
    await typed.say("why?");
    expect(await said(typed)).toEqual([
      [
        "!echo hello; pwd; false",
        `${LEAD} Exit code: 1. Its output:\n\nhello\n${place.project}\n[exit code 1]`,
      ],
      ["why?"],
      ["one"],
    ]);
  });

  test("with two marks is hidden from the model and the file", async () => {
    const typed = await start();
    await enter(typed, "!!echo secret");
    expect(typed.take()).toEqual(["!! → secret"]);
    await typed.say("go");
    expect(await said(typed)).toEqual([["go"], ["one"]]);
  });

  test("without a command is not sent and returns to the editor", async () => {
    const typed = await start();
    await enter(typed, "! ");
    expect([typed.take(), typed.text]).toEqual([
      ["error: Type a shell command after !, or after !! to hide it from the model."],
      "! ",
    ]);
  });

  test("is not a command if the mark is in a hidden paste", async () => {
    const typed = await start();
    typed.enter("!touch made", "[pasted 20 lines]");
    await until(() => typed.view.activity.type === "idle" && typed.blocks.length > 1);
    expect(typed.take("prompt", "answer")).toEqual(["!touch made", "one"]);
    expect(existsSync(join(place.project, "made"))).toBe(false);
  });

  test("is not a command if a slash command or the command line sends it", async () => {
    const typed = await start();
    await typed.say("!touch made");
    expect(existsSync(join(place.project, "made"))).toBe(false);
  });

  test("stays in the history of prompts", async () => {
    const typed = await start();
    await enter(typed, "!true");
    await typed.run("/history");
    expect(typed.items).toEqual([">!true"]);
  });

  test("runs alone; a prompt sent meanwhile waits for it, and Esc returns the prompt", async () => {
    const typed = await start();
    typed.enter("!sleep 30");
    await until(() => typed.view.shell !== undefined);
    await enter2(typed, "!echo second");
    expect([typed.take(), typed.text]).toEqual([
      ["error: Your previous command is still running; Esc stops it."],
      "!echo second",
    ]);
    typed.enter("first prompt");
    await until(() => typed.view.queued.length > 0);
    typed.enter("second prompt");
    await until(() => typed.view.queued.length > 1);
    expect(queuedTexts(typed)).toEqual(["first prompt", "second prompt"]);
    typed.text = "";
    const begun = performance.now();
    await typed.press("escape");
    expect(performance.now() - begun).toBeLessThan(1_000 + BUSY_MS);
    expect([typed.text, typed.view.queued]).toEqual(["first prompt\nsecond prompt", []]);
    expect(typed.take()).toEqual(["! → (no output)\n[interrupted; process group killed]"]);
    expect((await said(typed)).map(([first]) => first)).toEqual(["!sleep 30"]);
  });

  test("lets prompts that waited for it join one run", async () => {
    const typed = await start();
    typed.enter(`!${WAIT_FOR_GO}; echo done`);
    await until(() => typed.view.shell !== undefined);
    typed.enter("first prompt");
    await until(() => typed.view.queued.length > 0);
    typed.enter("second prompt");
    await until(() => typed.view.queued.length > 1);
    place.write("go", "");
    await until(() => typed.view.shell === undefined && typed.view.queued.length === 0);
    await typed.settle();
    expect(typed.take("prompt", "tool", "shell", "answer")).toEqual([
      "! → done",
      "first prompt",
      "second prompt",
      "one",
    ]);
  });

  test("joins a current run after the results of its calls, and is shown once", async () => {
    place.write("script.json", {
      version: 1,
      turns: [{ toolCalls: [{ name: "bash", input: { command: WAIT_FOR_GO } }] }, { text: "Seen." }],
    });
    place.configure({ approval: "auto" });
    const typed = await start();
    const running = typed.say("go");
    await until(() => typed.view.activity.type === "tool");
    typed.enter("!echo beside");
    // It may have ended before anybody looks.
    const hasBegun = () =>
      typed.view.shell !== undefined ||
      typed.view.queued.length > 0 ||
      typed.blocks.some(({ type }) => type === "shell");
    await until(hasBegun);
    place.write("go", "");
    await running;
    await typed.settle();
    expect(typed.take("prompt", "tool", "shell", "answer")).toEqual([
      "go",
      "! → beside",
      "bash → (no output)",
      "Seen.",
    ]);
    expect((await messages(typed)).map(({ role }) => role)).toEqual([
      "user",
      "assistant",
      "tool_result",
      "user",
      "assistant",
    ]);
  });

  test("is shown as a command again in a resumed session, and can be edited in the tree", async () => {
    const typed = await start();
    await enter(typed, "!echo hello");
    await typed.say("go");
    const { sessionId } = (await typed.holder.session).session;
    await typed.run("/new");
    typed.take();
    await typed.run(`/resume ${sessionId}`);
    expect(typed.take("prompt", "tool", "shell", "answer")).toEqual(["! → hello", "go", "one"]);
    await typed.run("/tree");
    expect(typed.items).toEqual([" ● !echo hello", " ● go", ">● … one"]);
    await typed.press("up", "up", "enter", "enter");
    expect(typed.text).toBe("!echo hello");
  });
});

async function enter2(typed: TypedCommands, text: string): Promise<void> {
  typed.enter(text);
  await until(() => typed.blocks.length > 0);
}

describe("a shell command on the screen", () => {
  const look = { width: 60, rows: 24, theme, keymap, now: 3_500, above: "none" as const };
  const npmTest = toShellCall({ command: "npm test", isSharedWithModel: true }, 0);
  const running: View = {
    ...createView({ cwd: "/work" }),
    shell: { ...npmTest, call: { ...npmTest.call, partial: "a\nb" } },
  };

  test("shows its newest lines, its duration and how to stop it while it runs", () => {
    expect(liveLines(running, ["> "], look).slice(0, -1)).toEqual([
      "• ! npm test · 3 s",
      "  a",
      "  b",
      "",
      "⠴ Running your command… (3 s · Esc to stop)",
      "",
      "> ",
    ]);
  });

  test("shows its outcome like a command of the model", () => {
    const told = toEarlierShellCall({ command: "npm test", output: "1 fail\n[exit code 1]", exitCode: 1 }, 5);
    const own = { ...told, isSharedWithModel: false, call: { ...told.call, toolName: "!!" } };
    const context = { width: 60, theme, now: 0 };
    expect([told, own].map((each) => renderBlock(each, context))).toEqual([
      ["✗ ! npm test · exit code 1", "  1 fail"],
      ["✗ !! npm test · exit code 1 · not shared with the model", "  1 fail"],
    ]);
  });

  test("that was ended by a signal in an earlier session shows its output", () => {
    const block = toEarlierShellCall({ command: "yes", output: "y\n[ended by SIGTERM]", exitCode: null }, 5);
    expect(renderBlock(block, { width: 60, theme, now: 0 })).toEqual([
      "✗ ! yes · failed",
      "  y",
      "  [ended by SIGTERM]",
    ]);
  });

  test("is not confused with a call of the model whose name is the mark", () => {
    const call = { toolCallId: "1", toolName: "!", input: { command: "ls" }, startedAt: 0 };
    const ended = {
      output: 'There is no tool "!".',
      isError: true,
      outcome: "failed",
      metadata: {},
      endedAt: 0,
    } as const;
    const blocks = [
      { type: "tool" as const, call: { ...call, result: ended } },
      toShellCall({ command: "ls", isSharedWithModel: false }, 0),
    ];
    expect(blocks.map((block) => renderBlock(block, { width: 60, theme, now: 0 }))).toEqual([
      ["✗ ! ls · failed", '  There is no tool "!".'],
      ["• !! ls · not shared with the model"],
    ]);
  });

  test("is stopped first by Esc if the model works too", () => {
    const context = { keymap, isPromptEmpty: true, now: 0, rows: 24, columns: 60 };
    const pressEscape = (view: View) => applyKey(view, { name: "escape", data: "\x1b" }, context).effects;
    const takeBack = { type: "takeBack" as const, which: "all" as const };
    const activity = { type: "waiting" as const, since: 0 };
    expect(pressEscape(running)).toEqual([takeBack, { type: "stopShell" }]);
    expect(pressEscape({ ...running, activity })).toEqual([{ type: "stopShell" }]);
    expect(pressEscape({ ...running, shell: undefined, activity })).toEqual([takeBack, { type: "abort" }]);
  });
});

test.each([
  ["!ls", { command: "ls", isSharedWithModel: true }],
  ["!! ls -l ", { command: "ls -l", isSharedWithModel: false }],
  [" \n!ls\necho", { command: "ls\necho", isSharedWithModel: true }],
  ["!", { command: "", isSharedWithModel: true }],
  ["!!", { command: "", isSharedWithModel: false }],
  ["!!!ls", { command: "!ls", isSharedWithModel: false }],
  ["ls!", undefined],
  ["", undefined],
  ["/!ls", undefined],
])("readShellLine() parses %p", (text, expected) => {
  expect(readShellLine(text)).toEqual(expected);
});
