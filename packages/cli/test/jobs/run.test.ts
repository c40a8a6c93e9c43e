import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import {
  countLeftRunning,
  countProcesses,
  uniqueSleepSeconds,
} from "../../../core/test/support/process-census.ts";
import { describeUnless } from "../../../core/test/support/test-unless.ts";
import { writeUserConfig } from "../support/compatible-service.ts";
import { parseLines, runDiligent, startDiligent } from "../support/run-diligent.ts";
import { findSandboxProblem } from "../support/sandbox-problem.ts";
import { savedMessages } from "../support/session-files.ts";
import { createTemporaryProject, type TemporaryProject } from "../support/temporary-project.ts";

const problem = findSandboxProblem();

let place: TemporaryProject;

beforeEach(() => {
  place = createTemporaryProject();
});

afterEach(() => place.remove());

interface ScriptedCall {
  name: string;
  input: object;
}

const bash = (command: string, more: object = {}): ScriptedCall => ({
  name: "bash",
  input: { command, ...more },
});
const start = (command: string, more: object = {}) => bash(command, { background: true, ...more });
const output = (id: string, more: object = {}): ScriptedCall => ({
  name: "job_output",
  input: { id, wait_ms: 30_000, ...more },
});

function script(calls: readonly ScriptedCall[], sandbox: "off" | "required"): void {
  writeUserConfig(place, { sandbox });
  const turns = [...calls.map((call) => ({ toolCalls: [call] })), { text: "Done." }];
  place.write("script.json", { version: 1, turns });
}

const WORDS = ["-p", "go", "-m", "scripted/script.json", "--output-format", "stream-json"];

/** One run of a model that makes these calls, one after the other. */
async function print(calls: readonly ScriptedCall[], sandbox: "off" | "required", mode = "auto") {
  script(calls, sandbox);
  const { stdout, exitCode } = await runDiligent(place, [...WORDS, "--approval", mode]);
  const events = parseLines(stdout);
  const results = events.filter(({ type }) => type === "tool_end");
  return {
    exitCode,
    events,
    outputs: results.map((result) => String(result.output)),
    updates: events.filter(({ type }) => type === "job_update"),
  };
}

const SERVER = `
const server = Bun.serve({ port: 0, fetch: () => new Response("hello from the server") });
await Bun.write("port", String(server.port));
console.log("ready");
`;

const WATCHER = `
require("node:fs").watch("src", (_, name) => console.log("changed " + name));
console.log("watching");
`;

for (const sandbox of ["off", "required"] as const) {
  describeUnless(sandbox === "required" ? problem : undefined)(`with the sandbox ${sandbox}, -p`, () => {
    test("starts a server that the next command reaches, and ends it with the run", async () => {
      place.write("server.ts", SERVER);
      const seconds = uniqueSleepSeconds();
      const { outputs, updates, exitCode, events } = await print(
        [
          start(`sleep ${seconds} & exec bun server.ts`),
          output("1", { filter: "ready" }),
          bash(`bun -e 'console.log(await (await fetch("http://localhost:'$(cat port)'")).text())'`),
        ],
        sandbox,
      );
      expect(outputs).toEqual(["Started job 1", "ready\n[running]", "hello from the server"]);
      expect(exitCode).toBe(0);
      const command = `sleep ${seconds} & exec bun server.ts`;
      expect(updates).toEqual([
        { type: "job_update", id: "1", state: "running", command },
        { type: "job_update", id: "1", state: "killed", command },
      ]);
      expect(events.at(-1)?.type).toBe("result");
      expect(countProcesses(seconds)).toBe(0);
    });

    test("starts a watcher that notices what a file tool writes", async () => {
      place.write("watch.ts", WATCHER);
      place.write("src/a.ts", "old");
      const { outputs } = await print(
        [
          start("exec bun watch.ts"),
          output("1", { filter: "watching" }),
          { name: "write", input: { file_path: "src/b.ts", content: "new" } },
          output("1", { filter: "b.ts" }),
        ],
        sandbox,
      );
      expect(outputs[3]).toMatch(/^changed b\.ts\n(?:changed .*\n)*\[running\]$/);
    });

    test("tells the model with its next request that a job has ended", async () => {
      place.write("wait.ts", `while (!require("node:fs").existsSync("go")) await Bun.sleep(5);`);
      const { outputs } = await print(
        [
          start("until [ -e go ]; do sleep 0.01; done; echo the end; touch gone; exit 3"),
          bash("touch go; until [ -e gone ]; do sleep 0.01; done"),
          // The end is noticed within a second.
          bash("sleep 1.5"),
        ],
        sandbox,
      );
      expect(outputs[0]).toBe("Started job 1");
      const notes = savedMessages(place).filter(({ role }) => role === "user");
      expect(notes.map(({ content }) => content)).toEqual([
        "go",
        "[Job 1 ended (exit 3): until [ -e go ]; do sleep 0.01; done; echo the end; touch gone; exit 3. Its last line: the end]",
      ]);
    });
  });
}

