// biome-ignore-all lint/suspicious/noControlCharactersInRegex: the tests look for control sequences
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { type PtyProgram, startInPty } from "./support/pty-program.ts";
import { createTemporaryProject, type TemporaryProject } from "./support/temporary-project.ts";

const MARKDOWN =
  "# Head\n\n- **one**\n- two\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n\u001b[31mred\u001b[0m \u001b]0;evil\u0007 end";

let place: TemporaryProject;

beforeEach(() => {
  place = createTemporaryProject();
  // Without a sandbox, commands need approval.
  place.write("../home/.config/diligent/diligent.jsonc", { sandbox: "off" });
  place.write("script.json", {
    version: 1,
    turns: [
      {
        thinking: "Hm.",
        text: "I make it.",
        toolCalls: [{ name: "bash", input: { command: "touch made; sleep 1" } }],
      },
      { text: MARKDOWN, delayMs: 300, chunkDelayMs: 2 },
    ],
  });
});

afterEach(() => place.remove());

/** A question is asked and answered, then the screen is left. */
async function converse(program: PtyProgram): Promise<void> {
  await program.waitFor("diligent>");
  program.send("make it\r");
  await program.waitFor("Allow it?");
  program.send("y\r");
  await program.waitFor("end");
  await program.waitFor(/end\s+diligent>/);
  program.send("/quit\r");
  expect(await program.exitCode).toBe(0);
}

/** Output that a terminal without capabilities, and a screen reader, could not handle. */
const BEYOND_LINES = /[\p{Cc}](?<![\n\r])|\r(?!\n)|[⠀-⣿─-╿●✓✗⟳]/gu;

describe.each([
  ["--plain-ui", ["--plain-ui"], {}],
  ["TERM=dumb", [], { TERM: "dumb" }],
])("with %s a conversation consists of lines only:", (_, options, environment) => {
  test.each([80, 20])("on %i columns nothing is drawn twice, decorated or animated", async (columns) => {
    const args = ["--model", "scripted/script.json", ...options];
    await using program = startInPty(place, args, { columns, rows: 10, environment });
    await converse(program);
    expect(program.bytes.match(BEYOND_LINES)).toBeNull();
    // Once each, whatever the width.
    for (const text of ["I make it.", "- **one**", "| 1 | 2 |"])
      expect(program.bytes.split(text)).toHaveLength(2);
    expect(program.bytes).toContain("\\x1b[31mred\\x1b[0m");
  });

  test("a long command is not announced twice", async () => {
    const call = { name: "bash", input: { command: "touch made; sleep 30" } };
    place.write("script.json", { version: 1, turns: [{ toolCalls: [call] }] });
    const args = ["--model", "scripted/script.json", "--approval", "auto", ...options, "make it"];
    await using program = startInPty(place, args, { environment });
    await program.waitFor("bash");
    await program.settle();
    const before = program.bytes.length;
    await Bun.sleep(500);
    expect(program.bytes.length).toBe(before);
    program.send("\x03");
    await program.waitFor(/(?:stopped|interrupted)[\s\S]*diligent>/i);
    program.send("\x03");
    await program.waitFor("Press Ctrl+C again to quit.");
    program.send("\x03");
    expect(await program.exitCode).toBe(130);
  });
});

test("with NO_COLOR the screen has no colours, and shows success and failure by characters", async () => {
  await using program = startInPty(place, ["--model", "scripted/script.json"], {
    environment: { NO_COLOR: "1" },
  });
  await program.waitFor("scripted/script.json ·");
  program.send("make it\r");
  await program.waitFor("? Reason: ");
  await Bun.sleep(600);
  program.send("y");
  await program.waitFor("end");
  const looks = new Set(program.bytes.match(/\u001b\[[\d;:]*m/g));
  expect([...looks].filter((look) => !/^\u001b\[(?:0|)m$/.test(look))).toEqual([]);
  expect((await program.scrollback()).join("\n")).toContain("✓ bash");
});

test.each([40, 80])(
  "with --plain-ui on %i columns lists and errors are broken between words",
  async (columns) => {
    await using program = startInPty(place, ["--plain-ui", "--model", "scripted/script.json"], {
      columns,
      rows: 24,
    });
    await program.waitFor("diligent>");
    program.send("/help\r");
    await program.waitFor(/prompt quits\.\s+diligent>/);
    program.send("/undo the-second-word of-a-rather long-argument that is-no-argument\r");
    await program.waitFor(/error: \/undo takes no argument[\s\S]*diligent>/);
    program.send("/quit\r");
    expect(await program.exitCode).toBe(0);
    // Joins a row that the terminal has wrapped, such as typed text, with the row below.
    const written = program.terminal.lines().filter((line) => !line.startsWith("diligent>"));
    expect(written.filter((line) => line.length > columns)).toEqual([]);
    expect(written.join("\n")).toContain("/approvals");
  },
);
