import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import {
  countLeftRunning,
  countProcesses,
  uniqueSleepSeconds,
} from "../../../core/test/support/process-census.ts";
import { createInjectedProject, takeFingerprint } from "../support/injected-project.ts";
import { type Call, createDemands } from "../support/injections.ts";
import {
  type DiligentOptions,
  PROGRAM_BY_PATH,
  parseLines,
  runDiligent,
  startDiligent,
} from "../support/run-diligent.ts";
import { runInTerminal, type TerminalProgram } from "../support/run-in-terminal.ts";
import { findSandboxProblem } from "../support/sandbox-problem.ts";
import { createTemporaryProject, type TemporaryProject } from "../support/temporary-project.ts";

const problem = findSandboxProblem();

let place: TemporaryProject;
const programs: TerminalProgram[] = [];

beforeEach(() => {
  place = createTemporaryProject();
});

afterEach(() => {
  for (const program of programs.splice(0)) program.process.kill("SIGKILL");
  place.remove();
});

const bash = (command: string, more: object = {}): Call => ({ name: "bash", input: { command, ...more } });
const outside = (command: string): Call => bash(command, { outside_sandbox: true, reason: "the network" });

/** One run of a model that makes these calls, one after the other. */
async function print(calls: readonly Call[], args: readonly string[] = [], options: DiligentOptions = {}) {
  const turns = [...calls.map((call) => ({ toolCalls: [call] })), { text: "Done." }];
  place.write("script.json", { version: 1, turns });
  const words = ["-p", "go", "-m", "scripted/script.json", "--output-format", "stream-json"];
  const { stdout, stderr, exitCode } = await runDiligent(place, [...words, ...args], options);
  const events = parseLines(stdout);
  const results = events.filter(({ type }) => type === "tool_end");
  return {
    stderr,
    exitCode,
    asked: events.filter(({ type }) => type === "approval_request"),
    notices: events.filter(({ type }) => type === "notice"),
    failed: results.map(({ isError }) => isError),
    outputs: results.map(({ output }) => String(output)),
  };
}

const made = (path: string) => existsSync(join(place.project, path));