describe("SIGKILL of the program", () => {
  const places = { "without a sandbox": "off", "in the sandbox": "required" } as const;
  for (const [where, sandbox] of Object.entries(places)) {
    describeUnless(sandbox === "required" ? problem : undefined)(where, () => {
      test("ends its commands and jobs within two seconds, and what has left their group", async () => {
        const seconds = uniqueSleepSeconds();
        script(
          [
            start(`trap '' TERM; sleep ${seconds} & sleep ${seconds}`),
            bash(`setsid sleep ${seconds} & env -i sleep ${seconds} & sleep ${seconds}`),
          ],
          sandbox,
        );
        const running = startDiligent(place, [...WORDS, "--approval", "auto"]);
        while (countProcesses(`sleep\0${seconds}`) < 5) await Bun.sleep(5);
        running.process.kill("SIGKILL");
        await running.ended;
        expect(await countLeftRunning(`sleep\0${seconds}`)).toBe(0);
      });
    });
  }

  test("leaves a detached job running, whose output is kept", async () => {
    const seconds = uniqueSleepSeconds();
    script(
      [start(`echo up; sleep ${seconds}1 & sleep ${seconds}1`, { detach: true }), bash(`sleep ${seconds}2`)],
      "off",
    );
    const running = startDiligent(place, [...WORDS, "--approval", "auto"]);
    while (countProcesses(`sleep\0${seconds}`) < 3) await Bun.sleep(5);
    running.process.kill("SIGKILL");
    await running.ended;
    expect(await countLeftRunning(`sleep\0${seconds}2`)).toBe(0);
    expect(countProcesses(`sleep\0${seconds}1`)).toBe(2);
    const directory = join(place.home, ".local", "state", "diligent", "jobs");
    const read = () => readdirSync(directory).map((name) => readFileSync(join(directory, name), "utf8"));
    while (read().join("") === "") await Bun.sleep(5);
    expect(read()).toEqual(["up\n"]);
    Bun.spawnSync(["pkill", "-f", `sleep ${seconds}1`]);
    expect(await countLeftRunning(`sleep\0${seconds}1`)).toBe(0);
  });
});

describe("a detached job", () => {
  test("is refused without a user, with exit code 4, and nothing is started", async () => {
    const { outputs, exitCode } = await print([start("touch made", { detach: true })], "off", "accept-edits");
    expect(outputs[0]).toContain("it would keep running with all your rights after the session has ended");
    expect(outputs[0]).toContain("only --approval auto would allow it: no rule does");
    expect([exitCode, existsSync(join(place.project, "made"))]).toEqual([4, false]);
  });

  test("is refused without a user also where a rule allows the command", async () => {
    place.write("diligent.jsonc", {
      permissions: [{ permission: "execute", pattern: "touch *", action: "allow" }],
    });
    const { exitCode } = await print([start("touch made", { detach: true })], "off", "accept-edits");
    expect([exitCode, existsSync(join(place.project, "made"))]).toEqual([4, false]);
  });
});
