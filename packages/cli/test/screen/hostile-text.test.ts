import { afterAll, describe, expect, test } from "bun:test";
import { appendFileSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Chance } from "../support/chance.ts";
import { writeUserConfig } from "../support/compatible-service.ts";
import { findEscaped, hostileFileName, hostileText } from "../support/hostile-texts.ts";
import { writeKnowledge } from "../support/knowledge-files.ts";
import { runDiligent } from "../support/run-diligent.ts";
import { runInTerminal } from "../support/run-in-terminal.ts";
import { ScreenSession } from "../support/screen-session.ts";
import { writeSession } from "../support/session-files.ts";
import { createTemporaryProject, type TemporaryProject } from "../support/temporary-project.ts";
import { findForeignBytes } from "../support/terminal-bytes.ts";

/** A project in which everything that can be named or said is hostile. */
function createHostileProject(chance: Chance): TemporaryProject {
  const place = createTemporaryProject();
  const project = join(place.top, hostileFileName(chance));
  mkdirSync(join(project, ".git"), { recursive: true });
  const hostile: TemporaryProject = {
    ...place,
    project,
    write(path, content) {
      const absolute = join(project, path);
      mkdirSync(join(absolute, ".."), { recursive: true });
      writeFileSync(absolute, typeof content === "string" ? content : JSON.stringify(content));
      return absolute;
    },
  };
  hostile.write(".git/HEAD", `ref: refs/heads/${hostileText(chance, { pieces: 2, isOneLine: true })}\n`);
  hostile.write(`src/${hostileFileName(chance)}`, hostileText(chance, { pieces: 30 }));
  hostile.write("said.txt", hostileText(chance, { pieces: 40 }));
  writeKnowledge(hostile, { id: "aaaa1111", content: hostileText(chance) });
  writeSession(hostile, {
    id: "20260101000000",
    modified: "2026-01-01T00:00:00.000Z",
    name: hostileText(chance),
    texts: [hostileText(chance), hostileText(chance, { pieces: 20 })],
    model: hostileText(chance, { pieces: 2 }),
  });
  const label = { type: "label", id: "000000ee", parentId: null, timestamp: "2026-01-01T00:00:00.000Z" };
  const line = JSON.stringify({ ...label, targetId: "00000000", label: hostileText(chance) });
  appendFileSync(join(project, ".diligent/sessions/20260101000000.jsonl"), `${line}\n`);
  const local = {
    baseUrl: "http://127.0.0.1:9/v1",
    models: [hostileText(chance, { pieces: 2, isOneLine: true })],
  };
  writeUserConfig(place, {
    provider: { compatible: { local } },
    systemPrompt: hostileText(chance),
    sandbox: "off",
  });
  hostile.write("script.json", createScript(chance));
  return hostile;
}

function createScript(chance: Chance): object {
  const text = (pieces?: number) => hostileText(chance, pieces === undefined ? {} : { pieces });
  const calls = [
    { name: text(3), input: { [text(2)]: text(5), deep: [{ more: text(3) }] } },
    { name: "read", input: { file_path: "said.txt" } },
    { name: "read", input: { file_path: text(3) } },
    { name: "grep", input: { pattern: "word", path: "." } },
    { name: "glob", input: { pattern: `${text(1)}**` } },
    { name: "ls", input: { path: "src" } },
    { name: "edit", input: text(4) },
    { name: "add_knowledge", input: { type: "pattern", content: text(4) } },
    { name: "write", input: { file_path: "new.txt", content: text(20) } },
    { name: "bash", input: { command: "cat said.txt src/*; cat said.txt >&2; exit 3" } },
  ];
  const turns = [
    { text: "unused" },
    { thinking: text(10), text: text(40), toolCalls: calls, chunkDelayMs: 1, chunkChars: 7 },
    {
      text: text(10),
      toolCalls: [{ name: "bash", input: { command: `: '${text(10).replaceAll(/['\0]/g, "")}'` } }],
    },
    { text: text(4), error: { errorType: "unknown", message: text() } },
  ];
  return { version: 1, turns };
}

const SEEDS = [1, 2];

