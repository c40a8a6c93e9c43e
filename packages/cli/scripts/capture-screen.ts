import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { Terminal } from "@xterm/headless";
import { SAMPLE_FILES, SAMPLE_NAME } from "../src/demo/demo.ts";
import { startInPty } from "../test/support/pty-program.ts";
import { type Cell, readCells, replaceText } from "./screen-cells.ts";
import { type Palette, toSvg } from "./screen-svg.ts";

/**
 * Draws the screen for the documentation: the real program in a pseudo-terminal, with a scripted model, fixes
 * the sample project; its final screen becomes `docs/screen.svg`. The picture is the same on every machine
 * and every day.
 */

const COLUMNS = 96;
// Tall enough that nothing scrolls off the screen.
const ROWS = 60;
const TITLE = "diligent";
const SCRIPT = "demo.json";
const PROMPT = "The shares of a bill do not add up. Find out why, and fix it.";
const END = "10.01";
const PICTURE = join(import.meta.dir, "..", "docs", "screen.svg");

/** Text that differs from run to run. */
const MASKS: readonly [RegExp, string][] = [
  [/(?<=Thought for )[\d.]+ s/g, "2 s"],
  [/\[\d+(?:\.\d+)?m?s\]/g, "[5ms]"],
  // Only shown on a slow machine.
  [/(?<=^[✓✗] .*) · \d+(?:\.\d+)? s$/g, ""],
];

/** Similar to the colours of GitHub's pages, where the picture is shown. */
const DARK: Palette = {
  foreground: "#e6edf3",
  background: "#0d1117",
  border: "#3d444d",
  colors: ["#484f58", "#ff7b72", "#3fb950", "#d29922", "#58a6ff", "#d2a8ff", "#39c5cf", "#b1bac4"],
};
const LIGHT: Palette = {
  foreground: "#1f2328",
  background: "#ffffff",
  border: "#d1d9e0",
  colors: ["#24292f", "#cf222e", "#116329", "#9a6700", "#0969da", "#8250df", "#1b7c83", "#6e7781"],
};

const top = realpathSync(mkdtempSync(join(tmpdir(), "diligent-screen-")));
try {
  const rows = await capture(top);
  const options = { title: TITLE, columns: COLUMNS, palette: DARK, lightPalette: LIGHT };
  writeFileSync(PICTURE, toSvg(rows, options));
  console.log(`${rows.length} rows in ${PICTURE}`);
} finally {
  rmSync(top, { recursive: true, force: true });
}

/** Runs the conversation below `top`; resolves with the final rows of the screen. */
async function capture(top: string): Promise<Cell[][]> {
  // Longer than the part of a path that the status line shows, which is therefore the same everywhere.
  const project = join(top, "x".repeat(40), SAMPLE_NAME);
  const [home, temporary] = [join(top, "home"), join(top, "tmp")];
  for (const directory of [home, temporary]) mkdirSync(directory);
  const write = (path: string, content: string): string => {
    const absolute = join(project, path);
    mkdirSync(dirname(absolute), { recursive: true });
    writeFileSync(absolute, content);
    return absolute;
  };
  for (const [path, content] of Object.entries(SAMPLE_FILES)) write(path, content);
  write(SCRIPT, readFileSync(join(import.meta.dir, "capture-conversation.json"), "utf8"));
  write(".git/HEAD", "ref: refs/heads/main\n");
  const args = ["--model", `scripted/${SCRIPT}`, "--approval", "auto"];
  const place = { top, home, project, temporary, write, configure() {}, remove() {} };
  await using program = startInPty(place, args, { columns: COLUMNS, rows: ROWS });
  await program.waitFor(`scripted/${SCRIPT}`);
  program.send(PROMPT);
  await program.waitFor(PROMPT);
  program.send("\r");
  await program.waitFor(END);
  await program.settle();
  return readScreen(program.bytes);
}

/** The screen that a program's output produces, with its styles. */
async function readScreen(bytes: string): Promise<Cell[][]> {
  const terminal = new Terminal({ cols: COLUMNS, rows: ROWS, allowProposedApi: true });
  await new Promise<void>((resolve) => terminal.write(bytes, resolve));
  return readCells(terminal).map((row) =>
    MASKS.reduce((masked: Cell[], [pattern, text]) => replaceText(masked, pattern, text), row),
  );
}
