import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { NoOperationTraceWriter, parseWorkflow } from "@actions/workflow-parser";
import { parseAction } from "@actions/workflow-parser/actions/index";
import { bareEnvironment, PROGRAM_BY_PATH } from "../../cli/test/support/run-diligent.ts";
import { createTemporaryProject, type TemporaryProject } from "../../cli/test/support/temporary-project.ts";

const ACTION = join(import.meta.dir, "..");
const readText = (name: string) => readFileSync(join(ACTION, name), "utf8");

interface Step {
  id: string;
  run: string;
  shell: string;
  env: Record<string, string>;
}

interface Action {
  inputs: Record<string, { default?: string }>;
  outputs: Record<string, { value: string }>;
  runs: { steps: Step[] };
}

function isAction(value: unknown): value is Action {
  return Array.isArray(Object(Object(value).runs).steps);
}

function readAction(): Action {
  const action: unknown = Bun.YAML.parse(readText("action.yml"));
  if (!isAction(action)) throw new Error("action.yml is not a composite action");
  return action;
}

describe("the files of the action", () => {
  test("action.yml is valid by the parser that GitHub publishes", () => {
    const content = { name: "action.yml", content: readText("action.yml") };
    const { context } = parseAction(content, new NoOperationTraceWriter());
    expect(context.errors.getErrors().map(({ message }) => message)).toEqual([]);
    const broken = { ...content, content: content.content.replace("using: composite", "using: magic") };
    expect(parseAction(broken, new NoOperationTraceWriter()).context.errors.getErrors()).not.toEqual([]);
  });

  test.each(readdirSync(join(ACTION, "examples")))(
    "the example %s is valid by the same parser, and gives all that is required",
    (name) => {
      const content = readText(`examples/${name}`);
      const { context } = parseWorkflow({ name, content }, new NoOperationTraceWriter());
      expect(context.errors.getErrors().map(({ message }) => message)).toEqual([]);
      for (const input of ["prompt", "url", "version", "sha256"])
        expect(content).toContain(`          ${input}: `);
      const inputs = Object.keys(readAction().inputs);
      const used = Array.from(content.matchAll(/^ {10}([a-z][\w-]*):/gm), ([, key = ""]) => key);
      const others = ["fetch-depth", "persist-credentials", "name", "path"];
      expect(used.filter((key) => !inputs.includes(key) && !others.includes(key))).toEqual([]);
    },
  );

  test("no shell line contains an expression of the workflow", () => {
    const scripts = [
      ...readAction().runs.steps.map(({ run }) => run),
      ...readdirSync(join(ACTION, "examples")).flatMap((name) =>
        readText(`examples/${name}`).split("- run:").slice(1),
      ),
    ];
    expect(scripts).toHaveLength(3);
    expect(scripts.filter((script) => script.split("\n      - uses")[0]?.includes("${{"))).toEqual([]);
  });
});

const MISSING = ["bash", "curl", "jq"].filter((name) => Bun.which(name) === null);
if (MISSING.length > 0) console.warn(`Skipped: the steps of the action, which need ${MISSING.join(", ")}.`);

let place: TemporaryProject;

beforeEach(() => {
  place = createTemporaryProject();
});

afterEach(() => place.remove());

/** A release file, in place of the built executable: it starts the program of this checkout. */
function writeRelease(): { url: string; sha256: string } {
  const words = PROGRAM_BY_PATH.map((word) => `'${word}'`).join(" ");
  const content = `#!/bin/sh\nexec ${words} "$@"\n`;
  mkdirSync(join(place.top, "releases", "1.2.3"), { recursive: true });
  writeFileSync(join(place.top, "releases", "1.2.3", "diligent"), content);
  const sha256 = createHash("sha256").update(content).digest("hex");
  return { url: `file://${place.top}/releases/{version}/diligent`, sha256 };
}

interface Outcome {
  exitCode: number;
  log: string;
  summary: string;
  outputs: Record<string, string>;
}

