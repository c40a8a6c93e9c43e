import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { BUSY_MS } from "../../core/test/support/busy-machine.ts";
import { PROGRAM_BY_PATH, parseLines, runDiligent } from "./support/run-diligent.ts";
import { createTemporaryProject, type TemporaryProject } from "./support/temporary-project.ts";

let place: TemporaryProject;

beforeAll(() => {
  place = createTemporaryProject({ sandbox: "off" });
  script("answer", { text: "The answer" });
  script("command", { toolCalls: [call("bash", { command: "touch made" })] }, { text: "I could not." });
  script("broken", { text: "Half", error: { errorType: "auth", message: "invalid key" } });
  script("refusal", { text: "No.", stopReason: "refusal" });
  script(
    "cut",
    { text: "Half an ans", stopReason: "max_tokens" },
    { text: "Half ag", stopReason: "max_tokens" },
  );
  script(
    "endless",
    ...Array.from({ length: 5 }, (_, n) => ({ toolCalls: [call("ls", { path: n % 2 ? "." : "src" })] })),
  );
  place.write("src/a.ts", "a");
});

afterAll(() => place.remove());

function script(name: string, ...turns: object[]): void {
  place.write(`${name}.json`, { version: 1, turns });
}

function call(name: string, input: object) {
  return { name, input };
}

function print(name: string, ...args: string[]) {
  return runDiligent(place, ["-p", "do it", "-m", `scripted/${name}.json`, ...args]);
}

describe("the end of a run decides the exit code, in every format", () => {
  const cases: readonly (readonly [string, string[], number, string])[] = [
    ["answer", [], 0, "end_turn"],
    ["broken", [], 1, "error"],
    ["refusal", [], 1, "refusal"],
    ["cut", [], 1, "max_tokens"],
    ["endless", ["--max-turns", "2"], 3, "max_turns"],
    ["command", [], 4, "approval"],
    ["command", ["--approval", "deny"], 4, "approval"],
    ["command", ["--approval", "ask"], 4, "approval"],
    ["command", ["--approval", "auto"], 0, "end_turn"],
  ];
  for (const [name, args, exitCode, stopReason] of cases) {
    test(`${[name, ...args].join(" ")}: ${exitCode}`, async () => {
      const [text, json, stream] = await Promise.all([
        print(name, ...args),
        print(name, ...args, "--output-format", "json"),
        print(name, ...args, "--output-format", "stream-json"),
      ]);
      expect([text.exitCode, json.exitCode, stream.exitCode]).toEqual([exitCode, exitCode, exitCode]);
      const lines = parseLines(stream.stdout);
      expect(parseLines(json.stdout)).toMatchObject([{ stopReason }]);
      expect(lines.at(-1)).toMatchObject({ type: "result", stopReason });
      expect(lines.filter(({ type }) => type === "result")).toHaveLength(1);
      expect(lines[0]).toMatchObject({ type: "session", model: `scripted/${name}.json`, cwd: place.project });
    });
  }
});

describe("the streams of print mode", () => {
  test("text: only the answer on stdout, progress on stderr", async () => {
    const { stdout, stderr } = await print("command");
    expect(stdout).toBe("I could not.\n");
    expect(stderr).toStartWith("bash: touch made\nbash failed: Refused: ");
    expect(stderr).toContain("--approval auto");
    expect(existsSync(join(place.project, "made.txt"))).toBe(false);
  });

  test("the refusal in the model's result names the option that would allow it", async () => {
    const { stdout } = await print("command", "--output-format", "stream-json");
    const lines = parseLines(stdout);
    expect(lines.find(({ type }) => type === "approval_request")).toMatchObject({ gate: "shell_command" });
    expect(lines.find(({ type }) => type === "tool_end")).toMatchObject({
      isError: true,
      output: expect.stringContaining("--approval auto"),
    });
  });

  test("the result of a run without a needed approval names the flag and the rule that would allow it", async () => {
    const text = await print("command");
    const json = await print("command", "--output-format", "json");
    const stream = await print("command", "--output-format", "stream-json");
    const rule = '{"permission":"execute","pattern":"touch made","action":"allow"}';
    for (const line of [parseLines(json.stdout)[0], parseLines(stream.stdout).at(-1)]) {
      expect(line).toMatchObject({ stopReason: "approval", error: { errorType: "approval" } });
      const { message } = Object(Object(line).error);
      expect(message).toContain("--approval auto");
      expect(message).toContain(`the rule ${rule} in "permissions"`);
      expect(text.stderr).toContain(message);
    }
    place.configure({ sandbox: "off", permissions: [JSON.parse(rule)] });
    const allowed = await print("command");
    place.configure({ sandbox: "off" });
    expect(allowed.exitCode).toBe(0);
  });

  test("json: a failed run has its error and its fields", async () => {
    const { stdout } = await print("broken", "--output-format", "json");
    const [result] = parseLines(stdout);
    expect(Object.keys(result ?? {})).toEqual(
      "sessionId,result,stopReason,usage,cost,turns,durationMs,error".split(","),
    );
    expect(result).toMatchObject({ cost: null, error: { message: expect.stringContaining("invalid key") } });
  });

  test("stream-json: message_delta carries only its delta, and every line is an object", async () => {
    const { stdout } = await print("answer", "--output-format", "stream-json");
    const deltas = parseLines(stdout).filter(({ type }) => type === "message_delta");
    expect(deltas.length).toBeGreaterThan(0);
    for (const delta of deltas) expect(Object.keys(delta)).toEqual(["type", "itemId", "delta"]);
  });

  test("hostile text reaches neither stdout nor stderr unescaped", async () => {
    const hostile = "\x1b]52;c;eA==\x07\x1bc\u009d0;t\u009c\x1b[6n";
    place.write("hostile.txt", hostile);
    script(
      "hostile",
      {
        text: hostile,
        toolCalls: [
          call("read", { file_path: "hostile.txt" }),
          call(hostile, {}),
          call("ls", { path: hostile }),
        ],
      },
      { text: hostile, error: { errorType: "auth", message: hostile } },
    );
    for (const format of ["text", "json", "stream-json"]) {
      const { stdout, stderr } = await print("hostile", "--output-format", format);
      // biome-ignore lint/suspicious/noControlCharactersInRegex: the test looks for control characters
      expect(stdout + stderr).not.toMatch(/[\x00-\x09\x0b-\x1f\x7f-\x9f]/);
    }
  });
});

