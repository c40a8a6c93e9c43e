import { expect, test } from "bun:test";
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { KEYS, lines, ScreenSession } from "../support/screen-session.ts";
import { createTemporaryProject } from "../support/temporary-project.ts";

function bash(command: string, text?: string): object {
  return { ...(text !== undefined && { text }), toolCalls: [{ name: "bash", input: { command } }] };
}

test.concurrent("a command is shown with the meaning of each answer, and runs once after a single approval", async () => {
  await using session = new ScreenSession({ turns: [bash("touch made"), bash("touch made"), "Made."] });
  await session.opened();
  await session.say("make it");
  await session.shows("y yes");
  await session.looksLike(
    lines(
      "> make it",
      "",
      "• bash touch made",
      "",
      "? Allow bash? Reason: touch may do more than read",
      "│ touch made",
      "“Always” will allow:",
      "› exactly `touch made` in PROJECT",
      "y yes · a always in this session · p always in this project · n no · m no, with",
      "a message · e edit",
      "(status)",
    ),
  );
  expect(existsSync(join(session.place.project, "made"))).toBe(false);
  await session.answer("touch made", "y");
  await session.shows(/✓ bash touch made[\s\S]*Reason: /);
  expect(existsSync(join(session.place.project, "made"))).toBe(true);
  await session.allowAlways("│ touch made", "a");
  await session.shows("Made.");
  const left = await session.quit();
  expect(left).toContain(
    "> make it\n\n✓ bash touch made\n  (no output)\n\n✓ bash touch made\n  (no output)\n\nMade.\n",
  );
  expect(left).not.toContain("Allow bash?");
});

test.concurrent("a request allowed permanently in a session or project is not asked about again", async () => {
  const script = [
    bash("touch a"),
    bash("touch a"),
    bash("touch b"),
    bash("touch b"),
    "First.",
    bash("touch b"),
    "Then.",
  ];
  await using session = new ScreenSession({ turns: script });
  await session.opened();
  await session.say("make them");
  await session.allowAlways("│ touch a", "a");
  await session.allowAlways("│ touch b", "p");
  await session.shows("First.");
  await session.say("and again");
  await session.shows("Then.");
  const transcript = await session.quit();
  expect(transcript.match(/✓ bash touch [ab]/g)).toHaveLength(5);
  const directory = join(session.place.home, ".local", "state", "diligent");
  const grants = readFileSync(join(directory, "grants.json"), "utf8");
  expect(grants).toMatch(/"words": \[\s*"touch",\s*"b"\s*\]/);
  expect(grants).not.toContain('"a"');
});

test.concurrent("a no ends the turn, and a no with a message lets the model continue", async () => {
  await using session = new ScreenSession({ turns: [bash("touch a"), bash("touch b"), "As you like."] });
  await session.opened();
  await session.say("make them");
  await session.answer("│ touch a", "n");
  await session.shows("Stopped: request denied");
  await session.say("once more");
  await session.answer("│ touch b", "m");
  await session.shows("Message to the model: ▏");
  session.program.send("not b");
  await session.shows("Message to the model: not b▏");
  session.press("enter");
  await session.shows("As you like.");
  expect(await session.quit()).toBe(
    lines(
      "> make them",
      "",
      "✗ bash touch a · rejected",
      "  The user denied this. Do not work around it.",
      "",
      "Stopped: request denied",
      "",
      "> once more",
      "",
      "✗ bash touch b · rejected",
      "  The user denied this: not b",
      "",
      "As you like.",
      "",
      ">",
      "(status)",
    ),
  );
});

test.concurrent("text being typed when the question appeared answers nothing and is not lost", async () => {
  await using session = new ScreenSession({
    turns: [{ ...bash("touch a"), delayMs: 250 }, "Not yet."],
  });
  await session.opened();
  await session.say("make it");
  for (const letter of "any yes, please") {
    session.program.send(letter);
    await Bun.sleep(50);
  }
  await session.shows("│ touch a");
  expect(existsSync(join(session.place.project, "a"))).toBe(false);
  await session.shows("You were typing: press Tab or ↓ to answer this · Esc no\n> any yes, please");
  session.program.send("!y");
  await session.shows("> any yes, please!y");
  session.press("tab");
  await session.answer("y yes", "n");
  await session.shows("> any yes, please!y");
});

// Alone, so that no other session keeps this process from pressing the key at once.
test("a key pressed before the question could be read must be pressed again", async () => {
  let isPressed = false;
  await using session = new ScreenSession({
    turns: [bash("touch a"), "Made."],
    onOutput() {
      if (isPressed || !Bun.stripANSI(session.program.bytes).includes("│ touch a")) return;
      isPressed = true;
      session.program.send("y");
    },
  });
  await session.opened();
  await session.say("make it");
  await session.shows("The question just appeared: press the key again");
  expect(existsSync(join(session.place.project, "a"))).toBe(false);
  session.program.send("y");
  await session.answer("│ touch a", "y");
  await session.shows("Made.");
});

test.concurrent("Esc denies at once, even a question that has just appeared", async () => {
  await using session = new ScreenSession({ turns: [bash("touch a")] });
  await session.opened();
  await session.say("make it");
  await session.shows("│ touch a");
  session.program.send(KEYS.escape);
  await session.shows("Stopped: request denied");
  expect(existsSync(join(session.place.project, "a"))).toBe(false);
});

test.concurrent("a denial that ends the turn returns queued prompts to the editor", async () => {
  const place = createTemporaryProject({ sandbox: "off" });
  const permissions = [{ permission: "execute", pattern: "cat go", action: "allow" }];
  place.configure({ sandbox: "off", permissions });
  const pipe = join(place.project, "go");
  execFileSync("mkfifo", [pipe]);
  await using session = new ScreenSession({
    place,
    turns: [
      {
        toolCalls: [
          { name: "bash", input: { command: "cat go" } },
          { name: "bash", input: { command: "touch a" } },
        ],
      },
    ],
  });
  await session.opened();
  await session.say("make it");
  await session.shows("Running bash");
  await session.say("a hint");
  await session.shows("queued: a hint");
  // The command has perhaps not opened the pipe yet, and this process must not wait for that.
  const going = Bun.spawn(["sh", "-c", ': > "$0"', pipe]);
  await session.answer("│ touch a", "n");
  await session.shows(/^> a hint/m);
  await session.looksLike(/\n\nStopped: request denied\n\n> a hint\n\(status\)$/);
  expect(await session.screen()).not.toContain("queued");
  expect(await going.exited).toBe(0);
});