/** Runs the steps as a runner does: each in its shell, with the values of its expressions in the environment. */
async function runAction(turns: readonly object[], given: Record<string, string> = {}): Promise<Outcome> {
  const { inputs, outputs, runs } = readAction();
  const price = { inputCostPer1M: 1, outputCostPer1M: 10 };
  const script = place.write("../script.json", { version: 1, price, turns });
  const defaults = Object.fromEntries(
    Object.entries(inputs).map(([name, { default: value = "" }]) => [name, value]),
  );
  const values = {
    ...defaults,
    ...writeRelease(),
    version: "1.2.3",
    model: `scripted/${script}`,
    prompt: "Go.",
    ...given,
  };
  const known = new Map(Object.entries(values).map(([name, value]) => [`inputs.${name}`, value]));
  const evaluate = (text: string) =>
    text.replaceAll(/\$\{\{ (.*?) \}\}/g, (_, expression: string) => known.get(expression) ?? "");
  const files = { GITHUB_OUTPUT: join(place.top, "output"), GITHUB_STEP_SUMMARY: join(place.top, "summary") };
  writeFileSync(files.GITHUB_STEP_SUMMARY, "");
  let log = "";
  let exitCode = 0;
  for (const step of runs.steps) {
    expect(step.shell).toBe("bash");
    writeFileSync(files.GITHUB_OUTPUT, "");
    const path = place.write("../step.sh", step.run);
    const env = Object.fromEntries(Object.entries(step.env).map(([name, value]) => [name, evaluate(value)]));
    const child = Bun.spawn(["bash", "--noprofile", "--norc", "-eo", "pipefail", path], {
      cwd: place.project,
      env: { ...bareEnvironment(place), RUNNER_TEMP: place.temporary, ...files, ...env },
      stdin: "ignore",
      stdout: "pipe",
      stderr: "pipe",
    });
    const [stdout, stderr] = await Promise.all([
      new Response(child.stdout).text(),
      new Response(child.stderr).text(),
    ]);
    log += stdout + stderr;
    for (const [name, value] of readOutputs(readFileSync(files.GITHUB_OUTPUT, "utf8")))
      known.set(`steps.${step.id}.outputs.${name}`, value);
    exitCode = await child.exited;
    if (exitCode !== 0) break;
  }
  const written = Object.entries(outputs).map(([name, { value }]) => [name, evaluate(value)]);
  const summary = readFileSync(files.GITHUB_STEP_SUMMARY, "utf8");
  return { exitCode, log, summary, outputs: Object.fromEntries(written) };
}

/** `name=value` lines, and values of several lines between two equal marks. */
function readOutputs(text: string): Map<string, string> {
  const found = new Map<string, string>();
  const lines = text.split("\n");
  for (let index = 0; index < lines.length; index++) {
    const [, name = "", mark] = /^([\w-]+)<<(.+)$/.exec(lines[index] ?? "") ?? [];
    const end = mark === undefined ? -1 : lines.indexOf(mark, index + 1);
    if (end > 0) {
      found.set(name, lines.slice(index + 1, end).join("\n"));
      index = end;
      continue;
    }
    const [, simple = "", value = ""] = /^([\w-]+)=(.*)$/.exec(lines[index] ?? "") ?? [];
    if (simple !== "") found.set(simple, value);
  }
  return found;
}

describe.skipIf(MISSING.length > 0)("the steps of the action", () => {
  test("run the release file, and report answer, cost and session in outputs and summary", async () => {
    const text = "Two bugs:\n<script>x</script>\nexit-code=9";
    const { exitCode, summary, outputs } = await runAction([
      { text, usage: { inputTokens: 1_000, outputTokens: 100 } },
    ]);
    expect([exitCode, outputs["exit-code"], outputs.result]).toEqual([0, "0", text]);
    expect(Number(outputs.cost)).toBeCloseTo(0.002, 9);
    expect(existsSync(join(place.project, ".diligent/sessions", `${outputs["session-id"]}.jsonl`))).toBe(
      true,
    );
    expect(summary).toBe(
      "### diligent: done\n\nCost: 0.002 US dollars\n\n    Two bugs:\n    <script>x</script>\n    exit-code=9\n\n",
    );
  });

  test("pass a prompt and options as they are, whatever they contain", async () => {
    const prompt = `--help "; touch injected; $(touch injected) \`touch injected\``;
    const { exitCode, outputs } = await runAction([{ text: "ok" }], { prompt, "max-cost": "0.5" });
    expect([exitCode, existsSync(join(place.project, "injected"))]).toEqual([0, false]);
    const session = readFileSync(
      join(place.project, ".diligent/sessions", `${outputs["session-id"]}.jsonl`),
      "utf8",
    );
    expect(session).toContain(JSON.stringify(prompt));
    const wrong = await runAction([{ text: "ok" }], { "max-cost": "1; touch injected" });
    expect([wrong.exitCode, existsSync(join(place.project, "injected"))]).toEqual([2, false]);
  });

  test("refuse what needs an approval unless told otherwise, and fail with the exit code", async () => {
    place.configure({ sandbox: "off" });
    const turns = [{ toolCalls: [{ name: "bash", input: { command: "touch made" } }] }, { text: "Refused." }];
    const denied = await runAction(turns);
    expect([denied.exitCode, denied.outputs["exit-code"], denied.outputs.result]).toEqual([
      4,
      "4",
      "Refused.",
    ]);
    expect(denied.summary).toStartWith("### diligent: ended with a call that lacked an approval\n");
    expect(denied.log).toContain("::error::diligent ended with exit code 4");
    expect((await runAction(turns, { approval: "auto" })).exitCode).toBe(0);
    expect(existsSync(join(place.project, "made"))).toBe(true);
  });

  test("give JSON that matches a schema", async () => {
    place.write("answer.schema.json", {
      type: "object",
      required: ["ok"],
      properties: { ok: { type: "boolean" } },
    });
    const { outputs } = await runAction([{ text: '{"ok": true}' }], { "json-schema": "answer.schema.json" });
    expect(JSON.parse(outputs.result ?? "")).toEqual({ ok: true });
  });

  test("keep commands of a workflow in what is printed without effect", async () => {
    const command = "echo '::add-mask::x'";
    const { log } = await runAction(
      [
        { text: "::error::spoofed", toolCalls: [{ name: "bash", input: { command } }] },
        { text: "::error::done" },
      ],
      { approval: "auto" },
    );
    const [, token = ""] = /^::stop-commands::(\w{32})$/m.exec(log) ?? [];
    const [before = "", rest = ""] = log.split(`::stop-commands::${token}\n`);
    const after = rest.split(`::${token}::\n`)[1] ?? "";
    expect(token).not.toBe("");
    expect(
      before +
        after
          .split("\n")
          .filter((line) => line.startsWith("::"))
          .join(""),
    ).not.toContain("::error::");
  });

  test.each([
    ["another checksum", { sha256: "0".repeat(64) }, "does not have the given checksum"],
    ["no checksum", { sha256: "latest" }, "64 hexadecimal digits"],
    [
      "an address without encryption",
      { url: "http://127.0.0.1:1/diligent" },
      "begin with https:// or file://",
    ],
    ["a version that is not there", { version: "9.9.9" }, "curl"],
  ])("run nothing with %s", async (_, given, complaint) => {
    const { exitCode, log } = await runAction([{ text: "never" }], given);
    expect(exitCode).not.toBe(0);
    expect(log).toContain(complaint);
    expect(existsSync(join(place.project, ".diligent"))).toBe(false);
  });
});

