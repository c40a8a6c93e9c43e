import { expect, test } from "bun:test";
import { mkdirSync, readdirSync, readFileSync, realpathSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { appendEntry, createSessionFile } from "../../src/sessions.ts";
import { makeTempDir } from "../support/temp-dir.ts";

const CORE = join(import.meta.dir, "..", "..");

/** Runs an example of the README in an empty project, with a script in the place of a model. */
function runExample(name: string, turns: object[]): { stdout: string; stderr: string; exitCode: number } {
  const directory = realpathSync(makeTempDir());
  const project = join(directory, "project");
  mkdirSync(join(project, ".git"), { recursive: true });
  const script = join(directory, "script.json");
  writeFileSync(script, JSON.stringify({ version: 1, turns }));
  return runInProject(name, project, [`scripted/${script}`]);
}

function runInProject(name: string, project: string, args: readonly string[]) {
  const { stdout, stderr, exitCode } = Bun.spawnSync(
    [process.execPath, join(CORE, "examples", name), ...args],
    { cwd: project, env: { HOME: join(project, ".."), PATH: process.env.PATH } },
  );
  return { stdout: stdout.toString(), stderr: stderr.toString(), exitCode };
}

function makeProject(): string {
  const project = join(realpathSync(makeTempDir()), "project");
  mkdirSync(join(project, ".git"), { recursive: true });
  return project;
}

const SHORT = ["one-shot-agent.ts", "agent-with-approval.ts", "streaming-front-end.ts"];
const EXAMPLES = readdirSync(join(CORE, "examples"));

test.each(EXAMPLES)("the README contains %s verbatim", (name) => {
  const text = readFileSync(join(CORE, "examples", name), "utf8");
  const readme = readFileSync(join(CORE, "README.md"), "utf8");
  expect(readme).toContain(`<!-- examples/${name} -->\n\`\`\`ts\n${text}\`\`\``);
});

test.each(SHORT)("%s has at most 20 lines", (name) => {
  const text = readFileSync(join(CORE, "examples", name), "utf8");
  expect(text.trimEnd().split("\n").length).toBeLessThanOrEqual(20);
});

test("one-shot-agent.ts prints the reply, and the stop reason with the cost", () => {
  expect(runExample("one-shot-agent.ts", [{ text: "It is a game." }])).toEqual({
    stdout: "It is a game.\n",
    stderr: "end_turn, price unknown\n",
    exitCode: 0,
  });
});

test("agent-with-approval.ts runs only the call that its approve function allows", () => {
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

test("own-provider.ts gets its reply from the provider that it defines", () => {
  const { stdout, stderr, exitCode } = runInProject("own-provider.ts", makeProject(), ["Is it you?"]);
  expect({ stdout, stderr, exitCode }).toEqual({
    stdout: 'You said: "Is it you?"\n',
    stderr: "",
    exitCode: 0,
  });
});

test("list-sessions.ts shows each session with its last reply", async () => {
  const project = makeProject();
  const sessions = join(project, ".diligent", "sessions");
  mkdirSync(sessions, { recursive: true });
  const { path, header } = await createSessionFile(sessions, project);
  const entry = { parentId: null, timestamp: "2026-01-01T00:00:00.000Z" };
  const usage = { inputTokens: 1, outputTokens: 1, cacheReadTokens: 0, cacheWriteTokens: 0 };
  await appendEntry(path, {
    ...entry,
    type: "message",
    id: "e1",
    message: { role: "user", content: "What is this?", timestamp: 0 },
  });
  await appendEntry(path, {
    ...entry,
    type: "message",
    id: "e2",
    parentId: "e1",
    message: {
      role: "assistant",
      content: [{ type: "text", text: "A game." }],
      model: "m",
      usage,
      stopReason: "end_turn",
      timestamp: 0,
    },
  });
  const { stdout, stderr, exitCode } = runInProject("list-sessions.ts", project, []);
  expect({ stdout, stderr, exitCode }).toEqual({
    stdout: `${header.id}  What is this?\n  2 messages; the last reply: A game.\n`,
    stderr: "",
    exitCode: 0,
  });
});

test("show-settings.ts shows every setting with its origin, and the errors in the configuration", () => {
  const project = makeProject();
  const { stdout, stderr, exitCode } = runInProject("show-settings.ts", project, []);
  expect(stdout.split("\n")).toContain("compaction.enabled = true (default)");
  expect({ stderr, exitCode }).toEqual({ stderr: "", exitCode: 0 });
  const userFile = join(project, "..", ".config", "diligent", "diligent.jsonc");
  mkdirSync(dirname(userFile), { recursive: true });
  writeFileSync(userFile, '{ "maxTurns": "many" }');
  const broken = runInProject("show-settings.ts", project, []);
  expect({ stdout: broken.stdout, exitCode: broken.exitCode }).toEqual({ stdout: "", exitCode: 1 });
  expect(broken.stderr).toContain("maxTurns");
});
