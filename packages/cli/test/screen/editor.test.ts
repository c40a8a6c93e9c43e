import { expect, test } from "bun:test";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { KEYS, type KeyName, ScreenSession } from "../support/screen-session.ts";
import { savedMessages, sessionIds } from "../support/session-files.ts";

function sentPrompts(session: ScreenSession): unknown[] {
  return savedMessages(session.place).flatMap((message) =>
    message.role === "user" ? [message.content] : [],
  );
}

/** Resolves once this is the draft on disk. */
async function isKept({ place, program }: ScreenSession, text: string): Promise<void> {
  const drafts = join(place.home, ".local", "state", "diligent", "drafts");
  await program.waitUntil(() => {
    const names = existsSync(drafts) ? readdirSync(drafts).filter((name) => name.endsWith(".txt")) : [];
    return names.some((name) => readFileSync(join(drafts, name), "utf8") === text);
  });
}

test.concurrent("Shift+Enter, Ctrl+J, Alt+Enter and a backslash before Enter each insert a line break", async () => {
  await using session = new ScreenSession({ turns: ["Read."] });
  await session.opened();
  const ends: (KeyName | "backslash")[] = ["shiftEnter", "ctrlJ", "altEnter", "backslash"];
  for (const [index, key] of ends.entries()) {
    session.program.send(`line${index}`);
    await session.shows(`line${index}`);
    if (key === "backslash") session.program.send("\\");
    session.program.send(key === "backslash" ? KEYS.enter : KEYS[key]);
  }
  session.program.send("last");
  await session.shows("last");
  await session.looksLike(/^> line0\n {2}line1\n {2}line2\n {2}line3\n {2}last\n/);
  session.press("enter");
  await session.shows("Read.");
  expect(await session.quit()).toStartWith("> line0\n  line1\n  line2\n  line3\n  last\n\nRead.\n");
  expect(sentPrompts(session)).toEqual(["line0\nline1\nline2\nline3\nlast"]);
});

test.concurrent("a paste of 120 lines is shown as one label, deleted as one, and sent in full", async () => {
  const pasted = Array.from({ length: 120 }, (_, index) => `pasted row ${index}\t\x07é`).join("\r");
  const content = pasted.replaceAll("\r", "\n").replaceAll("\x07", "");
  await using session = new ScreenSession({ turns: ["Read."] });
  await session.opened();
  session.program.send("look: ");
  session.program.send(`\x1b[200~${pasted}\x1b[201~`);
  await session.shows("> look: [pasted 120 lines]");
  session.press("backspace");
  await session.shows(/> look:$/m);
  session.program.send(`\x1b[200~${pasted}\x1b[201~ ok?`);
  await session.shows("[pasted 120 lines] ok?");
  await session.looksLike("> look: [pasted 120 lines] ok?\n(status)");
  session.press("enter");
  await session.shows("Read.");
  await session.quit();
  expect(sentPrompts(session)).toEqual([`look: ${content} ok?`]);
});

test.concurrent("earlier prompts return with Up in a later session, newest first", async () => {
  await using first = new ScreenSession({ turns: ["One.", "Two."] });
  await first.opened();
  await first.say("the first prompt");
  await first.shows("One.");
  await first.say("the second prompt");
  await first.shows("Two.");
  await first.quit();
  await using second = new ScreenSession({ place: first.place });
  await second.opened();
  await second.screen();
  second.press("up");
  await second.shows("> the second prompt");
  second.press("up", "up");
  await second.shows("> the first prompt");
  second.press("ctrlC");
  await second.screen();
  second.press("ctrlR");
  await second.shows("type to filter");
  second.program.send("first");
  await second.shows("1/1");
  second.press("enter");
  await second.shows("> the first prompt");
});

test.concurrent("an unsent draft survives a crash, and Up restores it", async () => {
  await using crashed = new ScreenSession({ turns: ["One."] });
  await crashed.opened();
  crashed.program.send("an idea");
  await crashed.shows("> an idea");
  crashed.press("ctrlJ");
  crashed.program.send("of two lines");
  await crashed.shows("of two lines");
  await isKept(crashed, "an idea\nof two lines");
  await crashed.crash();
  await using next = new ScreenSession({ place: crashed.place });
  await next.opened();
  await next.shows("Press Up to restore your unsent draft");
  await next.looksLike(/^>\n/);
  next.press("up");
  await next.shows("> an idea\n  of two lines");
  next.press("enter");
  await next.shows("One.");
  await next.quit();
  await using last = new ScreenSession({ place: crashed.place });
  await last.opened();
  await last.looksLike(/^>\n/);
});

test.concurrent("a draft belongs to its session: another session does not offer it", async () => {
  await using first = new ScreenSession({ turns: ["One.", "Two."] });
  await first.opened();
  await first.say("hello");
  await first.shows("One.");
  await first.rests();
  first.program.send("for this session");
  await isKept(first, "for this session");
  await first.crash();
  await using other = new ScreenSession({ place: first.place });
  await other.opened();
  await other.say("unrelated");
  await other.shows("One.");
  await other.rests();
  other.press("up", "up", "up");
  expect(await other.screen()).not.toContain("for this session");
  other.press("ctrlC");
  await other.quit();
  const [id = ""] = sessionIds(first.place);
  await using resumed = new ScreenSession({ place: first.place, args: ["-c", id] });
  await resumed.opened();
  await resumed.shows("Press Up to restore your unsent draft");
  resumed.press("up");
  await resumed.shows("> for this session");
});

test.concurrent("a file named with @ is completed and its content attached", async () => {
  await using session = new ScreenSession({ turns: ["Read."] });
  session.place.write("src/some-file.ts", "export const answer = 42;\n");
  await session.opened();
  session.program.send("see @some");
  await session.shows("some-file.ts");
  session.program.send("\t");
  await session.shows("@src/some-file.ts");
  session.press("enter");
  await session.shows("Read.");
  await session.quit();
  expect(JSON.stringify(sentPrompts(session))).toContain("export const answer = 42;");
  expect(readFileSync(join(session.place.project, "src/some-file.ts"), "utf8")).toBe(
    "export const answer = 42;\n",
  );
});

test.concurrent("keys that arrive together with an open completion list mean what is typed, not an older item", async () => {
  await using session = new ScreenSession({ turns: ["Read."] });
  session.place.write("out.md", "the content of it\n");
  await session.opened();
  session.program.send("/");
  await session.shows("→ /");
  session.program.send(`status${KEYS.enter}`);
  await session.shows(/^ *model +scripted/m);
  session.program.send("/sta");
  await session.shows("→ /status");
  session.program.send(`tus${KEYS.enter}`);
  await session.shows(/^>$/m);
  session.program.send("see @");
  await session.shows("→ ");
  session.program.send(`out.md${KEYS.tab}`);
  await session.shows(/^> see @out\.md$/m);
  session.program.send(`now${KEYS.enter}`);
  await session.shows("Read.");
  expect(JSON.stringify(sentPrompts(session))).toContain("see @out.md now");
  expect((await session.quit()).match(/^ *model +scripted/gm)).toHaveLength(2);
});