/** The inputs that an example gives to the action, and the shell lines of its own steps. */
function readExample(name: string): { given: Record<string, string>; scripts: string[] } {
  const workflow: unknown = Bun.YAML.parse(readText(`examples/${name}`));
  const jobs: unknown[] = Object.values(Object(Object(workflow).jobs));
  const steps: unknown[] = jobs.flatMap((job) => Object(job).steps);
  const inputs = steps.map(Object).find(({ uses }) => String(uses).startsWith("OWNER/"))?.with;
  const given = Object.entries(Object(inputs)).map(([key, value]) => [key, String(value)]);
  const scripts = steps.flatMap((step) => Object(step).run ?? []);
  return { given: Object.fromEntries(given), scripts };
}

describe.skipIf(MISSING.length > 0)("the examples", () => {
  const bash = (command: string) => ({ toolCalls: [{ name: "bash", input: { command } }] });

  function git(...args: string[]): void {
    const identity = ["-c", "user.name=A", "-c", "user.email=a@example.com"];
    const { exitCode, stderr } = Bun.spawnSync(["git", ...identity, ...args], { cwd: place.project });
    expect([exitCode, stderr.toString()]).toEqual([0, expect.any(String)]);
  }

  /** With the release file and the model of the test. */
  async function runExample(name: string, turns: readonly object[]): Promise<Outcome> {
    const { url: _, sha256: __, version: ___, ...given } = readExample(name).given;
    return runAction(turns, { ...given, "anthropic-api-key": "" });
  }

  test("review this pull request: reads the change of the merge, and reports in the summary", async () => {
    git("init", "-q");
    place.write("a.txt", "one\n");
    git("add", "a.txt");
    git("commit", "-qm", "first");
    place.write("a.txt", "two\n");
    git("commit", "-qam", "second");
    const turns = [bash("git diff HEAD^1 HEAD"), { text: "a.txt:1: warning: two is not one" }];
    const { exitCode, summary, outputs } = await runExample("review-pull-request.yml", turns);
    expect([exitCode, summary.includes("    a.txt:1: warning: two is not one")]).toEqual([0, true]);
    const session = readFileSync(
      join(place.project, ".diligent/sessions", `${outputs["session-id"]}.jsonl`),
      "utf8",
    );
    expect(session).toContain("-one\\n+two");
  });

  test("fix the failing test: changes the code, and keeps the change as a patch", async () => {
    git("init", "-q");
    place.write("value.txt", "wrong\n");
    place.write("test.sh", "grep -q right value.txt\n");
    git("add", ".");
    git("commit", "-qm", "first");
    const turns = [
      bash("sh test.sh"),
      { toolCalls: [{ name: "read", input: { file_path: "value.txt" } }] },
      {
        toolCalls: [
          { name: "edit", input: { file_path: "value.txt", old_string: "wrong", new_string: "right" } },
        ],
      },
      bash("sh test.sh"),
      { text: "Fixed." },
    ];
    expect((await runExample("fix-failing-test.yml", turns)).exitCode).toBe(0);
    const [script = ""] = readExample("fix-failing-test.yml").scripts;
    expect(Bun.spawnSync(["bash", "-e", "-c", script], { cwd: place.project }).exitCode).toBe(0);
    expect(readFileSync(join(place.project, "fix.patch"), "utf8")).toContain("-wrong\n+right\n");
  });
});
