import { expect, test } from "bun:test";
import { CommandField } from "../../src/tui/approval/prompter.ts";
import { toPromptTheme } from "../../src/tui/editor/prompt-editor.ts";
import { InlineScreen } from "../../src/tui/screen/inline-screen.ts";
import { createTheme } from "../../src/tui/theme.ts";
import { VirtualTerminal } from "../support/virtual-terminal.ts";

const sent: string[] = [];
const field = new CommandField({
  tui: new InlineScreen(new VirtualTerminal({ columns: 60, rows: 24 })),
  theme: toPromptTheme(createTheme({ color: false })),
  keys: () => undefined,
  submit: (command) => sent.push(command),
});

/** The text that is sent after these keys and Enter in a field with the command. */
function edit(command: string, ...keys: string[]): string[] {
  sent.length = 0;
  field.open(command);
  field.render(60);
  for (const key of [...keys, "\r"]) field.handleInput(key);
  return [...sent];
}

test.each([
  "a\r\nb\tc",
  "x\x1b[2Jy\x07",
  "a\u202eb",
  "  a  \n\n",
  "cat <<E\n\tb\nE\n",
  "é😀",
  "/quit",
  "!ls",
])("a command that was not edited stays the same: %j", (command) => {
  expect(edit(command)).toEqual([command]);
});

test("a command is edited at the cursor, and its tabs stay", () => {
  expect(edit("cat <<E\n\tb\nE", "\n", "x")).toEqual(["cat <<E\n\tb\nE\nx"]);
  expect(edit("make", "\x1b[200~ a\nb\x1b[201~")).toEqual(["make a\nb"]);
});

test("a long paste into a command is sent in full", () => {
  const lines = Array.from({ length: 200 }, (_, index) => `echo ${index}`).join("\n");
  expect(edit("x ", `\x1b[200~${lines}\x1b[201~`)).toEqual([`x ${lines}`]);
});

test("an empty command is not sent, and the next one starts afresh", () => {
  expect(edit("ls", "\x7f", "\x7f")).toEqual([]);
  expect(edit("pwd", "\x1b[A")).toEqual(["pwd"]);
});
