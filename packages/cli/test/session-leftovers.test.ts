import { afterEach, beforeEach, expect, test } from "bun:test";
import { readdirSync } from "node:fs";
import type { SignalName } from "../src/io/io.ts";
import { startInPty } from "./support/pty-program.ts";
import { createTemporaryProject, type TemporaryProject } from "./support/temporary-project.ts";

const SIGNALS: readonly SignalName[] = ["SIGHUP", "SIGTERM", "SIGQUIT"];

let place: TemporaryProject;

beforeEach(() => {
  place = createTemporaryProject();
  place.write("script.json", {
    version: 1,
    turns: [
      { toolCalls: [{ name: "bash", input: { command: "seq 100000; touch made" } }] },
      { text: "It is done." },
    ],
  });
});

afterEach(() => place.remove());

const leftovers = () => readdirSync(place.temporary).filter((name) => name.startsWith("diligent-session-"));

test.each(SIGNALS)("repeated %s leaves no temporary directory of the session", async (signal) => {
  await using program = startInPty(place, ["-m", "scripted/script.json", "--approval", "auto", "Count."]);
  await program.waitFor("It is done.");
  expect(leftovers()).toHaveLength(1);
  const { process: child } = program;
  while (child.exitCode === null && child.signalCode === null) {
    child.kill(signal);
    await Bun.sleep(1);
  }
  expect(leftovers()).toEqual([]);
});
