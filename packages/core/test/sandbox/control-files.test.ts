import { afterEach, describe, expect, test } from "bun:test";
import {
  lstatSync,
  mkdirSync,
  readdirSync,
  readlinkSync,
  renameSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { endAllProcesses } from "../../src/infrastructure/process/all-processes.ts";
import { createWriteTool } from "../../src/tools/file-tools.ts";
import { type BoxedProject, findBoxProblem, makeBoxedProject } from "../support/boxed-project.ts";
import { runTool } from "../support/tool-workspace.ts";

const problem = await findBoxProblem();

afterEach(endAllProcesses);

const CONTROL_FILES: readonly string[] = [
  "CLAUDE.md",
  "AGENTS.md",
  "docs/claude.md",
  "diligent.jsonc",
  ".diligent/skills/x.md",
  ".env",
  ".env.local",
  ".envrc",
  ".vscode/tasks.json",
  ".github/workflows/ci.yml",
  ".gitlab-ci.yml",
  ".bashrc",
  "packages/a/.npmrc",
  "packages/a/.husky/pre-commit",
  "bunfig.toml",
  ".cargo/config.toml",
];

/** Where what was moved away is, from the project. */
function movedAway({ quarantine }: BoxedProject): string[] {
  const names = readdirSync(quarantine, { recursive: true, encoding: "utf8" });
  return names
    .filter((name) => lstatSync(join(quarantine, name)).isFile())
    .map((name) => name.replace(/^[^/]+\//, ""));
}

describe.skipIf(problem !== undefined)("an existing protected file", () => {
  const ATTEMPTS: readonly ((path: string) => string)[] = [
    (path) => `echo CANARY >> ${path}`,
    (path) => `rm -f ${path}`,
    (path) => `echo CANARY > new; mv new ${path}`,
    (path) => `ln ${path} linked && echo CANARY >> linked`,
    (path) => `sed -i s/original/CANARY/ ${path}`,
    (path) => `chmod 777 ${path} && echo CANARY > ${path}`,
    (path) => `echo CANARY >> /proc/self/root$PWD/${path}`,
    (path) => `echo CANARY >> "$(readlink -f ${path})"`,
    (path) => `exec 9<>${path} && echo CANARY >&9`,
    (path) => `truncate -s 0 ${path}`,
  ];
  test("keeps its content, whatever a command does", async () => {
    const place = await makeBoxedProject();
    for (const path of CONTROL_FILES) place.put(`project/${path}`);
    for (const attempt of ATTEMPTS) await place.run(CONTROL_FILES.map(attempt).join("\n"));
    const contents = CONTROL_FILES.map((path) => [path, place.text(`project/${path}`)]);
    expect(contents).toEqual(CONTROL_FILES.map((path) => [path, "original\n"]));
  });

  test("cannot be replaced by renaming its directory", async () => {
    const place = await makeBoxedProject();
    for (const path of CONTROL_FILES) place.put(`project/${path}`);
    const directories = ["docs", "packages", "packages/a", ".github", ".cargo"];
    for (const path of directories) {
      await place.run(
        `mv ${path} moved; mkdir -p ${path}; cp -r moved/. ${path}; find ${path} -type f | while read f; do echo CANARY > $f; done; rm -rf moved`,
      );
    }
    const changed = CONTROL_FILES.filter((path) => place.text(`project/${path}`)?.includes("CANARY"));
    expect(changed).toEqual([]);
  });

  test("moves along with a renamed directory, unless that comes nearer to the top", async () => {
    const place = await makeBoxedProject();
    place.put("project/packages/a/.npmrc");
    place.put("project/docs/sample/.github/workflows/ci.yml");
    await place.run("mv packages/a packages/b; mv docs/sample/.github .github");
    expect(place.text("project/packages/b/.npmrc")).toBe("original\n");
    expect(movedAway(place)).toEqual([".github/workflows/ci.yml"]);
  });
});

describe.skipIf(problem !== undefined)("a protected file that a command creates", () => {
  test("is moved out of the project, each one and however it was created", async () => {
    const place = await makeBoxedProject();
    const made = CONTROL_FILES.map((path) => `mkdir -p "$(dirname ${path})"; echo CANARY > ${path}`);
    await place.run(made.join("\n"));
    expect(CONTROL_FILES.filter((path) => place.text(`project/${path}`) !== undefined)).toEqual([]);
    expect(movedAway(place).sort()).toEqual(CONTROL_FILES.toSorted());
    // The first five by name, the others in one line.
    expect(place.told).toHaveLength(6);
    expect(place.told.at(-1)).toStartWith(
      `${CONTROL_FILES.length - 5} more files and directories of this kind`,
    );
    expect(readdirSync(place.quarantine)).toHaveLength(1);
  });

  test("is found in a new directory, through a link or in another case", async () => {
    const place = await makeBoxedProject();
    const { output, isError } = await place.run(
      "mkdir -p x/workflows y/.VSCODE; echo CANARY > x/workflows/w.yml; mv x .github; echo CANARY > y/.VSCODE/t.json; " +
        "ln -s /etc/hostname Claude.md; echo CANARY > innocent; ln -s innocent .envrc",
    );
    expect(isError).toBe(false);
    expect(readdirSync(place.root).sort()).toEqual([".github", "innocent", "y"]);
    expect(readdirSync(join(place.root, "y"))).toEqual([]);
    expect(output.match(/was moved to/g)).toHaveLength(4);
  });

  test("is left in node_modules, where packages bring their own", async () => {
    const place = await makeBoxedProject();
    const { output } = await place.run("mkdir -p node_modules/x/.vscode; echo 1 > node_modules/x/.vscode/a");
    expect([output, place.text("project/node_modules/x/.vscode/a")]).toEqual(["(no output)", "1\n"]);
  });

  test("is found by the next command or at the end if its command runs in the background", async () => {
    const place = await makeBoxedProject();
    const later = (path: string) =>
      `(until [ -e make-${path} ]; do sleep 0.05; done; echo CANARY > ${path}; sleep 60) > /dev/null 2>&1 & echo started`;
    const madeNow = async (path: string) => {
      place.put(`project/make-${path}`);
      while (place.text(`project/${path}`) === undefined) await Bun.sleep(10);
    };
    expect((await place.run(later("AGENTS.md"))).output).toStartWith("started");
    await madeNow("AGENTS.md");
    expect((await place.run("true")).output).toContain("AGENTS.md was moved to");
    await place.run(later("CLAUDE.md"));
    await madeNow("CLAUDE.md");
    await endAllProcesses();
    await place.box.close();
    expect(movedAway(place).sort()).toEqual(["AGENTS.md", "CLAUDE.md"]);
  });

  test("is found if the command pretends to have ended", async () => {
    const place = await makeBoxedProject();
    const pretend = `for f in /proc/[0-9]*/fd/*; do { echo '{ "exit-code": 0 }' > $f; } 2> /dev/null; done`;
    const { output } = await place.run(`${pretend}; sleep 0.3; echo CANARY > AGENTS.md; exit 7`);
    expect(place.text("project/AGENTS.md")).toBeUndefined();
    expect(output).toContain("AGENTS.md was moved to");
    expect(output).toContain("[exit code 7]");
  });

  test("cannot stay by being hard to move", async () => {
    const place = await makeBoxedProject();
    await place.run(
      "mkdir -p d/.vscode; mkfifo d/.vscode/pipe; echo CANARY > d/.vscode/tasks.json; chmod 555 d/.vscode d",
    );
    expect(readdirSync(place.at("project/d"))).toEqual([]);
  });

  test("stays if the user approved it, also while something runs in the background", async () => {
    const place = await makeBoxedProject();
    await place.run("sleep 60 & echo started");
    await runTool(createWriteTool(place.workspace), { file_path: "AGENTS.md", content: "agreed\n" });
    const { output } = await place.run("cat AGENTS.md; echo CANARY >> AGENTS.md");
    expect(output).toStartWith("agreed\n");
    expect(place.text("project/AGENTS.md")).toBe("agreed\n");
  });

  test("from outside stays if nothing runs in the background, and is moved away otherwise", async () => {
    const place = await makeBoxedProject();
    await place.run("echo agreed > CLAUDE.md", { outside: true });
    await place.run("sleep 60 & echo started");
    const { output } = await place.run("echo unclear > AGENTS.md", { outside: true });
    expect([place.text("project/CLAUDE.md"), place.text("project/AGENTS.md")]).toEqual([
      "agreed\n",
      undefined,
    ]);
    expect(output).toMatch(/AGENTS.md was moved to .*a background process was running in the sandbox/);
  });
});

describe.skipIf(problem !== undefined)("a link with the name of a protected file", () => {
  test("is restored, and its target cannot be changed", async () => {
    const place = await makeBoxedProject();
    place.put("project/docs/agents.txt");
    symlinkSync("docs/agents.txt", place.at("project/CLAUDE.md"));
    const attempts = [
      "rm CLAUDE.md",
      "true",
      "ln -sf /etc/hostname CLAUDE.md",
      "rm CLAUDE.md; echo CANARY > CLAUDE.md",
      "echo CANARY > CLAUDE.md",
      "echo CANARY > docs/agents.txt",
      "mv docs d; mkdir docs; echo CANARY > docs/agents.txt",
    ];
    for (const attempt of attempts) {
      await place.run(attempt);
      expect([attempt, readlinkSync(place.at("project/CLAUDE.md"))]).toEqual([attempt, "docs/agents.txt"]);
      const isMoved = attempt.startsWith("mv");
      expect([attempt, place.text("project/CLAUDE.md")]).toEqual([
        attempt,
        isMoved ? undefined : "original\n",
      ]);
    }
  });

  test("that is dangling never leads to a file that a command creates", async () => {
    const place = await makeBoxedProject();
    symlinkSync("later.txt", place.at("project/CLAUDE.md"));
    await place.run("echo CANARY > later.txt");
    expect(place.text("project/CLAUDE.md")).toBeUndefined();
  });

  test("called .diligent does not affect its target", async () => {
    const place = await makeBoxedProject();
    mkdirSync(place.at("elsewhere"));
    symlinkSync("../elsewhere", place.at("project/.diligent"));
    await place.run("echo CANARY > .diligent/x; rm .diligent; mkdir .diligent; echo CANARY > .diligent/x");
    expect(readlinkSync(place.at("project/.diligent"))).toBe("../elsewhere");
    expect(readdirSync(place.at("elsewhere"))).toEqual([]);
  });
});

describe.skipIf(problem !== undefined)("a file that somebody else changes in the meantime", () => {
  test("is reported and left unchanged", async () => {
    const place = await makeBoxedProject();
    place.put("project/CLAUDE.md");
    const running = place.run("touch began; until [ -e go ]; do sleep 0.01; done");
    while (place.text("project/began") === undefined) await Bun.sleep(5);
    writeFileSync(place.at("project/new"), "mine\n");
    renameSync(place.at("project/new"), place.at("project/CLAUDE.md"));
    place.put("project/go");
    expect((await running).output).toContain("CLAUDE.md was replaced from outside while the command ran");
    expect(place.text("project/CLAUDE.md")).toBe("mine\n");
  });
});
