import { describe, expect, test } from "bun:test";
import {
  chmodSync,
  copyFileSync,
  existsSync,
  linkSync,
  mkdirSync,
  readFileSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { loadDiligentConfig } from "../../../src/config/loader.ts";
import { trustProject } from "../../../src/config/trust.ts";
import { LanguageServers } from "../../../src/extensions/language-servers/servers.ts";
import { describeProjectTrust } from "../../../src/harness/trust.ts";
import { findBoxProblem } from "../../support/boxed-project.ts";
import { BUSY_MS } from "../../support/busy-machine.ts";
import { createPatientStage } from "../../support/language-server-stage.ts";
import { call, createServerStage, type PlayedRun, type ServerStage } from "../../support/mcp-stage.ts";
import { testUnless } from "../../support/test-unless.ts";

const SERVER = join(import.meta.dir, "../../support/language-server.ts");
const boxProblem = await findBoxProblem();
const DONE = { text: "Done." };

/** A project in which a server for Python is installed in PATH or in `node_modules/.bin`. */
function setUp(
  directory: (stage: ServerStage) => string,
  { stage = createPatientStage(), behaviours = [] }: { stage?: ServerStage; behaviours?: string[] } = {},
) {
  stage.configure({});
  const program = join(directory(stage), "pyright-langserver");
  mkdirSync(dirname(program), { recursive: true });
  // A checkout below /tmp is not visible in the sandbox, and neither is a Bun below /tmp.
  const source = join(stage.project, "server.ts");
  copyFileSync(SERVER, source);
  const bun = join(stage.project, ".git", "bun");
  linkOrCopy(process.execPath, bun);
  const args = ["pull", ...behaviours].map((each) => ` '${each}'`).join("");
  writeFileSync(program, `#!/bin/sh\nexec '${bun}' '${source}'${args}\n`);
  chmodSync(program, 0o755);
  stage.environment.PATH = `${join(stage.home, "bin")}:/usr/bin:/bin`;
  writeFileSync(join(stage.project, "a.py"), "one\ntwo\n");
  return { ...stage, program };
}

/** Copies a large file only to another file system. */
function linkOrCopy(from: string, to: string): void {
  try {
    linkSync(from, to);
  } catch {
    copyFileSync(from, to);
  }
}

const inPath = ({ home }: ServerStage) => join(home, "bin");
const inProject = ({ project }: ServerStage) => join(project, "node_modules/.bin");
const EDIT = [
  call("read", { file_path: "a.py" }),
  call("edit", { file_path: "a.py", old_string: "one", new_string: "BAD(word)" }),
  DONE,
];
const editOutput = ({ results }: PlayedRun) =>
  results.flatMap(({ toolName, output }) => (toolName === "edit" ? [output] : [])).join("\n");
const ERROR = "by the language server python:\na.py:1:1 word is bad (7)";

describe("a server in PATH", () => {
  testUnless(boxProblem)("runs in a sandbox, in which it cannot write to the project", async () => {
    const stage = setUp(inPath, { behaviours: ["write=stolen.txt", "journal=/tmp/journal.txt"] });
    const played = await stage.play(EDIT);
    expect(editOutput(played)).toContain(ERROR);
    expect(existsSync(join(stage.project, "stolen.txt"))).toBe(false);
  });

  test("is not used where there is no sandbox, unless the user's own settings name it", async () => {
    const stage = setUp(inPath);
    stage.configure({ sandbox: "off" });
    const refused = await stage.play(EDIT);
    expect(editOutput(refused)).not.toContain("bad");
    const notices = refused.events.flatMap((event) => (event.type === "notice" ? [event.message] : []));
    expect(notices).toEqual([expect.stringContaining('only if "lsp" in your settings names it')]);
    writeFileSync(join(stage.project, "a.py"), "one\ntwo\n");
    const python = { command: ["pyright-langserver"], extensions: [".py"] };
    stage.configure({ sandbox: "off", lsp: { python } });
    expect(editOutput(await stage.play(EDIT))).toContain(ERROR);
  });

  test.each([
    ["lsp", false],
    ["lsp.python", { python: false }],
  ])("is not used if %s is false", async (_, lsp) => {
    const stage = setUp(inPath);
    stage.configure({ lsp });
    const played = await stage.play(EDIT);
    expect(editOutput(played)).not.toContain("bad");
    expect(played.requests[0]?.tools).not.toContain("lsp");
  });
});

describe("a server of the project", () => {
  testUnless(boxProblem)("is used once it is trusted, and not after it has changed", async () => {
    const stage = setUp(inProject);
    const first = await stage.play(EDIT);
    expect(editOutput(first)).not.toContain("bad");
    const description = await describeProjectTrust(stage.project, stage.environment);
    expect(description.waiting.map(({ name, details }) => [name, details.command])).toEqual([
      ["python", "node_modules/.bin/pyright-langserver --stdio"],
    ]);
    await trustProject(description, stage.environment);
    writeFileSync(join(stage.project, "a.py"), "one\ntwo\n");
    const second = await stage.play(EDIT);
    expect(editOutput(second)).toContain(ERROR);
    writeFileSync(stage.program, `${readFileSync(stage.program, "utf8")}# changed\n`);
    writeFileSync(join(stage.project, "a.py"), "one\ntwo\n");
    expect(editOutput(await stage.play(EDIT))).not.toContain("bad");
  });

  test("that is not trusted is named in a notice", async () => {
    const stage = setUp(inProject, { stage: createServerStage() });
    const { notices } = await stage.play([DONE]);
    expect(notices.join("\n")).toContain("1 language server of this project waits for your trust");
  });

  test("that its diligent.jsonc defines is ignored until the project is trusted", async () => {
    const stage = setUp(inPath, { stage: createServerStage() });
    const lsp = { evil: { command: ["touch", join(stage.home, "owned")], extensions: [".py"] } };
    writeFileSync(join(stage.project, "diligent.jsonc"), JSON.stringify({ lsp }));
    const played = await stage.play(EDIT);
    expect(existsSync(join(stage.home, "owned"))).toBe(false);
    expect(played.notices.join("\n")).toContain("lsp.evil.command");
  });
});

test("a server that uses more memory than it may is ended, and the reason is said", async () => {
  const stage = createServerStage();
  const problems: string[] = [];
  stage.configure({ sandbox: "off" });
  const loaded = await loadDiligentConfig(stage.project, stage.environment);
  const command = [process.execPath, SERVER, "pull", "memory"];
  const servers = new LanguageServers({
    definitions: [{ name: "test", command, extensions: [".txt"], origin: "user" }],
    loaded,
    environment: stage.environment,
    notify: (message) => void problems.push(message),
    limits: { maxBytes: 250 * 1024 * 1024, measureEveryMs: 50 },
  });
  const path = join(loaded.projectRoot, "a.txt");
  const deadline = performance.now() + 2 * BUSY_MS;
  for (let count = 0; problems.length === 0 && performance.now() < deadline; count++) {
    writeFileSync(path, `${count}\n`);
    await servers.report([{ realPath: path, before: "" }], new AbortController().signal);
    await Bun.sleep(20);
  }
  await servers.close();
  expect(problems).toEqual(["The language server test is not used: It used more than 250 MB of memory."]);
}, 60_000);