describe("nothing is sent, with exit code 2 and one line,", () => {
  const cases: readonly (readonly [string, string[], string])[] = [
    ["an empty prompt", ["-p", ""], "diligent: the prompt is empty"],
    ["no prompt", ["-p"], "diligent: the prompt is empty"],
    [
      "an unknown option",
      ["-p", "x", "--modle", "y"],
      "diligent: unknown option --modle (did you mean --model?)",
    ],
    ["an unknown model", ["-p", "x", "-m", "sonet"], 'diligent: Unknown model "sonet".'],
    ["a script that is not there", ["-p", "x", "-m", "scripted/none.json"], "diligent: "],
    ["no key", ["-p", "x"], "diligent: No API key: set ANTHROPIC_API_KEY"],
    [
      "a directory that is not there",
      ["-p", "x", "-C", "nowhere"],
      "diligent: -C nowhere: not a usable directory",
    ],
    [
      "a file as the directory",
      ["-p", "x", "-C", "src/a.ts"],
      "diligent: -C src/a.ts: not a usable directory",
    ],
    ["control characters in an option", ["--\x1b[31mx"], "diligent: unknown option --\\x1b[31mx"],
  ];
  for (const [name, args, line] of cases) {
    test(name, async () => {
      const { stdout, stderr, exitCode, durationMs } = await runDiligent(place, args);
      expect([stdout, exitCode]).toEqual(["", 2]);
      expect(stderr).toStartWith(line);
      expect(stderr.trimEnd().split("\n")).toHaveLength(1);
      expect(durationMs).toBeLessThan(2000 + BUSY_MS);
    });
  }

  test("also with a structured output format", async () => {
    const exit = await runDiligent(place, ["-p", "x", "--output-format", "stream-json"]);
    expect([exit.stdout, exit.exitCode]).toEqual(["", 2]);
  });

  test("for a missing key, which is reported at once although the input is open and silent", async () => {
    const { exitCode, durationMs } = await runDiligent(place, ["-p", "x"], { stdin: null });
    expect(exitCode).toBe(2);
    expect(durationMs).toBeLessThan(1500 + BUSY_MS);
  });
});

describe("the project of print mode", () => {
  test("determines the model, unless the command line does", async () => {
    const other = createTemporaryProject();
    other.write("diligent.jsonc", '{ // a comment\n "model": "gpt-9", }');
    const fromFile = await runDiligent(other, ["-p", "x"], { environment: { ANTHROPIC_API_KEY: "k" } });
    expect(fromFile.stderr).toContain("OPENAI_API_KEY");
    const fromOption = await runDiligent(other, ["-p", "x", "-m", "sonnet"]);
    expect(fromOption.stderr).toStartWith("diligent: No API key: set ANTHROPIC_API_KEY");
    other.remove();
  });

  test("is selected by -C, and piped text comes first", async () => {
    place.write("src/inner.json", { version: 1, turns: [{ text: "inner" }] });
    const args = ["-C", "src", "-m", "scripted/inner.json", "--output-format", "stream-json", "words"];
    const { stdout } = await runDiligent(place, args, { stdin: "piped" });
    expect(parseLines(stdout)[0]).toMatchObject({ cwd: join(place.project, "src") });
    const session = readSessions(place).find((text) => text.includes("piped"));
    expect(session).toContain('"piped\\n\\nwords"');
  });

  test("gets no files with --no-session", async () => {
    const other = createTemporaryProject();
    other.write("answer.json", { version: 1, turns: [{ text: "Hi" }] });
    const { exitCode } = await runDiligent(other, ["-p", "x", "-m", "scripted/answer.json", "--no-session"]);
    expect([exitCode, readdirSync(other.project).sort()]).toEqual([0, [".git", "answer.json"]]);
    other.remove();
  });

  test("gets no leftover temporary file", async () => {
    await print("endless", "--max-turns", "2");
    expect(readdirSync(place.temporary)).toEqual([]);
  });
});

test("print mode works without a home, a user, a terminal and a search path", async () => {
  const environment = { HOME: undefined, USER: undefined, PATH: "", TERM: "dumb", TMPDIR: undefined };
  const { stdout, stderr, exitCode } = await runDiligent(place, ["-p", "x", "-m", "scripted/answer.json"], {
    program: PROGRAM_BY_PATH,
    environment,
  });
  expect({ stdout, exitCode }).toEqual({ stdout: "The answer\n", exitCode: 0 });
  expect(stderr).toBe("");
});

function readSessions({ project }: TemporaryProject): string[] {
  const directory = join(project, ".diligent", "sessions");
  return readdirSync(directory)
    .filter((each) => each.endsWith(".jsonl"))
    .map((name) => readFileSync(join(directory, name), "utf8"));
}
