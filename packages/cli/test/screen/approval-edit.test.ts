import { expect, test } from "bun:test";
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { lines, ScreenSession } from "../support/screen-session.ts";
import { createTemporaryProject } from "../support/temporary-project.ts";

function bash(command: string): object {
  return { toolCalls: [{ name: "bash", input: { command } }] };
}

const isMade = ({ place }: ScreenSession, name: string) => existsSync(join(place.project, name));

test.concurrent("a command is edited in the question, shown again, and runs instead of the model's", async () => {
  await using session = new ScreenSession({ turns: [bash("touch a\ntouch b"), "Done."] });
  await session.opened();
  await session.say("make them");
  await session.answer("│ touch a\n│ touch b", "e");
  await session.shows("> touch a\n  touch b\nEnter done · Esc back · Ctrl+G $EDITOR");
  session.press("backspace");
  session.program.send("c");
  await session.shows("touch c");
  session.press("ctrlJ");
  session.program.send("touch d");
  await session.shows("touch d\nEnter done");
  session.press("enter");
  await session.shows("? Allow bash as edited?");
  expect([isMade(session, "a"), isMade(session, "c")]).toEqual([false, false]);
  await session.answer("│ touch a\n│ touch c\n│ touch d", "y");
  await session.shows("Done.");
  expect(["a", "b", "c", "d"].map((name) => isMade(session, name))).toEqual([true, false, true, true]);
  expect(await session.quit()).toContain(
    lines(
      "✓ bash",
      "  $ touch a",
      "    touch c",
      "    touch d",
      "  The user changed the command before it ran to:",
      "  touch a",
      "  touch c",
      "  touch d",
      "",
      "  (no output)",
      "",
      "Done.",
    ),
  );
});

test.concurrent("Esc closes the field with the original question, and a denied command returns it with the reason", async () => {
  const config = {
    sandbox: "off",
    permissions: [{ permission: "execute", pattern: "curl", action: "deny" }],
  };
  await using session = new ScreenSession({ turns: [bash("touch a"), "Done."], config });
  await session.opened();
  await session.say("make it");
  await session.answer("│ touch a", "e");
  await session.shows("> touch a\nEnter done");
  session.program.send("bc");
  await session.shows("> touch abc");
  session.press("escape");
  await session.answer("│ touch a\n", "e");
  await session.shows("> touch a\nEnter done");
  session.program.send("; curl x");
  await session.shows("> touch a; curl x");
  session.press("enter");
  await session.shows('edited command was rejected: the rule deny execute "curl" forbids it [rule]');
  await session.answer("│ touch a\n", "e");
  await session.shows("> touch a; curl x\nEnter done");
  session.press("escape");
  await session.answer("│ touch a\n", "y");
  await session.shows("Done.");
  expect(isMade(session, "a")).toBe(true);
});

test.concurrent("a command can be edited in $EDITOR, and is shown again", async () => {
  const place = createTemporaryProject();
  try {
    const editor = join(place.top, "my-editor");
    writeFileSync(editor, '#!/bin/sh\nprintf "\\ntouch \\"b c\\"\\n" >> "$1"\n', { mode: 0o755 });
    const environment = { EDITOR: editor };
    const turns = [bash("touch a"), "Done."];
    await using session = new ScreenSession({ turns, place, environment, config: { sandbox: "off" } });
    await session.opened();
    await session.say("make it");
    await session.answer("│ touch a", "e");
    await session.shows("> touch a\nEnter done");
    session.program.send("\x07");
    await session.shows('> touch a\n  touch "b c"\nEnter done');
    session.press("enter");
    await session.answer('│ touch a\n│ touch "b c"', "y");
    await session.shows("Done.");
    expect(["a", "b c"].map((name) => isMade(session, name))).toEqual([true, true]);
  } finally {
    place.remove();
  }
});

test.concurrent("an unmarked paste answers nothing, and is text in the field", async () => {
  await using session = new ScreenSession({ turns: [bash("touch a"), "Done."] });
  await session.opened();
  await session.say("make it");
  await session.answer("│ touch a", "yes\r");
  await session.shows("Pasted text was ignored; press a key to answer");
  await session.answer("│ touch a", "py");
  await session.shows("Pasted text was ignored; press a key to answer");
  expect(isMade(session, "a")).toBe(false);
  await session.answer("│ touch a", "e");
  await session.shows("> touch a\nEnter done");
  session.program.send("b cd");
  await session.shows("> touch ab cd");
  session.press("enter");
  await session.answer("│ touch ab cd", "y");
  await session.shows("Done.");
  expect(["a", "ab", "cd"].map((name) => isMade(session, name))).toEqual([false, true, true]);
});

test.concurrent("an edited command is shown when the session is resumed", async () => {
  await using session = new ScreenSession({ turns: [bash("touch a"), "Done."] });
  await session.opened();
  await session.say("make it");
  await session.answer("│ touch a", "e");
  await session.shows("> touch a\nEnter done");
  session.program.send("b");
  await session.shows("> touch ab");
  session.press("enter");
  await session.answer("│ touch ab", "y");
  await session.shows("Done.");
  await session.quit();
  await using again = new ScreenSession({ args: ["--continue"], place: session.place });
  await again.shows("Done.");
  await again.shows(
    "✓ bash touch ab\n  The user changed the command before it ran to: touch ab\n\n  (no output)\n",
  );
  await again.quit();
});
