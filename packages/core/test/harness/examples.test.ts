import { expect, test } from "bun:test";
import { mkdirSync, readFileSync, realpathSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { makeTempDir } from "../support/temp-dir.ts";

const CORE = join(import.meta.dir, "..", "..");

/** Runs an example of the README in an empty project, with a script in the place of a model. */
function runExample(name: string, turns: object[]): { stdout: string; stderr: string; exitCode: number } {
  const directory = realpathSync(makeTempDir());
  const project = join(directory, "project");
  mkdirSync(join(project, ".git"), { recursive: true });
  const script = join(directory, "script.json");
  writeFileSync(script, JSON.stringify({ version: 1, turns }));
  const { stdout, stderr, exitCode } = Bun.spawnSync(
    [process.execPath, join(CORE, "examples", name), `scripted/${script}`],
    { cwd: project, env: { HOME: directory, PATH: process.env.PATH } },
  );
  return { stdout: stdout.toString(), stderr: stderr.toString(), exitCode };
}

const EXAMPLES = ["one-shot-agent.ts", "agent-with-approval.ts", "streaming-front-end.ts"];

test.each(EXAMPLES)("the README has %s verbatim, in at most 20 lines", (name) => {
  const text = readFileSync(join(CORE, "examples", name), "utf8");
  const readme = readFileSync(join(CORE, "README.md"), "utf8");
  expect(readme).toContain(`<!-- examples/${name} -->\n\`\`\`ts\n${text}\`\`\``);
  expect(text.trimEnd().split("\n").length).toBeLessThanOrEqual(20);
});

test("one-shot-agent.ts prints the reply, and the stop reason with the cost", () => {
  expect(runExample("one-shot-agent.ts", [{ text: "It is a game." }])).toEqual({
    stdout: "It is a game.\n",
    stderr: "end_turn, price unknown\n",
    exitCode: 0,
  });
});

test("agent-with-approval.ts runs the call that its approve function allows and no other", () => {
  const deploy = (environment: string) => ({ toolCalls: [{ name: "deploy", input: { environment } }] });
  const turns = [deploy("staging"), deploy("production"), { text: "Done." }];
  const { stdout, exitCode } = runExample("agent-with-approval.ts", turns);
  expect(exitCode).toBe(0);
  const [allowed, refused = ""] = stdout.trimEnd().split("\n");
  expect(allowed).toBe("deploy Deployed to staging.");
  expect(refused).toStartWith("deploy ");
  expect(refused).not.toContain("Deployed");
});

test("streaming-front-end.ts prints the text as it arrives and names the calls", () => {
  const list = { text: "I look.", toolCalls: [{ name: "ls", input: { path: "." } }] };
  const { stdout, stderr, exitCode } = runExample("streaming-front-end.ts", [list, { text: "Empty." }]);
  expect({ stdout, exitCode }).toEqual({ stdout: "I look.Empty.\nend_turn\n", exitCode: 0 });
  expect(stderr).toContain('ls {"path":"."}');
});
