import { expect, test } from "bun:test";
import { ScreenSession } from "../support/screen-session.ts";

test.concurrent("the first line shows version, model, directory, sandbox and how to list the commands", async () => {
  await using session = new ScreenSession({ turns: ["Read."] });
  await session.opened();
  const [first = ""] = await session.program.screen();
  expect(first.trimEnd()).toMatch(
    /^diligent \d\S* · scripted\/script\.json · (?:…\/)?project · no sandbox · \/ for commands$/,
  );
});

test.concurrent("quitting a conversation prints the command that continues it, and that command works", async () => {
  await using session = new ScreenSession({ turns: ["First answer.", "Second answer."] });
  await session.opened();
  await session.say("the first prompt");
  await session.shows("First answer.");
  await session.say("/quit");
  expect(await session.program.exitCode).toBe(0);
  const rows = (await session.program.scrollback()).join("\n");
  const id = /^To continue: diligent --continue (\S+)$/m.exec(rows)?.[1] ?? "";
  await using next = new ScreenSession({ place: session.place, args: ["--continue", id] });
  await next.opened();
  await next.shows("First answer.");
});

test.concurrent("quitting without any message prints nothing", async () => {
  await using session = new ScreenSession({ turns: ["Read."] });
  await session.opened();
  await session.say("/quit");
  expect(await session.program.exitCode).toBe(0);
  expect((await session.program.scrollback()).join("\n")).not.toContain("To continue");
});
