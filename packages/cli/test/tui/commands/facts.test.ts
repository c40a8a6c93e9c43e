import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { readCommandLine, SLASH_COMMANDS } from "../../../src/tui/commands/index.ts";
import { writeKnowledge } from "../../support/knowledge-files.ts";
import { createTemporaryProject, type TemporaryProject } from "../../support/temporary-project.ts";
import { TypedCommands, type TypedOptions, writeScript } from "../../support/typed-commands.ts";

let place: TemporaryProject;
let program: TypedCommands | undefined;

beforeEach(() => {
  place = createTemporaryProject();
  writeScript(place, { text: "one", usage: { inputTokens: 12_000, outputTokens: 345 } }, "two");
});

afterEach(async () => {
  await program?.close();
  place.remove();
});

async function start(options?: TypedOptions): Promise<TypedCommands> {
  program = await new TypedCommands(place, options).open();
  return program;
}

describe("slash commands", () => {
  const names = SLASH_COMMANDS.flatMap(({ name, aliases = [] }) => [name, ...aliases]);

  test("have unique names, including the names that users expect", () => {
    expect(new Set(names).size).toBe(names.length);
    const known =
      "help model new clear resume sessions compact tree fork name rename status context cost usage knowledge memory " +
      "diff export copy init config permissions trust reload keys hotkeys thinking history editor result quit exit";
    expect(known.split(" ").filter((name) => !names.includes(name))).toEqual([]);
  });

  test("suggest the nearest one for a mistyped name", () => {
    expect(readCommandLine("/modle x", SLASH_COMMANDS)).toMatchObject({ kind: "unknown", nearest: "model" });
  });

  test("have help texts that fit into 80 columns and mention only existing commands", async () => {
    const typed = await start();
    await typed.run("/help");
    const [help = ""] = typed.take();
    const lines = help.split("\n");
    expect(lines.filter((line) => Bun.stringWidth(line) > 80)).toEqual([]);
    for (const { name } of SLASH_COMMANDS) expect(help).toContain(`/${name}`);
  });
});

test("/status shows session, model and directory", async () => {
  place.configure({ sandbox: "off" });
  const typed = await start();
  await typed.say("first");
  await typed.run("/name my work");
  typed.take();
  await typed.run("/status");
  const { session } = await typed.holder.session;
  const rows = (typed.take()[0] ?? "").split("\n").map((line) => line.trim().split(/ {2,}/));
  expect(rows).toEqual([
    ["This session"],
    [""],
    ["session", session.sessionId],
    ["name", "my work"],
    ["file", `.diligent/sessions/${session.sessionId}.jsonl`],
    ["model", "scripted/script.json"],
    ["thinking", "model default"],
    ["context", "12k of 200k tokens"],
    ["tokens", "12k"],
    ["cost", "unknown"],
    ["approval", "ask"],
    ["sandbox", 'Commands run unsandboxed and need approval: the setting "sandbox"'],
    [`is "off".`],
    ["trust", "this project has no configuration"],
    ["directory", place.project],
    ["version", expect.stringMatching(/^\d/)],
  ]);
});

describe("/context", () => {
  test("shows the use of the window by category, and marks estimates", async () => {
    place.write("AGENTS.md", "word ".repeat(2_000));
    writeKnowledge(place, { id: "aaaa1111", content: "tests are in test/" });
    const typed = await start();
    await typed.say("word ".repeat(1_000));
    typed.take();
    await typed.run("/context");
    const [text = ""] = typed.take();
    const rows = new Map(
      text.split("\n").flatMap((line) => {
        const [, label = "", count = ""] = /^ {2}([a-z ]+?) {2,}≈? ?([\d,]+) /.exec(line) ?? [];
        return label === "" ? [] : [[label, Number(count.replaceAll(",", ""))] as const];
      }),
    );
    expect([...rows.keys()]).toEqual([
      ...[
        "system prompt",
        "instructions",
        "knowledge",
        "tools",
        "summary",
        "user",
        "assistant",
        "tool results",
      ],
      ...["free", "used"],
    ]);
    const { free = 0, used = 0, ...causes } = Object.fromEntries(rows);
    expect(used).toBe(12_345);
    expect(free).toBe(200_000 - 12_345);
    expect(Object.values(causes).reduce((sum, count) => sum + count, 0)).toBe(used);
    expect(causes.instructions).toBeGreaterThan(causes.user ?? 0);
    expect(causes.user).toBeGreaterThan(causes.knowledge ?? 0);
    expect(causes.knowledge).toBeGreaterThan(0);
    expect(text).toContain("The total is the provider's count");
    expect(text).toContain("The older part is summarized at 183,616.");
  });

  test("marks everything as an estimate before the first answer", async () => {
    const typed = await start();
    await typed.run("/context");
    const [text = ""] = typed.take();
    expect(text).toContain("≈ marks estimates by length.");
    expect(text).toMatch(/used +≈ /);
  });
});

describe("/cost", () => {
  test("adds up tokens by model, on all branches", async () => {
    const typed = await start();
    await typed.say("first");
    await typed.context.branch(null, { isSummarized: false });
    await typed.say("first again");
    typed.take();
    await typed.run("/usage");
    const [text = ""] = typed.take();
    expect(text).toMatch(/scripted\/script\.json +2 +[\d,]+ /);
    expect(text).toContain("Total: unknown");
  });

  test("says that there were no requests yet", async () => {
    const typed = await start();
    await typed.run("/cost");
    expect(typed.take()).toEqual(["No requests in this session yet."]);
  });
});

test("/config shows the settings with their sources, keys masked", async () => {
  const typed = await start({ environment: { ANTHROPIC_API_KEY: "sk-secret-value" } });
  await typed.run("/config");
  const [text = ""] = typed.take();
  expect(text).toMatch(/knowledge\.enabled = true +\(default\)/);
  expect(text).toContain("environment ANTHROPIC_API_KEY");
  expect(text).not.toContain("sk-secret-value");
});

test("/keys shows all keys by purpose, and by name for rebinding", async () => {
  const typed = await start();
  await typed.run("/hotkeys");
  const [text = ""] = typed.take();
  expect(text).toMatch(/^Everywhere\n {2}Esc +Stop what is running/);
  expect(text).toMatch(/Shift\+Enter, Ctrl\+J, Alt\+Enter +Insert newline/);
  await typed.run("/keys names");
  expect(typed.take()[0]).toMatch(/app\.historySearch +Ctrl\+R/);
});

test("/quit quits", async () => {
  const typed = await start();
  await typed.run("/exit");
  expect(typed.hasQuit).toBe(true);
});
