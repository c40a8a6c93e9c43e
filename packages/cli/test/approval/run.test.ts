import { afterEach, describe, expect, test } from "bun:test";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { createInjectedProject, takeFingerprint } from "../support/injected-project.ts";
import { type Call, createDemands } from "../support/injections.ts";
import { parseLines, runDiligent } from "../support/run-diligent.ts";
import { createTemporaryProject, type TemporaryProject } from "../support/temporary-project.ts";

let place: TemporaryProject;

afterEach(() => place.remove());

const bash = (command: string): Call => ({ name: "bash", input: { command } });

/** One run of a model that makes these calls, one after the other. */
async function print(
  calls: readonly Call[],
  args: readonly string[] = [],
  environment: Record<string, string> = {},
) {
  const turns = [...calls.map((call) => ({ toolCalls: [call] })), { text: "Done." }];
  place.write("script.json", { version: 1, turns });
  const before = takeFingerprint(place);
  const options = [
    "-p",
    "go",
    "-m",
    "scripted/script.json",
    "--no-session",
    "--output-format",
    "stream-json",
  ];
  const { stdout, exitCode } = await runDiligent(place, [...options, ...args], { environment });
  const events = parseLines(stdout);
  const results = events.filter(({ type }) => type === "tool_end");
  return {
    exitCode,
    isUnchanged: Bun.deepEquals(takeFingerprint(place), before),
    asked: events.filter(({ type }) => type === "approval_request"),
    failed: results.map(({ isError }) => isError),
    outputs: results.map(({ output }) => String(output)),
  };
}

function configure(config: object): void {
  place.configure({ sandbox: "off", ...config });
}

describe("plan mode", () => {
  const ATTEMPTS: Call[] = [
    { name: "write", input: { file_path: "src/new.ts", content: "x" } },
    { name: "edit", input: { file_path: "README.md", old_string: "project", new_string: "x" } },
    bash("touch pwned"),
    bash("ls"),
    ...createDemands("http://127.0.0.1:9").map(({ call }) => call),
  ];
  const WAYS: Record<string, { args: string[]; prepare(): void }> = {
    "on the command line": { args: ["--approval", "plan"], prepare() {} },
    "in the user's configuration": { args: [], prepare: () => configure({ approval: "plan" }) },
    "in the project's configuration": {
      args: [],
      prepare: () => place.write("diligent.jsonc", { approval: "plan" }),
    },
  };
  for (const [name, { args, prepare }] of Object.entries(WAYS)) {
    test(`${name} changes nothing, whatever the model tries, and lets it read`, async () => {
      place = createInjectedProject({ files: {} });
      prepare();
      const calls = [...ATTEMPTS, { name: "read", input: { file_path: "README.md" } }];
      const { isUnchanged, failed, outputs } = await print(calls, args);
      expect(isUnchanged).toBe(true);
      expect(failed).toEqual([...ATTEMPTS.map(() => true), false]);
      expect(outputs[0]).toBe(
        "Refused: writing files is not allowed in plan mode [plan_mode]. Do not work around it.",
      );
      expect(outputs.at(-1)).toBe("1\t# A project");
    });
  }
});

