import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { ScreenSession } from "../support/screen-session.ts";
import { said, savedMessages } from "../support/session-files.ts";
import { createTemporaryProject, type TemporaryProject } from "../support/temporary-project.ts";
import { TypedCommands, writeScript } from "../support/typed-commands.ts";

describe("a prompt that was sent with Enter before quitting is saved as the user's message", () => {
  let place: TemporaryProject;
  let typed: TypedCommands;

  beforeEach(async () => {
    place = createTemporaryProject();
    writeScript(place, "one", "two", "three");
    typed = new TypedCommands(place);
  });

  afterEach(async () => {
    await typed.close();
    place.remove();
  });

  test("while its files are still being read", async () => {
    await typed.open();
    await typed.say("first");
    place.write("notes.txt", "42");
    typed.enter("see @notes.txt");
    await typed.leave();
    expect(JSON.stringify(savedMessages(place).at(-1))).toContain("42");
    expect(savedMessages(place).map(({ role }) => role)).toEqual(["user", "assistant", "user"]);
  });

  test("while the session is still being opened", async () => {
    typed.enter("first words");
    await typed.leave();
    expect(said(savedMessages(place))).toEqual(["user: first words"]);
  });

  test("while it waits for a shell command of the user", async () => {
    await typed.open();
    await typed.say("first");
    typed.enter("!touch began; sleep 300");
    while (!existsSync(join(place.project, "began"))) await Bun.sleep(2);
    typed.enter("then this");
    typed.enter("and that");
    while (typed.view.queued.length < 2) await Bun.sleep(2);
    await typed.leave();
    expect(said(savedMessages(place)).slice(-2)).toEqual(["user: then this", "user: and that"]);
  });

  test("and the conversation continues with it", async () => {
    await typed.open();
    await typed.say("first");
    typed.enter("late");
    await typed.leave();
    await typed.close();
    typed = await new TypedCommands(place, { resumption: { how: "continue" } }).open();
    await typed.say("again");
    expect(said(savedMessages(place)).slice(2)).toEqual(["user: late", "user: again", "assistant: two"]);
  });
});

describe("a prompt typed before SIGTERM is saved, although the process may receive the signal first", () => {
  const ATTEMPTS = [1, 2, 3];

  test.each(ATTEMPTS)("during a run (%d)", async () => {
    await using session = new ScreenSession({ turns: [{ text: "slow", delayMs: 60_000 }, "Two."] });
    await session.opened();
    await session.say("first");
    await session.shows("Esc to stop");
    session.program.sendAtOnce("typed late\r");
    session.program.process.kill("SIGTERM");
    expect(await session.program.exitCode).toBe(143);
    expect(said(savedMessages(session.place))).toEqual(["user: first", "user: typed late"]);
  });

  test.each(ATTEMPTS)("while the session is being opened (%d)", async () => {
    await using session = new ScreenSession({ turns: ["One."] });
    await session.shows(/^>/m);
    session.program.sendAtOnce("typed early\r");
    session.program.process.kill("SIGTERM");
    expect(await session.program.exitCode).toBe(143);
    expect(said(savedMessages(session.place))[0]).toBe("user: typed early");
  });
});
