import { describe, expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { lines, type ScreenOptions, ScreenSession } from "../support/screen-session.ts";

const HIDING = [
  `echo ok${" ".repeat(5_000)}; touch a\r\x1b[2K\x1b[A; echo\t\u202egnp.exe\u200b`,
  ...Array.from({ length: 30 }, () => ""),
  "echo\b\b\b\b rm -rf ~",
  "# y yes · n no",
].join("\n");

function asking(command: string, options: ScreenOptions = {}): ScreenSession {
  return new ScreenSession({
    turns: [{ toolCalls: [{ name: "bash", input: { command } }] }, "Done."],
    ...options,
  });
}

async function ask(session: ScreenSession): Promise<void> {
  await session.opened();
  await session.say("go");
  await session.shows(/y yes|↓ or Space/);
}

test.concurrent("hidden parts of a command are shown in its question and cannot pass for our text", async () => {
  await using session = asking(HIDING);
  await ask(session);
  await session.looksLike(
    new RegExp(
      lines(
        "\\? Allow bash\\? Reason: .*",
        "│ echo ok⟦5000 spaces⟧; touch a\\\\r\\\\x1b\\[2K\\\\x1b\\[A; echo {1,4}\\\\u\\{202e\\}gnp.exe\\\\u\\{200b\\}",
        "│ ⟦30 blank lines⟧",
        "│ echo\\\\x08\\\\x08\\\\x08\\\\x08 rm -rf ~",
        "│ # y yes · n no",
        "⟦…⟧ is a note by diligent, not part of the text",
        "(“Always” will allow:\n[\\s\\S]*)?y yes",
      ),
    ),
  );
});

describe.each([
  { columns: 80, rows: 24 },
  { columns: 40, rows: 15 },
])("on $columns x $rows, a question with a command of 200 lines", (size) => {
  const command = Array.from({ length: 200 }, (_, index) => `touch file${index}`).join("\n");

  test.concurrent("can be approved once its end was on the screen, and can be scrolled in full", async () => {
    await using session = asking(command, size);
    await ask(session);
    await Bun.sleep(420);
    session.program.send("y");
    await session.shows("Scroll to its end first");
    const seen = new Set<string>();
    for (let first = ""; ; session.program.send(" ")) {
      const rows = await session.program.waitUntil((shown) => firstRow(shown) !== first);
      first = firstRow(rows);
      for (const [, name = ""] of rows.join("\n").matchAll(/│ touch (file\d+)$/gm)) seen.add(name);
      if (rows.join("\n").includes("y yes")) break;
    }
    expect(seen.size).toBe(200);
    await session.looksLike(/\(end\)/);
    expect(existsSync(join(session.place.project, "file0"))).toBe(false);
    session.program.send("y");
    await session.shows("Done.");
    expect(existsSync(join(session.place.project, "file199"))).toBe(true);
  });
});

test.concurrent("a question keeps its position on a smaller screen and can be answered on a larger one", async () => {
  const command = Array.from({ length: 30 }, (_, index) => `touch file${index}`).join("\n");
  await using session = asking(command, { columns: 40, rows: 15 });
  await ask(session);
  expect(await session.screen()).not.toContain("y yes");
  await session.program.resize(100, 90);
  await session.shows("y yes");
  await session.shows(`│ touch file0\n`);
  await session.program.resize(40, 15);
  await session.shows("↓ or Space");
  const small = await session.screen();
  expect(small).toContain("? Allow bash?");
  expect(small.split("\n").length).toBeLessThanOrEqual(15);
  await Bun.sleep(420);
  session.program.send(" ".repeat(20));
  await session.shows("y yes");
  await session.shows("(end)");
});

test.concurrent("the text of a grant is shown in full, however long it is", async () => {
  const word = `name-${"x".repeat(150)}-end`;
  await using session = asking(`touch ${word}`, { columns: 40, rows: 30 });
  await ask(session);
  const shown = await session.screen();
  const grant = shown.slice(shown.indexOf("will allow"), shown.indexOf("y yes")).replace(/\n {2}/g, "");
  expect(grant).toContain(`› exactly \`touch ${word}\` in `);
});

test.concurrent("a change must be read to its end before it can be approved, in lines that hide nothing", async () => {
  const content = [
    ...Array.from({ length: 40 }, (_, index) => `line ${index}`),
    `last\u202e\x1b[8m${" ".repeat(200)}end`,
  ];
  await using session = new ScreenSession({
    turns: [
      { toolCalls: [{ name: "read", input: { file_path: "CLAUDE.md" } }] },
      { toolCalls: [{ name: "write", input: { file_path: "CLAUDE.md", content: content.join("\n") } }] },
      "Done.",
    ],
  });
  session.place.write("CLAUDE.md", "old\n");
  await ask(session);
  const first = await session.screen();
  expect(first).toMatch(/\? Allow write\? Reason: .*\n([^│].*\n)*│ write PROJECT\/CLAUDE.md\n/);
  expect(first).toContain("│ -old\n│ +line 0\n");
  await Bun.sleep(420);
  session.program.send("y");
  await session.shows("Scroll to its end first");
  session.program.send(" ".repeat(6));
  await session.shows("y yes");
  await session.shows("│ +last\\u{202e}\\x1b[8m⟦200 spaces⟧end");
  session.program.send("y");
  await session.shows("Done.");
});

/** The index of the question's first row on the screen. */
function firstRow(rows: readonly string[]): string {
  return /lines (\d+)–/.exec(rows.join("\n"))?.[1] ?? "";
}