describe("only harmless text from hostile sources reaches the terminal", () => {
  const places: TemporaryProject[] = [];
  afterAll(() => {
    for (const place of places) place.remove();
  });
  const create = (seed: number) => {
    const place = createHostileProject(new Chance(seed));
    places.push(place);
    return place;
  };

  for (const seed of SEEDS) {
    test.concurrent(`on the screen: model, tools, files, errors, questions, lists (seed ${seed})`, async () => {
      const place = create(seed);
      await using session = new ScreenSession({ place, args: ["--continue"], rows: 40 });
      await session.opened();
      await session.say("begin");
      await allowAll(session);
      for (const list of ["/resume", "/tree", "/knowledge", "/model"]) {
        await session.say(list);
        await session.shows("Esc close");
        await session.screen(20);
        session.press("escape");
        await session.program.waitUntil((rows) => !rows.join("\n").includes("Esc close"));
      }
      for (const command of ["/status", "/context", "/cost", "/diff", "/config"]) {
        await session.say(command);
        await session.screen(40);
      }
      session.program.send("@");
      await session.screen(60);
      session.press("escape");
      await session.screen();
      session.press("ctrlC");
      await session.shows(/^>$/m);
      await session.say("/quit");
      await session.program.exitCode;
      expect(findEscaped(session.program.bytes)).toEqual([]);
      expect(session.program.terminal.title).not.toBe("title");
    });

    test.concurrent(`at the line prompt (seed ${seed})`, async () => {
      const program = runInTerminal(create(seed), [
        "-m",
        "scripted/script.json",
        "--continue",
        "--approval",
        "auto",
      ]);
      await program.shown("> ");
      program.type("begin\r");
      await program.shown("begin");
      await program.shown("> ");
      program.type("\x04");
      await program.exitCode;
      expect(program.screen).toContain("begin");
      expect(findEscaped(program.screen)).toEqual([]);
      expect(controlsIn(program.screen)).toEqual([]);
    });

    test.concurrent(`in print mode and in lists (seed ${seed})`, async () => {
      const place = create(seed);
      const runs: string[][] = [
        ["-p", "-m", "scripted/script.json", "--no-session", "--continue", "begin"],
        ["--list"],
        ["sessions"],
        ["sessions", "show", "20260101000000"],
        ["knowledge"],
        ["config"],
        ["models"],
        ["--continue", "nothing-like-it"],
      ];
      const outcomes = await Promise.all(
        runs.map(async (args) => ({ args, ...(await runDiligent(place, args)) })),
      );
      for (const { args, stdout, stderr } of outcomes) {
        expect({ args, stdout: controlsIn(stdout), stderr: controlsIn(stderr) }).toEqual({
          args,
          stdout: [],
          stderr: [],
        });
        expect(stdout + stderr).not.toBe("");
      }
    });
  }
});

test("problems in a configuration are reported without its control characters", async () => {
  const place = createHostileProject(new Chance(3));
  place.write("diligent.jsonc", { [hostileText(new Chance(4))]: 1, model: hostileText(new Chance(5)) });
  for (const args of [["-p", "hi"], ["config"]]) {
    const { stdout, stderr, exitCode } = await runDiligent(place, args);
    expect([args, exitCode === 0 ? "" : stderr === "", controlsIn(stdout + stderr)]).toEqual([
      args,
      expect.anything(),
      [],
    ]);
  }
  place.remove();
});

test("findForeignSequence() finds a foreign sequence in the output", () => {
  const ours = "\x1b[?2026h\x1b[31mred\x1b[0m\x1b[2A\r\n\x1b[?2026l\x1b[6n";
  expect(findForeignBytes(ours)).toEqual([]);
  expect(findForeignBytes(`${ours}\x1b[2Jx`)).toEqual([JSON.stringify("\x1b[2Jx")]);
  expect(findForeignBytes("\x1b[?2026h\x1b[?2026h")).toEqual([
    "a frame within a frame at 8",
    "a frame without an end",
  ]);
  expect(findEscaped("жaж\x1b[6nж")).toEqual([JSON.stringify("\x1b[6n")]);
});

/** Answers yes to every question until the run has ended. */
async function allowAll(session: ScreenSession): Promise<void> {
  for (;;) {
    await session.shows(/Reason: [\s\S]*y yes|^error:[\s\S]*\n>/m);
    if ((await session.screen()).match(/^error:/m)) return;
    await Bun.sleep(420);
    session.program.send("y");
    await session.screen();
  }
}

/** Control characters other than line ends and tabs, each with what follows it. */
function controlsIn(text: string): string[] {
  const found = text.matchAll(/(?!\r?\n|\t)[\p{Cc}\u200b\u200e\u2028\u202e\u2066\ufeff].{0,20}/gu);
  return Array.from(found, ([each]) => JSON.stringify(each));
}
