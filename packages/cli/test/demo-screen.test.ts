// biome-ignore-all lint/suspicious/noControlCharactersInRegex: the tests look for control sequences
import { afterEach, beforeEach, expect, test } from "bun:test";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { readRecentInputs } from "@diligent/core/interactive";
import { type PtyOptions, startInPty } from "./support/pty-program.ts";
import { expectModesOff } from "./support/restored-terminal.ts";
import { createTemporaryProject, type TemporaryProject } from "./support/temporary-project.ts";

const PATIENCE: PtyOptions = { timeoutMs: 55_000, patienceMs: 50_000 };

let place: TemporaryProject;

beforeEach(() => {
  place = createTemporaryProject();
});

afterEach(() => place.remove());

/** The sample project of the demo that was started. */
function sampleProject(): string {
  const name = readdirSync(place.temporary).find((each) => each.startsWith("diligent-demo-")) ?? "";
  return join(place.temporary, name, "split-the-bill");
}

test("the demo runs on the screen, stays open at its end, and leaves everything in the scrollback", async () => {
  await using program = startInPty(place, ["demo"], { ...PATIENCE, environment: { NO_COLOR: "1" } });
  await program.waitFor("Ctrl+D quits");
  await program.waitFor("diligent --continue");
  // It is a session like any other.
  program.send("/context\r");
  await program.waitFor(/system prompt|prompt.*tokens|tokens/i);
  program.send("/diff\r");
  await program.waitFor("split-leftover.test.js");
  program.send("\x04");
  expect(await program.exitCode).toBe(0);
  // The prompt was the program's own and is not in the user's history.
  expect(readRecentInputs({ HOME: place.home }, { root: "/", limit: 9 })).toEqual([]);
  const project = sampleProject();
  const text = (await program.scrollback()).join("\n");
  expectModesOff(program);
  const joined = text.replaceAll(/\n\s*/g, "");
  const [session = ""] = readdirSync(join(project, ".diligent", "sessions")).filter((name) =>
    name.endsWith(".jsonl"),
  );
  for (const part of [
    "A scripted model fixes a bug with the real tools. No key, no network.",
    "they pass, checked again with bun test: 8 pass, 0 fail",
    join(project, ".diligent", "sessions", session),
    `cd ${project}`,
    "diligent login    # once, unless ANTHROPIC_API_KEY is set",
    "diligent --continue",
  ])
    expect(joined.replaceAll(" ", "")).toContain(part.replaceAll(" ", ""));
  const looks = program.bytes.match(/\u001b\[[\d;]*m/g) ?? [];
  expect(looks.filter((look) => look !== "\u001b[0m")).toEqual([]);
  expect(readFileSync(join(project, "src", "split.js"), "utf8")).toContain("leftover");
}, 60_000);

test("quitting the demo early prints all locations and leaves the starting directory unchanged", async () => {
  const draft = join(place.home, ".local", "state", "diligent");
  await using program = startInPty(place, ["demo"], PATIENCE);
  await program.waitFor("The README says");
  // Both at once: the first key alone stops the run, which would then end normally.
  program.send("\x03\x03");
  expect(await program.exitCode).toBe(0);
  const text = (await program.scrollback()).join("\n");
  expect(text).toContain("Tests    not run: the demo did not finish");
  // A long path stands on rows of its own.
  expect(text.replaceAll(/\s/g, "")).toContain(`Project${sampleProject()}`);
  expect(readdirSync(place.project)).toEqual([".git"]);
  expect(existsSync(join(draft, "drafts"))).toBe(false);
}, 60_000);

test("Escape during the demo explains how to continue it", async () => {
  await using program = startInPty(place, ["demo"], PATIENCE);
  await program.waitFor("The README says");
  program.send("\x1b");
  await program.waitFor("any prompt continues it");
  expect((await program.scrollback()).join("\n")).toContain("they DO NOT pass");
  program.send("\x04");
  expect(await program.exitCode).toBe(1);
}, 60_000);

test.each([
  [["--plain-ui"], {}],
  [[], { TERM: "dumb" }],
])(
  "with %j and %j the demo prints lines without control sequences",
  async (options, environment) => {
    await using program = startInPty(place, ["demo", ...options], { ...PATIENCE, environment });
    expect(await program.exitCode).toBe(0);
    expect(program.bytes).toContain("they pass, checked again");
    expect(program.bytes).not.toContain("\u001b");
  },
  60_000,
);
