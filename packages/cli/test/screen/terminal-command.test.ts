import { expect, test } from "bun:test";
import { chmodSync } from "node:fs";
import { join } from "node:path";
import { needsTerminal } from "../../src/tui/shell-commands.ts";
import { startInPty } from "../support/pty-program.ts";
import { savedMessages } from "../support/session-files.ts";
import { createTemporaryProject } from "../support/temporary-project.ts";
import { writeScript } from "../support/typed-commands.ts";

test.each([
  ...["vim a.ts", "less README.md", "cd src && nvim", "git log | less", "LANG=C top", "/usr/bin/vi x"],
  ...["sudo ls", "tty ./game", "git rebase -i HEAD~3", "git add -p", "git commit", "git commit --amend"],
  ...["python3", "my-editor x", "man ls"],
])("!%s gets the terminal", (command) => {
  expect(needsTerminal(command, { EDITOR: "/opt/my-editor -w" })).toBe(true);
});

test.each([
  ...["ls", "grep vim README.md", "git commit -m 'less is more'", "git commit --amend --no-edit"],
  ...["python3 x.py", "tty", "git add .", "echo less", "cat top", "man ls > page.txt", "bun test"],
])("!%s runs without the terminal", (command) => {
  expect(needsTerminal(command, {})).toBe(false);
});

const FULL_SCREEN = `#!/bin/sh
[ -t 0 ] && [ -t 1 ] || { echo "no terminal"; exit 9; }
printf '\\033[?1049h\\033[HFULL SCREEN'
read -r line
printf '\\033[?1049l'
echo "$line" > typed.txt
`;

test("a full-screen program gets the real terminal, and the screen is restored afterwards", async () => {
  const place = createTemporaryProject();
  writeScript(place, "Read.");
  place.write("editor", FULL_SCREEN);
  chmodSync(join(place.project, "editor"), 0o755);
  const environment = { EDITOR: "./editor" };
  const program = startInPty(place, ["--model", "scripted/script.json"], { environment });
  try {
    await program.waitFor(/^scripted\/script\.json/m);
    program.send("!./editor notes.md\r");
    await program.waitFor("FULL SCREEN");
    program.send("words for it\r");
    await program.waitFor("ran in the terminal");
    expect(await Bun.file(join(place.project, "typed.txt")).text()).toBe("words for it\n");
    program.send("what did I do?\r");
    const rows = await program.waitFor("Read.");
    expect(rows.join("\n")).not.toContain("FULL SCREEN");
    expect(JSON.stringify(savedMessages(place))).toContain("./editor notes.md");
  } finally {
    await program[Symbol.asyncDispose]();
    place.remove();
  }
});