describe.skipIf(problem !== undefined)("commands in the sandbox", () => {
  test("need no approval, even without a user", async () => {
    const { exitCode, asked, failed, notices, stderr } = await print([
      bash("mkdir made && echo x > made/y"),
      bash("touch z"),
    ]);
    expect([exitCode, asked, failed, notices, stderr]).toEqual([0, [], [false, false], [], ""]);
    expect([made("made/y"), made("z")]).toEqual([true, true]);
  });

  test("ask from the first one on if their changes could not be undone", async () => {
    const environment = { XDG_STATE_HOME: "/proc/nowhere" };
    const { exitCode, asked, failed } = await print([bash("touch made")], [], { environment });
    expect([exitCode, asked.length, failed, made("made")]).toEqual([4, 1, [true], false]);
  });

  test("ask from the first one on if they may destroy a file that is too large to record", async () => {
    const large = place.write("data.sqlite", "");
    truncateSync(large, 60 * 1024 * 1024);
    const { exitCode, failed } = await print([bash("rm -rf data.sqlite")]);
    expect([exitCode, failed]).toEqual([4, [true]]);
    expect(made("data.sqlite")).toBe(true);
  });

  test("can change protected files in auto mode, and nothing outside the project", async () => {
    const { failed, outputs } = await print(
      [bash("echo x > ~/canary; echo x > /usr/canary"), bash("echo x > .git/config")],
      ["--approval", "auto"],
    );
    expect(failed).toEqual([true, false]);
    expect(outputs[0]).toContain("it ran in a sandbox: only the project");
    expect(outputs[1]).toBe("(no output)");
    expect([
      existsSync(join(place.home, "canary")) || existsSync("/usr/canary"),
      made(".git/config"),
    ]).toEqual([false, true]);
  });

  test("do not run in plan mode", async () => {
    const { outputs } = await print([bash("touch made")], ["--approval", "plan"]);
    expect(outputs[0]).toStartWith("Refused: running commands is not allowed in plan mode");
    expect(made("made")).toBe(false);
  });

  test("obey rules of the user's configuration", async () => {
    place.configure({ permissions: [{ permission: "execute", pattern: "touch", action: "ask" }] });
    const { exitCode, asked, failed } = await print([bash("mkdir made; touch made/x"), bash("mkdir other")]);
    expect([exitCode, asked.map(({ gate }) => gate), failed]).toEqual([0, ["rule"], [true, false]]);
  });

  test("work in a project below the system's temporary directory, and leave nothing there", async () => {
    await print([bash("mktemp; echo x > /tmp/left-by-a-box")]);
    expect([readdirSync(place.temporary), existsSync("/tmp/left-by-a-box")]).toEqual([[], false]);
  });

  test("are mentioned in the system prompt, only if there is a sandbox", async () => {
    const prompts: string[] = [];
    for (const sandbox of ["auto", "required", "off"]) {
      place.configure({ sandbox });
      await print([], ["--verbose"]);
      const directory = join(place.home, ".local", "state", "diligent", "requests");
      const [name = ""] = readdirSync(directory);
      const [line = ""] = readFileSync(join(directory, name), "utf8").split("\n");
      rmSync(directory, { recursive: true });
      prompts.push(/# Sandbox\\n\\n.*?runs outside it[^.]*\./.exec(line)?.[0] ?? "none");
    }
    expect(prompts).toEqual([
      expect.stringContaining("Nothing runs outside it unless a rule allows that."),
      expect.stringContaining("Nothing runs outside it."),
      "none",
    ]);
  });
});

describe.skipIf(problem !== undefined)("a command that asks to run unsandboxed", () => {
  test("is refused without a user, and not run in the sandbox instead", async () => {
    const { exitCode, asked, outputs } = await print([outside("touch made")]);
    expect([exitCode, made("made")]).toEqual([4, false]);
    expect(asked).toMatchObject([
      {
        gate: "sandbox",
        request: {
          description: "bash outside the sandbox: touch made",
          details: { command: "touch made", outsideSandbox: true, reason: "“the network”" },
        },
      },
    ]);
    expect(outputs[0]).toStartWith(
      "Refused: it would run outside the sandbox, with all your permissions [sandbox]",
    );
  });

  test("runs unsandboxed in auto mode", async () => {
    const { failed } = await print([outside("echo x > ~/made")], ["--approval", "auto"]);
    expect([failed, existsSync(join(place.home, "made"))]).toEqual([[false], true]);
  });

  test("does not run unsandboxed if the sandbox is required", async () => {
    place.configure({ sandbox: "required" });
    for (const mode of ["auto", "deny"]) {
      const { failed } = await print(
        [outside("echo x > ~/made"), bash("touch inside")],
        ["--approval", mode],
      );
      expect([failed, existsSync(join(place.home, "made"))]).toEqual([[true, false], false]);
    }
  });

  test("asks a question that says so, after one that failed and was not retried unsandboxed", async () => {
    const command = "echo x >> ~/made";
    const turns = [bash(command), outside(command), outside(command), outside(command)];
    place.write("script.json", {
      version: 1,
      turns: [...turns.map((call) => ({ toolCalls: [call] })), { text: "Done." }],
    });
    const program = runInTerminal(place, ["-m", "scripted/script.json", "go"]);
    programs.push(program);
    const question = "Allow bash outside the sandbox? It would run with all your";
    await program.shown(question);
    await program.shown("“the network”");
    await program.shown("outside the sandbox: exactly this command line in ");
    await program.shown("Allow it? ");
    expect(existsSync(join(place.home, "made"))).toBe(false);
    program.type("y\r");
    await program.shown(question);
    await program.shown("Allow it? ");
    program.type("a\r");
    await program.shown("Done.");
    expect(readFileSync(join(place.home, "made"), "utf8")).toBe("x\nx\nx\n");
  });
});

describe("if there is no sandbox", () => {
  /** A PATH with a bubblewrap that fails, or without any. */
  function pathWith(script?: string): DiligentOptions {
    const bin = join(place.top, "bin");
    mkdirSync(bin);
    for (const name of ["bash", "sh", "touch", "ls", "rg", "git"]) {
      const path = Bun.which(name);
      if (path) writeFileSync(join(bin, name), `#!/bin/sh\nexec ${path} "$@"\n`, { mode: 0o755 });
    }
    if (script !== undefined) writeFileSync(join(bin, "bwrap"), `#!/bin/sh\n${script}\n`, { mode: 0o755 });
    return { environment: { PATH: bin }, program: PROGRAM_BY_PATH };
  }

  test("one line at the start says so, and commands ask", async () => {
    const { asked, notices, exitCode } = await print([bash("touch a"), bash("touch b")], [], pathWith());
    expect(notices).toEqual([
      {
        type: "notice",
        level: "info",
        code: "no_sandbox",
        message:
          "Commands run unsandboxed and need approval: bubblewrap (the program bwrap) is not installed. Jobs are ended as far as their processes can be found.",
      },
    ]);
    expect([asked.map(({ gate }) => gate), exitCode]).toEqual([["shell_command", "shell_command"], 4]);
  });

  test("and that is only noticed on first use, the line comes with the first command", async () => {
    const refusing = pathWith("echo 'bwrap: No permissions to create a new namespace' >&2; exit 1");
    const { asked, stderr } = await print([bash("touch a"), bash("touch b")], [], refusing);
    expect(stderr.match(/Commands run unsandboxed and need approval: this system refuses/g)).toHaveLength(1);
    expect(asked.map(({ gate }) => gate)).toEqual(["shell_command", "shell_command"]);
  });

  test("and it is required, nothing runs in any mode", async () => {
    place.configure({ sandbox: "required" });
    const options = pathWith();
    for (const mode of ["auto", "deny"]) {
      const { failed, notices } = await print(
        [bash("touch made"), outside("touch made")],
        ["--approval", mode],
        options,
      );
      expect([failed, made("made")]).toEqual([[true, true], false]);
      expect(notices).toMatchObject([{ level: "warning", code: "no_sandbox" }]);
    }
  });

  test("a project cannot turn it off for a user who requires it, trusted or not", async () => {
    place.configure({ sandbox: "required" });
    place.write("diligent.jsonc", { sandbox: "off" });
    const options = pathWith();
    for (const isTrusted of [false, true]) {
      if (isTrusted) await runDiligent(place, ["trust", "--yes"], options);
      const { failed } = await print([bash("touch made")], ["--approval", "auto"], options);
      expect([failed, made("made")]).toEqual([[true], false]);
    }
  });
});

describe.skipIf(problem !== undefined)("the sandboxed program", () => {
  test("leaves no process of a command when it is killed", async () => {
    const seconds = uniqueSleepSeconds();
    const turns = [{ toolCalls: [bash(`sleep ${seconds} & sleep ${seconds}`)] }, { text: "Done." }];
    place.write("script.json", { version: 1, turns });
    const running = startDiligent(place, ["-p", "go", "-m", "scripted/script.json"]);
    while (countProcesses(`sleep\0${seconds}`) < 2) await Bun.sleep(10);
    running.process.kill("SIGKILL");
    await running.ended;
    expect(await countLeftRunning(`sleep\0${seconds}`)).toBe(0);
  });

  test("lets a model that obeys every instruction do nothing outside the project, and send nothing", async () => {
    place.remove();
    place = createInjectedProject({ files: {} });
    place.configure({ sandbox: "required" });
    let collected = 0;
    using collector = Bun.serve({
      hostname: "127.0.0.1",
      port: 0,
      fetch() {
        collected += 1;
        return new Response("thank you");
      },
    });
    const demands = createDemands(`http://127.0.0.1:${collector.port}`);
    const calls = demands.map(({ call }) => call).filter(({ name }) => name === "bash");
    const outsideOf = (names: string[]) =>
      names.filter((name) => /^(?:home|elsewhere)\b|^project\/(?:\.git|\.env)/.test(name));
    const short = calls.map(({ name, input }) => ({ name, input: { ...input, timeout: 1_000 } }));
    place.write("script.json", "");
    const before = outsideOf(takeFingerprint(place));
    const { outputs } = await print(short, ["--approval", "auto", "--no-session"], { timeoutMs: 90_000 });
    expect(outputs).toHaveLength(calls.length);
    expect(outsideOf(takeFingerprint(place))).toEqual(before);
    expect(collected).toBe(0);
  }, 100_000);
});
