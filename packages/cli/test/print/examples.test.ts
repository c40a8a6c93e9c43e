import { afterEach, beforeEach, expect, test } from "bun:test";
import { mkdirSync, readdirSync, readFileSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { bareEnvironment, PROGRAM } from "../support/run-diligent.ts";
import { createTemporaryProject, type TemporaryProject } from "../support/temporary-project.ts";

const CLI = join(import.meta.dir, "..", "..");
const EXAMPLES = join(CLI, "examples");

let place: TemporaryProject;

beforeEach(() => {
  place = createTemporaryProject({ sandbox: "off" });
});

afterEach(() => place.remove());

/** Runs an example with the program in PATH and a script in the place of a model. */
function runExample(argv: readonly string[], turns: readonly object[]) {
  const programs = join(place.home, "bin");
  mkdirSync(programs);
  symlinkSync(PROGRAM, join(programs, "diligent"));
  place.write("script.json", { version: 1, turns });
  const environment = bareEnvironment(place);
  const { stdout, stderr, exitCode } = Bun.spawnSync([...argv, "-m", "scripted/script.json"], {
    cwd: place.project,
    env: { ...environment, PATH: `${programs}:${environment.PATH}` },
  });
  return { stdout: stdout.toString(), stderr: stderr.toString(), exitCode };
}

const bash = (command: string) => ({ toolCalls: [{ name: "bash", input: { command } }] });

test("answer-questions.ts allows one command, rejects others, and prints the last answer", () => {
  const turns = [bash("rm -r src"), bash("bun test"), { text: "one" }, { text: "two" }];
  const { stdout, exitCode } = runExample([process.execPath, join(EXAMPLES, "answer-questions.ts")], turns);
  expect([stdout, exitCode]).toEqual(["end_turn: two\n", 0]);
});

test("follow_run.py shows the tools and the answer, and exits like the run", () => {
  const turns = [bash("ls"), { text: "done\u2028here" }];
  const run = runExample(["python3", join(EXAMPLES, "follow_run.py"), "list the files"], turns);
  expect(run).toMatchObject({ stdout: "tool: bash\nend_turn: done\u2028here\n", exitCode: 0 });
});

test("structured-answer.sh writes the answer to a file", () => {
  const answer = '{"language":"TypeScript","hasTests":true}';
  const { stdout, exitCode } = runExample([join(EXAMPLES, "structured-answer.sh")], [{ text: answer }]);
  expect([stdout, exitCode]).toEqual(["facts.json is written\n", 0]);
  expect(readFileSync(join(place.project, "facts.json"), "utf8")).toBe(`${answer}\n`);
});

test.each(readdirSync(EXAMPLES))("programs.md contains %s verbatim", (name) => {
  const text = readFileSync(join(EXAMPLES, name), "utf8");
  const page = readFileSync(join(CLI, "docs", "programs.md"), "utf8");
  expect(page).toContain(`<!-- examples/${name} -->\n\`\`\`${name.split(".").at(-1)}\n${text}\`\`\``);
});
