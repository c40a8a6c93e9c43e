import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { mkdirSync, readdirSync, readFileSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { makeTempDir } from "../../../core/test/support/temp-dir.ts";
import { startInPty } from "../support/pty-program.ts";
import { runDiligent } from "../support/run-diligent.ts";
import { KEYS } from "../support/screen-session.ts";
import { sessionIds, writeSession } from "../support/session-files.ts";
import { createTemporaryProject, type TemporaryProject } from "../support/temporary-project.ts";

const KEY = "sk-ant-api03-Zq8vR2mT5xW9yB1nC4dF7gH0jK3lP6sU";
const PIECE = KEY.slice(20);
const environment = { ANTHROPIC_API_KEY: KEY };

/** Which of these files are read while something runs: a read moves an access time that is older than the change. */
async function readDuring(paths: readonly string[], run: () => unknown): Promise<string[]> {
  const changed = new Date();
  for (const path of paths) utimesSync(path, new Date(changed.getTime() - 60_000), changed);
  const before = paths.map((path) => statSync(path).atimeMs);
  await run();
  return paths.filter((path, index) => statSync(path).atimeMs !== before[index]);
}

/** A file that was listed may be renamed before it is read. */
function readIfThere(path: string): string {
  try {
    return readFileSync(path, "latin1");
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return "";
    throw error;
  }
}

const PROBE = join(makeTempDir(), "probe");
writeFileSync(PROBE, "x");
const ARE_READS_SEEN = (await readDuring([PROBE], () => readFileSync(PROBE))).length === 1;

let place: TemporaryProject;
let id: string;

const sessionFile = () => join(place.project, ".diligent", "sessions", `${id}.jsonl`);

beforeAll(async () => {
  place = createTemporaryProject();
  place.write("script.json", { version: 1, turns: [{ text: `The key is ${KEY}.` }] });
  // Without the variable and without masking, the key is ordinary text, as it was before keys were kept out of files.
  const configuration = join(place.top, "unmasked", "diligent");
  mkdirSync(configuration, { recursive: true });
  writeFileSync(join(configuration, "diligent.jsonc"), '{"secrets": {"mask": false}}', { mode: 0o600 });
  const args = ["-p", "--output-format", "json", "--model", "scripted/script.json", `is ${KEY} the needle?`];
  const unmasked = { XDG_CONFIG_HOME: join(place.top, "unmasked") };
  id = JSON.parse((await runDiligent(place, args, { environment: unmasked })).stdout).sessionId;
});

afterAll(() => place.remove());

test.each([
  [["export"]],
  [["export", "--format", "jsonl"]],
  [["export", "--format", "atif"]],
  [["sessions", "show", "1"]],
  [["sessions", "show", "1", "--json"]],
  [["sessions", "show", "1", "--full"]],
  [["sessions", "show", "1", "--full", "--json"]],
  [["sessions", "show", "1", "--entries"]],
  [["sessions", "find", "needle"]],
  [["sessions", "find", "needle", "--json"]],
  [["sessions", "find", KEY]],
  [["sessions", "list"]],
  [["--list"]],
  [["--list", "--json"]],
])("diligent %j masks a key in an older session file", async (args) => {
  const before = readFileSync(sessionFile(), "utf8");
  expect(before).toContain(KEY);
  const { stdout, stderr, exitCode } = await runDiligent(place, args, { environment });
  expect([exitCode, stderr]).toEqual([0, ""]);
  expect(stdout).not.toContain(PIECE);
  expect(stdout).toContain("[key of anthropic]");
  expect(readFileSync(sessionFile(), "utf8")).toBe(before);
});

test("/export masks a key in an older session file", async () => {
  const args = ["--model", "scripted/script.json", "--resume", id];
  await using program = startInPty(place, args, { rows: 40, environment });
  await program.waitFor("ask ·");
  program.send("/export jsonl exported.jsonl\r");
  await program.waitFor("Exported to ");
  const exported = readFileSync(join(place.project, "exported.jsonl"), "utf8");
  expect(exported).not.toContain(PIECE);
  expect(exported).toContain("[key of anthropic]");
});

test.each([
  [["sessions", "show", "zz"]],
  [["sessions", "rm", "1"]],
  [["export", "zz"]],
  [["undo", "--session", "zz"]],
  [["-p", "go", "-c", "zz"]],
  [["-p", "go", "--fork=zz"]],
])("diligent %j masks the key if an error names sessions", async (args) => {
  const { stderr, exitCode } = await runDiligent(place, args, { environment });
  expect(exitCode).toBe(2);
  expect(stderr).not.toContain(PIECE);
  expect(stderr).toContain("is [key of anthropic] the needle?");
});

test("a key given instead of a session name is not repeated", async () => {
  for (const args of [
    ["sessions", "show", KEY],
    ["export", KEY],
    ["-p", "go", "-c", KEY],
    ["-c", KEY, "go"],
  ]) {
    const { stdout, stderr, exitCode } = await runDiligent(place, args, { environment });
    expect(exitCode).toBe(2);
    expect(stdout + stderr).not.toContain(PIECE);
  }
});

test("a resumed session shows no key from its file, and does not repeat it in the file", async () => {
  const before = readFileSync(sessionFile(), "utf8");
  const args = ["--model", "scripted/script.json", "--resume", id];
  await using program = startInPty(place, args, { rows: 40, environment });
  await program.waitFor("is [key of anthropic] the needle?");
  program.send("/resume\r");
  await program.waitFor("Sessions");
  await program.settle();
  program.send(KEYS.escape);
  await program.settle();
  program.send("/tree\r");
  await program.waitFor("Session tree");
  await program.settle();
  expect(program.bytes).not.toContain(PIECE);
  expect(readFileSync(sessionFile(), "utf8").slice(before.length)).not.toContain(PIECE);
});

describe("in a project of its own", () => {
  let own: TemporaryProject;

  beforeEach(() => {
    own = createTemporaryProject({ sandbox: "off" });
  });

  afterEach(() => own.remove());

  const KEY_IN_FILE = "sk-local-9f8e7d6c5b4a";
  const OLD = { id: "20260225103000-a1b2c3", modified: "2026-02-25T10:30:00.000Z" };

  /** Every file below home and project that contains part of the key. */
  const filesWith = (piece: string) =>
    [own.home, own.project].flatMap((root) =>
      readdirSync(root, { recursive: true, withFileTypes: true }).flatMap((entry) => {
        const path = join(entry.parentPath, entry.name);
        return entry.isFile() && readIfThere(path).includes(piece) ? [path] : [];
      }),
    );

  test("sessions name and label save and print no key", async () => {
    writeSession(own, { ...OLD, texts: ["hello", "hi"] });
    const named = await runDiligent(own, ["sessions", "name", "1", `with ${KEY}`], { environment });
    const labelled = await runDiligent(own, ["sessions", "label", "1@00000001", KEY], { environment });
    const listed = await runDiligent(own, ["--list"], { environment });
    expect([named.exitCode, labelled.exitCode, listed.exitCode]).toEqual([0, 0, 0]);
    expect(named.stdout).toContain("renamed to with [key of anthropic]");
    expect(labelled.stdout).toContain("labelled [key of anthropic]");
    expect(listed.stdout).toContain("with [key of anthropic]");
    expect(filesWith(PIECE)).toEqual([]);
  });

  const writeConfig = (text: string) => {
    const directory = join(own.home, ".config", "diligent");
    mkdirSync(directory, { recursive: true });
    writeFileSync(join(directory, "diligent.jsonc"), text);
  };

  test.each([
    ["whole", "{ provider }"],
    ["of another version, with an unknown setting", '{ "later": true, provider }'],
    ["broken after the key", '{ provider, "model": }'],
    ["broken before the key", '{ "model: "x", provider }'],
  ])("--list masks a key in a configuration that is %s, and works", async (_, text) => {
    writeSession(own, { ...OLD, texts: [`is ${KEY_IN_FILE} right?`, "yes"] });
    const provider = `"provider": { "compatible": { "local": { "baseUrl": "http://a.test/v1", // my own\n "apiKey" /* ! */ : "${KEY_IN_FILE}" } } }`;
    writeConfig(text.replace("provider", provider));
    const { stdout, stderr, exitCode } = await runDiligent(own, ["--list"]);
    expect([exitCode, stderr]).toEqual([0, ""]);
    expect(stdout).toMatch(/ is \[key of [^\]]+\] right\? \(2 messages\)/);
  });

  const name = "--list reads no configuration unless a text in it could be a key";
  test.skipIf(!ARE_READS_SEEN)(`${name} (needs a file system with access times)`, async () => {
    writeConfig(`{ "provider": { "anthropic": { "apiKey": "${KEY_IN_FILE}" } } }`);
    own.write("diligent.jsonc", "{}");
    const words = writeSession(own, { ...OLD, texts: ['Find all "TODO" comments, please.', "Done"] });
    const configs = [
      join(own.home, ".config", "diligent", "diligent.jsonc"),
      join(own.project, "diligent.jsonc"),
    ];
    const list = (...args: string[]) => runDiligent(own, ["--list", ...args]);
    expect(await readDuring([...configs, words], () => list())).toEqual([words]);
    expect(await readDuring(configs, () => list("--json"))).toEqual([]);
    const later = { id: "20260225113000-a1b2c3", modified: "2026-02-25T11:30:00.000Z" };
    writeSession(own, { ...later, texts: [`is ${KEY_IN_FILE} right?`, "yes"] });
    expect(await readDuring(configs, () => list())).toEqual(configs);
    expect((await list()).stdout).not.toContain(KEY_IN_FILE);
  });

  test("a key in a prompt being typed is in no file, whether the session is open yet or not", async () => {
    own.write("script.json", { version: 1, turns: [{ text: "first" }] });
    const args = ["--model", "scripted/script.json"];
    await using program = startInPty(own, args, { environment });
    // Typed before the session can be open, and again in an open one.
    program.send(`does ${KEY} work`);
    await program.waitFor("ask");
    await program.waitUntil(() => filesWith("does [key of anthropic] work").length > 0);
    program.send(" now?");
    await program.waitUntil(() => filesWith("does [key of anthropic] work now?").length > 0);
    expect(filesWith(PIECE)).toEqual([]);
    program.send(KEYS.enter);
    await program.waitFor("first");
    program.send(`and ${KEY}`);
    await program.waitUntil(() => filesWith("and [key of anthropic]").length > 0);
    expect(filesWith(PIECE)).toEqual([]);
    program.send(KEYS.ctrlC);
    await program.settle();
    program.send(KEYS.ctrlD);
    await program.exitCode;
    expect(filesWith(PIECE)).toEqual([]);
    expect(sessionIds(own)).toHaveLength(1);
  });

  test("a command with a key that the user allows permanently is stored in no file", async () => {
    own.write("script.json", {
      version: 1,
      turns: [
        { toolCalls: [{ name: "bash", input: { command: "curl -V" } }] },
        { toolCalls: [{ name: "bash", input: { command: "curl -V" } }] },
        { text: "done" },
      ],
    });
    const args = ["--model", "scripted/script.json", "try it"];
    await using program = startInPty(own, args, { environment, columns: 100, rows: 40 });
    await program.waitFor("y yes");
    await Bun.sleep(420);
    program.send("e");
    await program.waitFor("curl -V");
    await program.settle();
    program.send(` --user-agent ${KEY}${KEYS.enter}`);
    await program.waitFor("--user-agent");
    await program.waitFor("y yes");
    await Bun.sleep(420);
    program.send("p");
    await program.waitFor("Always allow this");
    await Bun.sleep(420);
    program.send("y");
    await program.waitFor("Saved only until the program ends");
    expect(filesWith(PIECE)).toEqual([]);
  });

  test("Up and /history restore an earlier prompt without the key that it was saved with", async () => {
    own.write("script.json", { version: 1, turns: [{ text: "first" }] });
    const state = join(own.home, ".local", "state", "diligent");
    mkdirSync(state, { recursive: true });
    const line = { time: "2026-02-25T10:30:00.000Z", cwd: own.project, text: `is ${KEY} right?` };
    writeFileSync(join(state, "history.jsonl"), `${JSON.stringify(line)}\n`);
    await using program = startInPty(own, ["--model", "scripted/script.json"], { environment });
    await program.waitFor("ask");
    await program.settle();
    // The history is read after the first frame; until then there is nothing to restore.
    await program.waitUntil((screen) => {
      const isThere = screen.some((row) => row.includes("is [key of anthropic] right?"));
      if (!isThere) program.send(KEYS.up);
      return isThere;
    });
    program.send(KEYS.ctrlC);
    await program.settle();
    program.send("/history\r");
    await program.waitFor("Earlier prompts");
    await program.waitFor("is [key of anthropic] right?");
    expect(program.bytes).not.toContain(PIECE);
  });
});
