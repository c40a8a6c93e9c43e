import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { runInTerminal, type TerminalProgram } from "../support/run-in-terminal.ts";
import { writeSession } from "../support/session-files.ts";
import { createTemporaryProject, type TemporaryProject } from "../support/temporary-project.ts";

let place: TemporaryProject;
const programs: TerminalProgram[] = [];

beforeEach(() => {
  place = createTemporaryProject();
  place.write("script.json", {
    version: 1,
    turns: [{ text: "First." }, { text: "Second." }, { text: "Third." }],
  });
  place.write("other.json", {
    version: 1,
    turns: [{ text: "Other." }, { text: "Other." }, { text: "Other." }],
  });
});

afterEach(() => {
  for (const program of programs.splice(0)) program.process.kill("SIGKILL");
  place.remove();
});

async function start(...args: string[]): Promise<TerminalProgram> {
  const program = runInTerminal(place, ["--model", "scripted/script.json", ...args]);
  programs.push(program);
  await program.shown("diligent> ");
  return program;
}

async function enter(program: TerminalProgram, line: string, ...shown: string[]): Promise<void> {
  program.type(`${line}\r`);
  for (const text of shown) await program.shown(text);
  await program.shown("diligent> ");
}

describe("slash commands at the line prompt", () => {
  test("switch the model by name, and report an unknown one", async () => {
    const program = await start();
    await enter(program, "/model scripted/other.json", "Switched to scripted/other.json.");
    await enter(program, "go", "Other.");
    await enter(program, "/model no-such-model", "error: ");
    await enter(program, "/model", "Models:", "  1. ", "/model NUMBER or ID selects one.");
  });

  test("print cost, status, context and help without decoration", async () => {
    const program = await start();
    await enter(program, "go", "First.");
    await enter(program, "/cost", "Cost of this session", "scripted/script.json", "Total: ");
    await enter(program, "/status", "This session", "scripted/script.json");
    await enter(program, "/context", "Context of scripted/script.json");
    await enter(program, "/?", "Commands and shortcuts", "/model", "!command runs it");
    for (const decoration of "■●○⟳✓›\x1b") expect(program.screen).not.toContain(decoration);
    expect(program.screen).not.toContain("/editor");
  });

  test("tell hooks how sessions begin and end", async () => {
    const hook = (name: string) => [{ hooks: [{ type: "command", command: `echo "$(cat)" >> ${name}` }] }];
    place.configure({ hooks: { SessionStart: hook("starts"), SessionEnd: hook("ends") } });
    const program = await start();
    await enter(program, "go", "First.");
    await enter(program, "/new", "New session started.");
    await enter(program, "go", "First.");
    await enter(program, "/fork", "Forked");
    await enter(program, "go on", "Second.");
    program.type("/exit\r");
    await program.process.exited;
    const read = (name: string, field: string) =>
      readFileSync(join(place.project, name), "utf8")
        .trim()
        .split("\n")
        .map((line) => JSON.parse(line)[field]);
    expect(read("starts", "source")).toEqual(["startup", "clear", "fork"]);
    expect(read("ends", "reason").sort()).toEqual(["clear", "prompt_input_exit", "resume"]);
  });

  test("name a session, export it, leave it and resume it by its number", async () => {
    const program = await start();
    await enter(program, "/export md", "No messages yet");
    await enter(program, "go", "First.");
    await enter(program, "/name the bales", "Session renamed to the bales.");
    await enter(program, "/export md", "Exported to ");
    expect(readdirSync(place.project).filter((name) => name.endsWith(".md"))).toHaveLength(1);
    await enter(program, "/new", "New session started.");
    await enter(program, "/resume", "Sessions:", "  1. the bales");
    await enter(program, "/resume 1", "> go", "First.");
    await enter(program, "/name", "Session name: the bales");
    await enter(program, "/resume 9", "error: No 9 in the list of /resume; it has 1.");
  });

  test("find sessions by words, and resume, show or continue the chosen one", async () => {
    writeSession(place, {
      id: "20260101000000-aaaaaa",
      modified: "2026-01-01T12:00:00.000Z",
      texts: ["where is the Needle?", "in the haystack"],
    });
    const program = await start();
    await enter(program, "/history unheard-of", "Nothing found.");
    await enter(
      program,
      "/history haystack",
      "Sessions:",
      "  1. where is the Needle?",
      "/history NUMBER or ID selects one.",
    );
    await enter(
      program,
      "/history 1",
      "where is the Needle?:",
      "  1. Resume",
      "  2. Continue here",
      "  3. Show",
      "  4. Export",
    );
    await enter(program, "/history 3", "in the haystack");
    await enter(program, "/history needle", "  1. where is the Needle?");
    await enter(program, "/history 1", "  1. Resume");
    await enter(program, "/history 1", "> where is the Needle?", "in the haystack");
    await enter(program, "/history needle", "  1. where is the Needle?");
    await enter(program, "/history 1", "  2. Continue here");
    await enter(
      program,
      "/history 2",
      "New session started. The model gets a summary of 20260101000000-aaaaaa",
    );
    await enter(program, "/history +++", "error: /history needs a word to search for.");
  });

  test("show the tree with ids, and jump to an id or a number", async () => {
    const program = await start();
    await enter(program, "one", "First.");
    await enter(program, "two", "Second.");
    program.type("/tree\r");
    await program.shown("Session tree:");
    await program.shown("2. * two | ");
    await program.shown("/tree NUMBER or ID selects one.");
    await program.shown("diligent> ");
    const [, id = ""] = /\* two \| (\w+)/.exec(program.screen) ?? [];
    await enter(
      program,
      `/tree ${id}`,
      "Continue from there:",
      "1. Restore conversation only",
      "/tree NUMBER selects one.",
    );
    await enter(program, "/tree 1", "Type this, or a changed version:\r\ntwo");
    await enter(program, "/tree nowhere", "No entry nowhere in this session");
    await enter(program, "another", "Third.");
    await enter(program, "/tree", "- two", "* another");
  });

  test("run thinking, permissions, knowledge and history like on the screen", async () => {
    const program = await start();
    await enter(program, "/thinking", "Thinking", "1. ");
    await enter(program, "/thinking high", "Thinking level set to high, from the next request on.");
    await enter(program, "/permissions", "The approval mode is ask.");
    await enter(program, "/knowledge", "No knowledge about");
    await enter(program, "go", "First.");
    await enter(program, "/history", "Earlier prompts:", "1. go");
    await enter(program, "/history 1", "Type this, or a changed version:\r\ngo");
  });

  test.each(["/editor", "/result", "/copy"])("report that %s needs a screen", async (command) => {
    const program = await start();
    await enter(program, command, `${command} needs the full screen, not --plain-ui.`);
  });

  test("run one after the other when several lines are pasted", async () => {
    const program = await start();
    program.type("/model scripted/other.json\r/name pasted\rgo\r/status\r");
    await program.shown("Other.");
    await program.shown("diligent> ");
    await enter(program, "/name", "Session name: pasted");
  });

  test("wait for the run if they have to, and are repeated above their output", async () => {
    place.write("script.json", { version: 1, turns: [{ text: "Slow.", delayMs: 2_000 }] });
    const program = await start();
    program.type("go\r/tree\r/name meanwhile\r");
    await program.shown("Session renamed to meanwhile.");
    await program.shown("Slow.\r\ndiligent> /tree\r\nSession tree:");
  });

  test("quit with /quit, even with words after it", async () => {
    const program = await start();
    program.type("/quit now\r");
    expect(await program.exitCode).toBe(0);
  });

  test("quit at the second Ctrl+C, but not if something was typed in between", async () => {
    const program = await start();
    program.type("\x03");
    await program.shown("Press Ctrl+C again to quit.");
    await enter(program, "/name", "This session has no name");
    program.type("\x03");
    await program.shown("Press Ctrl+C again to quit.");
    program.type("\x03");
    expect(await program.exitCode).toBe(130);
  });
});
