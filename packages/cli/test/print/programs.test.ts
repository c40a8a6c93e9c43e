import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import Ajv2020 from "ajv/dist/2020.js";
import { parseLines, runDiligent } from "../support/run-diligent.ts";
import { createTemporaryProject, type TemporaryProject } from "../support/temporary-project.ts";

let place: TemporaryProject;

beforeEach(() => {
  place = createTemporaryProject({ sandbox: "off" });
});

afterEach(() => place.remove());

function run(turns: readonly object[], ...args: string[]) {
  place.write("script.json", { version: 1, turns });
  return runDiligent(place, ["-p", "go", "-m", "scripted/script.json", ...args]);
}

const touch = { toolCalls: [{ name: "bash", input: { command: "touch made" } }] };

describe("--json-schema", () => {
  const schema = { type: "object", properties: { n: { type: "integer" } }, required: ["n"] };

  beforeEach(() => place.write("answer.schema.json", schema));

  test("prints only the JSON, also if the model wraps it", async () => {
    const { stdout, exitCode } = await run(
      [touch, { text: '```json\n{"n": 12345678901234567890}\n```' }],
      ...["--json-schema", "answer.schema.json", "--approval", "auto"],
    );
    expect([stdout, exitCode]).toEqual(['{"n": 12345678901234567890}\n', 0]);
  });

  test("asks again for an answer that does not match, and says what is wrong", async () => {
    const turns = [{ text: "It is 7." }, { text: '{"n": "7"}' }, { text: '{"n": 7}' }];
    const { stdout, exitCode } = await run(
      turns,
      ...["--json-schema", "answer.schema.json", "--output-format", "stream-json", "--max-turns", "3"],
    );
    expect(exitCode).toBe(0);
    expect(parseLines(stdout).at(-1)).toMatchObject({ type: "result", result: '{"n": 7}', turns: 3 });
    const [file = ""] = new Bun.Glob("*.jsonl").scanSync(join(place.project, ".diligent/sessions"));
    const saved = readFileSync(join(place.project, ".diligent/sessions", file), "utf8");
    expect(saved).toContain("/n must be integer");
  });

  test("fails after three requests, with nothing on stdout", async () => {
    const turns = ["a", "b", "c", '{"n": 7}'].map((text) => ({ text }));
    const { stdout, stderr, exitCode } = await run(turns, "--json-schema", "answer.schema.json");
    expect([stdout, exitCode]).toEqual(["", 1]);
    expect(stderr).toContain("no answer in 3 requests matched answer.schema.json");
  });

  test("--max-turns counts the requests for the answer together", async () => {
    const turns = ["a", "b", '{"n": 7}'].map((text) => ({ text }));
    const args = ["--json-schema", "answer.schema.json", "--max-turns", "2"];
    const { stdout, exitCode } = await run(turns, ...args);
    expect([stdout, exitCode]).toEqual(["", 3]);
  });

  test.each([
    ["missing.json", undefined],
    ["array.json", "[]"],
    ["broken.json", "{"],
    ["wrong.json", '{"type": "text"}'],
    ["remote.json", '{"$ref": "https://example.com/schema.json"}'],
  ])("%s is exit code 2, with nothing sent", async (file, text) => {
    if (text !== undefined) place.write(file, text);
    const { stdout, stderr, exitCode } = await run([{ text: "{}" }], "--json-schema", file);
    expect([stdout, exitCode]).toEqual(["", 2]);
    expect(stderr).toStartWith(`diligent: --json-schema ${file}: `);
    expect(existsSync(join(place.project, ".diligent/sessions"))).toBe(false);
  });
});

describe("--permission-prompt", () => {
  const asking = (command: string) => run([touch, { text: "done" }], "--permission-prompt", command);
  const isMade = () => existsSync(join(place.project, "made"));

  test("passes the event to the command, and once lets the call run", async () => {
    const { exitCode } = await asking("cat > asked.json; echo once");
    expect([exitCode, isMade()]).toEqual([0, true]);
    expect(JSON.parse(readFileSync(join(place.project, "asked.json"), "utf8"))).toMatchObject({
      type: "approval_request",
      request: { toolName: "bash", details: { command: "touch made" } },
    });
  });

  test("a reason reaches the model", async () => {
    const { exitCode } = await asking("echo 'reject  use the other file'");
    const [file = ""] = new Bun.Glob("*.jsonl").scanSync(join(place.project, ".diligent/sessions"));
    const saved = readFileSync(join(place.project, ".diligent/sessions", file), "utf8");
    expect(saved).toContain("The user denied this: use the other file");
    expect([exitCode, isMade()]).toEqual([0, false]);
  });

  test.each(["echo yes", "echo once; exit 1", "true", "no-such-program-anywhere"])(
    "%p rejects, with exit code 4",
    async (command) => {
      const { exitCode } = await asking(command);
      expect([exitCode, isMade()]).toEqual([4, false]);
    },
  );

  test("the command gets no key", async () => {
    place.write("script.json", { version: 1, turns: [touch, { text: "done" }] });
    await runDiligent(
      place,
      ["-p", "go", "-m", "scripted/script.json", "--permission-prompt", "env > seen; echo once"],
      { environment: { ANTHROPIC_API_KEY: "nonce-key" } },
    );
    expect(readFileSync(join(place.project, "seen"), "utf8")).not.toContain("nonce-key");
  });

  test("the mode deny asks nobody", async () => {
    const args = ["--permission-prompt", "echo once", "--approval", "deny"];
    expect((await run([touch, { text: "done" }], ...args)).exitCode).toBe(4);
  });
});

describe("config --schema", () => {
  const readSchema = async (name: string) => {
    const { stdout, exitCode } = await runDiligent(place, ["config", "--schema", name]);
    expect(exitCode).toBe(0);
    return new Ajv2020({ strict: false }).compile(JSON.parse(stdout));
  };

  test("events: every line of a run matches, and a line with another field type does not", async () => {
    const validate = await readSchema("events");
    const turns = [
      { thinking: "hm", text: "a", toolCalls: [...touch.toolCalls, { name: "todo", input: { todos: [] } }] },
      { toolCalls: [{ name: "bash", input: { command: "sleep 9", background: true } }] },
      { text: "done" },
    ];
    for (const approval of ["auto", "deny"]) {
      const { stdout } = await run(turns, "--output-format", "stream-json", "--approval", approval);
      const lines = parseLines(stdout);
      expect(lines.length).toBeGreaterThan(20);
      expect(lines.filter((line) => !validate(line)).map((line) => [line, validate.errors])).toEqual([]);
      expect(validate({ ...lines[0], sessionId: 1 })).toBe(false);
    }
  });

  test("input: matches the lines that the program takes, and no others", async () => {
    const validate = await readSchema("input");
    const lines = [
      { type: "user", content: "x" },
      { type: "steer", content: [{ type: "text", text: "x" }] },
      { type: "interrupt" },
      { type: "approval", requestId: "a", answer: "always" },
      { type: "answer", requestId: "a", answers: [["A"]] },
    ];
    expect(lines.map((line) => validate(line))).toEqual(lines.map(() => true));
    expect(
      [{ type: "user" }, { type: "approval", requestId: 1, answer: "yes" }].map((line) => validate(line)),
    ).toEqual([false, false]);
  });

  test("of an unknown name is exit code 2", async () => {
    const { exitCode, stderr } = await runDiligent(place, ["config", "--schema", "event"]);
    expect([exitCode, stderr]).toEqual([
      2,
      "diligent: config --schema event: there is no such schema; it is events or input\n",
    ]);
  });
});