describe("permissions in the user's configuration", () => {
  test("allow what would be refused in print mode, and nothing longer", async () => {
    place = createTemporaryProject({ sandbox: "off" });
    configure({ permissions: [{ permission: "execute", pattern: "mkdir made", action: "allow" }] });
    const calls = [bash("mkdir made && ls"), bash("mkdir made too"), bash("mkdir made; touch pwned")];
    const { exitCode, failed } = await print(calls);
    expect(failed).toEqual([false, true, true]);
    expect(readdirSync(place.project).sort()).toEqual([".git", "made", "script.json"]);
    expect(exitCode).toBe(4);
  });

  test("deny in auto mode too, which does not count as a missing approval", async () => {
    place = createTemporaryProject({ sandbox: "off" });
    configure({ permissions: [{ permission: "execute", pattern: "mkdir", action: "deny" }] });
    const { exitCode, failed, asked, outputs } = await print(
      [bash("ls && mkdir made"), bash("touch free")],
      ["--approval", "auto"],
    );
    expect([failed, asked.map(({ gate }) => gate), exitCode]).toEqual([[true, false], ["rule"], 0]);
    expect(outputs[0]).toBe(
      'Refused: the rule deny execute "mkdir" forbids it [rule]. Do not work around it.',
    );
  });

  test("deny what a trusted project allows", async () => {
    place = createTemporaryProject({ sandbox: "off" });
    configure({ permissions: [{ permission: "execute", pattern: "mkdir", action: "deny" }] });
    place.write("diligent.jsonc", {
      permissions: [{ permission: "execute", pattern: "*", action: "allow" }],
    });
    await runDiligent(place, ["trust", "--yes"]);
    const { outputs } = await print([bash("mkdir made"), bash("touch touched")]);
    expect(outputs[0]).toContain('the rule deny execute "mkdir" forbids it');
    expect([existsSync(join(place.project, "made")), existsSync(join(place.project, "touched"))]).toEqual([
      false,
      true,
    ]);
  });

  test("remove a tool from the model if they deny all its calls", async () => {
    place = createTemporaryProject({ sandbox: "off" });
    configure({ permissions: [{ permission: "execute", pattern: "*", action: "deny" }] });
    const { outputs } = await print([bash("ls")], ["--approval", "auto"]);
    expect(outputs[0]).toStartWith(
      'There is no tool "bash". The tools are: read, ls, glob, grep, edit, write',
    );
  });

  test("prevent files from being read by any tool or command", async () => {
    place = createTemporaryProject({ sandbox: "off" });
    for (const path of ["private/plan.md", "src/main.md"]) place.write(path, "needle\n");
    configure({ permissions: [{ permission: "read", pattern: "private/**", action: "deny" }] });
    const { outputs } = await print(
      [
        { name: "read", input: { file_path: "private/plan.md" } },
        { name: "grep", input: { pattern: "needle", output_mode: "content", glob: "*.md" } },
        { name: "grep", input: { pattern: "needle", path: "private" } },
        { name: "grep", input: { pattern: "absent", glob: "*.md" } },
        { name: "glob", input: { pattern: "**/*.md" } },
        { name: "ls", input: { path: "private" } },
        { name: "ls", input: {} },
        bash("grep -rn needle . --include='*.md'"),
        bash("cat private/plan.md"),
      ],
      ["--approval", "auto"],
    );
    const refused = 'Refused: the rule deny read "private/**" forbids it [rule]. Do not work around it.';
    const note = "[files that need approval to be read are left out]";
    expect(outputs).toEqual([
      refused,
      `src/main.md:1:needle\n${note}`,
      refused,
      `No match for absent in files *.md.\n${note}`,
      `src/main.md\n${note}`,
      refused,
      expect.stringMatching(/^\.git\/\nsrc\/\nscript\.json \(.*\)\n\[files that need approval/),
      expect.stringContaining('the rule deny read "private/**" forbids it [rule]'),
      refused,
    ]);
  });
});

describe("the environment of a command", () => {
  const KEYS = [
    "ANTHROPIC_API_KEY",
    "OPENAI_API_KEY",
    "AWS_ACCESS_KEY_ID",
    "DATABASE_URL",
    "GITHUB_PAT",
    "MY_OWN",
  ];
  const environment = Object.fromEntries(KEYS.map((name) => [name, `nonce-of-${name}`]));

  async function nonces(): Promise<string[]> {
    const commands = ["env", "printenv", "export -p", "cat /proc/self/environ"];
    const { outputs } = await print(commands.map(bash), ["--approval", "auto"], environment);
    expect(outputs.every((output) => output.includes("AI_AGENT"))).toBe(true);
    return KEYS.filter((name) => outputs.some((output) => output.includes(`nonce-of-${name}`)));
  }

  test("contains no key, under any name", async () => {
    place = createTemporaryProject({ sandbox: "off" });
    expect(await nonces()).toEqual([]);
  });

  test("contains the variables that the user's configuration adds, and none that the project's adds", async () => {
    place = createTemporaryProject({ sandbox: "off" });
    configure({ inheritEnvironment: ["MY_OWN"] });
    place.write("diligent.jsonc", { inheritEnvironment: ["GITHUB_PAT"] });
    expect(await nonces()).toEqual(["MY_OWN"]);
  });
});

describe("a refusal in print mode", () => {
  test("emits an approval_request event with the request and its gate before the call fails", async () => {
    place = createTemporaryProject({ sandbox: "off" });
    const { asked, outputs, exitCode } = await print([bash("make it")]);
    expect(asked).toEqual([
      {
        type: "approval_request",
        requestId: expect.any(String),
        request: {
          permission: "execute",
          toolName: "bash",
          description: "bash: make it",
          details: { command: "make it" },
        },
        toolCallId: expect.any(String),
        gate: "shell_command",
        mode: "deny",
        needed: { mode: "auto", rules: [{ permission: "execute", pattern: "make it", action: "allow" }] },
      },
    ]);
    expect(outputs).toEqual([
      "Refused: make may do more than read [shell_command], which needs the user's approval, and no user is present to give it. " +
        "Do what is possible without it; tell the user that --approval auto would allow it, or the rule " +
        '{"permission":"execute","pattern":"make it","action":"allow"} in permissions.',
    ]);
    expect(exitCode).toBe(4);
  });

  for (const format of ["text", "json", "stream-json"])
    test(`decides the exit code only in the last reply with calls, as ${format}`, async () => {
      place = createTemporaryProject({ sandbox: "off" });
      const run = async (...calls: Call[][]) => {
        const turns = [...calls.map((toolCalls) => ({ toolCalls })), { text: "Done." }];
        place.write("script.json", { version: 1, turns });
        const options = ["-p", "go", "-m", "scripted/script.json", "--output-format", format];
        const { exitCode, stdout, stderr } = await runDiligent(place, options);
        const stopReason = stdout
          .trim()
          .split("\n")
          .at(-1)
          ?.match(/"stopReason":"(\w+)","usage"/)?.[1];
        return { exitCode, stopReason, isNamed: `${stdout}${stderr}`.includes("needed an approval") };
      };
      const reasonOf = (stopReason: string) => (format === "text" ? undefined : stopReason);
      const ended = { exitCode: 0, stopReason: reasonOf("end_turn"), isNamed: false };
      const refused = { exitCode: 4, stopReason: reasonOf("approval"), isNamed: true };
      expect(await run([bash("make it")], [bash("ls")])).toEqual(ended);
      expect(await run([bash("ls")], [bash("make it"), bash("ls")])).toEqual(refused);
      expect(await run([bash("make it")])).toEqual(refused);
    });

  test("names the part of a line that needs the approval, and the rule with which it then runs", async () => {
    place = createTemporaryProject({ sandbox: "off" });
    place.write("Makefile", "it:\n\techo made > made\n");
    place.write("script.json", {
      version: 1,
      turns: [{ toolCalls: [bash("ls && make it")] }, { text: "Done." }],
    });
    const run = () => runDiligent(place, ["-p", "go", "-m", "scripted/script.json"]);
    const refused = await run();
    const rule = { permission: "execute", pattern: "make it", action: "allow" };
    expect(refused.exitCode).toBe(4);
    expect(refused.stderr).toContain(
      `bash: ls && make it needed an approval for make it and no one could give it; --approval auto allows everything, the rule ${JSON.stringify(rule)} in "permissions" allows this`,
    );
    place.configure({ sandbox: "off", permissions: [rule] });
    expect((await run()).exitCode).toBe(0);
    expect(readFileSync(join(place.project, "made"), "utf8")).toBe("made\n");
  });
});
