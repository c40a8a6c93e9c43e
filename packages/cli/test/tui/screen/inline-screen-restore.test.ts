import { afterEach, beforeEach, expect, test } from "bun:test";
import { join } from "node:path";
import { BUSY_MS } from "../../../../core/test/support/busy-machine.ts";
import { type PtyOptions, type PtyProgram, startInPty } from "../../support/pty-program.ts";
import { createTemporaryProject, type TemporaryProject } from "../../support/temporary-project.ts";

const SCREEN_PROGRAM = join(import.meta.dir, "..", "..", "support", "screen-program.ts");
const COMMAND = `${process.execPath} ${SCREEN_PROGRAM}`;

let place: TemporaryProject;

beforeEach(() => {
  place = createTemporaryProject();
});

afterEach(() => place.remove());

/** The screen program, started by a shell that reports how it ended and the terminal's state afterwards. */
function startInShell(options: PtyOptions = {}): PtyProgram {
  const script = `echo before; ${COMMAND}; echo "code $?"; stty -a | tr ';' '\\n'; sleep 0.2`;
  return startInPty(place, [], { ...options, program: ["sh", "-c", script] });
}

/** What must hold of a restored terminal. */
async function expectRestored(program: PtyProgram): Promise<void> {
  const { terminal } = program;
  await program.waitFor(/iexten/);
  expect(terminal.modes).toMatchObject({
    bracketedPasteMode: false,
    mouseTrackingMode: "none",
    sendFocusMode: false,
    synchronizedOutputMode: false,
    wraparoundMode: true,
  });
  expect(terminal.cursor().isVisible).toBe(true);
  expect(terminal.isAlternate).toBe(false);
  const flags = terminal.scrollback().join(" ");
  for (const flag of ["icanon", "echo", "isig", "icrnl", "opost"])
    expect(flags).toMatch(new RegExp(`(?<![-\\w])${flag}\\b`));
  const pushed = terminal.bytes.split("\x1b[>7u").length - 1;
  expect(terminal.bytes.split("\x1b[<u").length - 1).toBe(pushed);
}

const ENDINGS = [
  ["the program's own end", "q", 0],
  ["process.exit", "x", 7],
  ["an exception that nobody caught", "t", 1],
  ["a rejected promise that nobody caught", "r", 1],
  ["SIGTERM", "SIGTERM", 143],
  ["SIGHUP", "SIGHUP", 129],
  ["SIGINT", "SIGINT", 130],
] as const;

test.each(ENDINGS)(
  "after %s the terminal is restored, with the cursor below the live region",
  async (_, how, code) => {
    await using program = startInShell();
    await program.waitFor("status of");
    program.send("m");
    await program.waitFor("> m");
    if (how.startsWith("SIG")) {
      const pid = Bun.spawnSync(["pgrep", "-P", String(program.process.pid)])
        .stdout.toString()
        .trim();
      process.kill(Number(pid), how);
    } else program.send(how);
    await expectRestored(program);
    const rows = program.terminal.scrollback();
    const end = rows.indexOf(`code ${code}`);
    expect(rows.slice(0, 4)).toEqual([
      "before",
      "─".repeat(80),
      expect.stringMatching(/^> m/),
      expect.stringContaining("status of 80 columns"),
    ]);
    expect(rows.slice(4, end)).toEqual(
      how === "t" ? ["failed: thrown"] : how === "r" ? ["failed: rejected"] : [],
    );
    // The shell's following output has none of our colours.
    expect(program.terminal.cell(end, 0)).toMatchObject({ isBold: false, foreground: undefined });
  },
);

test("a closed terminal ends the program at once, with the exit code of SIGHUP", async () => {
  await using program = startInPty(place, [SCREEN_PROGRAM], { program: [process.execPath] });
  await program.waitFor("status of");
  const startedAt = performance.now();
  program.process.terminal?.close();
  expect(await program.exitCode).toBe(129);
  expect(performance.now() - startedAt).toBeLessThan(2000 + BUSY_MS);
});

test("Ctrl+Z gives the terminal to the shell, and fg draws the live region again below the shell's output", async () => {
  await using program = startInPty(place, [], {
    program: ["bash", "--norc", "-i"],
    environment: { PS1: "$ " },
  });
  await program.waitFor("$ ");
  program.send(`${COMMAND}\r`);
  await program.waitFor("status of");
  program.send("f");
  await program.waitFor("finished 1");
  program.send("z");
  await program.waitFor("Stopped");
  expect(program.terminal.modes).toMatchObject({ synchronizedOutputMode: false, wraparoundMode: true });
  expect(program.terminal.cursor().isVisible).toBe(true);
  program.send("echo in the shell\r");
  await program.waitFor(/^in the shell$/m);
  await program.resize(60, 20);
  program.send("fg\r");
  await program.waitFor("status of 60 columns");
  program.send("g");
  const rows = await program.waitFor("> fzg");
  expect((await program.scrollback()).filter((row) => row === "finished 1")).toEqual(["finished 1"]);
  const written = rows.filter((row) => row !== "");
  expect(written.slice(-4).map((row) => row.slice(0, 9))).toContain("status of");
  // Drawn again below, the live region is not left above the shell's rows as well.
  expect((await program.scrollback()).filter((row) => row.startsWith("status of"))).toHaveLength(1);
  expect(program.terminal.cursor()).toMatchObject({ column: 5, isVisible: true });
  program.send("q");
  await program.waitFor(/status of 60 .*\n\$ /);
});

test("Ctrl+Z only redraws if nobody could continue the program", async () => {
  await using program = startInPty(place, [SCREEN_PROGRAM], { program: [process.execPath] });
  await program.waitFor("status of");
  program.send("z");
  await program.waitUntil(() => program.bytes.includes("\x1b[?2031l"));
  await program.waitFor(/> z\nstatus/);
  program.send("a");
  await program.waitFor("> za");
  program.send("q");
  expect(await program.exitCode).toBe(0);
});

test("another program has the terminal to itself while it is lent", async () => {
  await using program = startInShell();
  await program.waitFor("status of");
  program.send("l");
  // Drawn again below, the live region is not left above as well.
  await program.waitFor(/before\nlent\n─+\n> l\nstatus/);
  program.send("a");
  await program.waitFor("> la");
  program.send("q");
  await expectRestored(program);
});
