import { afterEach, beforeEach, expect, test } from "bun:test";
import { existsSync, rmSync } from "node:fs";
import { join } from "node:path";
import { writeUserConfig } from "../support/compatible-service.ts";
import { runDiligent } from "../support/run-diligent.ts";
import { ScreenSession } from "../support/screen-session.ts";
import { savedLines, sessionIds } from "../support/session-files.ts";
import { createTemporaryProject, type TemporaryProject } from "../support/temporary-project.ts";

let place: TemporaryProject;

beforeEach(() => {
  place = createTemporaryProject();
  writeUserConfig(place, { sandbox: "off" });
});

afterEach(() => place.remove());

const TOUCH = { toolCalls: [{ name: "bash", input: { command: "touch made" } }] };

test("a permission for a session applies when it is resumed, and is asked about again in a fork", async () => {
  place.write("script.json", {
    version: 1,
    turns: [TOUCH, { text: "First." }, TOUCH, { text: "Second." }, TOUCH, { text: "Third." }],
  });
  const made = join(place.project, "made");
  {
    await using session = new ScreenSession({ place });
    await session.opened();
    await session.say("make it");
    await session.allowAlways("│ touch made", "a");
    await session.shows("First.");
    await session.rests();
    await session.quit();
  }
  expect(existsSync(join(place.project, ".diligent", "grants.json"))).toBe(false);
  rmSync(made);
  {
    await using session = new ScreenSession({ place, args: ["--continue"] });
    await session.opened();
    await session.say("once more");
    await session.shows("Second.");
    await session.rests();
    expect(await session.quit()).not.toContain("Allow bash?");
  }
  expect(existsSync(made)).toBe(true);
  const script = ["-m", "scripted/script.json"];
  const { stderr } = await runDiligent(place, ["-p", ...script, "--fork", "1", "again"]);
  expect(stderr).toContain("Refused");
  const [id = ""] = sessionIds(place);
  await runDiligent(place, ["sessions", "rm", id, "--yes"]);
  expect(existsSync(join(place.home, ".local", "state", "diligent", "session-grants", `${id}.json`))).toBe(
    false,
  );
});

test("a resumed session keeps its thinking level, whatever is configured", async () => {
  place.write("script.json", { version: 1, turns: [{ text: "First." }, { text: "Second." }] });
  {
    await using session = new ScreenSession({ place });
    await session.opened();
    await session.say("hello");
    await session.shows("First.");
    await session.rests();
    await session.say("/thinking high");
    await session.shows("thinking high");
    await session.quit();
  }
  expect(savedLines(place).filter(({ type }) => type === "settings")).toMatchObject([{ effort: "high" }]);
  writeUserConfig(place, { sandbox: "off", effort: "low" });
  await using session = new ScreenSession({ place, args: ["-c"] });
  await session.opened();
  expect(await session.program.settle()).toContainEqual(expect.stringContaining("thinking high"));
});
