import { describe, expect, test } from "bun:test";
import { existsSync, mkdirSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { createProtectedAccess } from "../../src/approval/protected-access.ts";
import type { ApprovalMode, PermissionRule } from "../../src/approval/types.ts";
import { findBoxProblem, makeBoxedProject } from "../support/boxed-project.ts";

const problem = await findBoxProblem();

const git = "git -c user.name=Me -c user.email=me@example.org";

interface Permitted {
  mode?: ApprovalMode;
  rules?: PermissionRule[];
  prepare?(root: string): void;
}

/** A project whose commands may do what the mode and the rules say. */
async function makeProject({ mode = "ask", rules = [], prepare }: Permitted) {
  const project = await makeBoxedProject({
    prepare: ({ root }) => {
      for (const [path, content] of [
        [".env", "KEY=1\n"],
        ["server.key", "secret\n"],
        ["CLAUDE.md", "Old.\n"],
        [".vscode/tasks.json", "{}\n"],
        [".github/workflows/ci.yml", "on: push\n"],
      ] as const) {
        mkdirSync(join(root, path, ".."), { recursive: true });
        Bun.spawnSync(["sh", "-c", `printf %s "$1" > "$2"`, "sh", content, join(root, path)]);
      }
      Bun.spawnSync(["git", "init", "-q", "-b", "main", root]);
      prepare?.(root);
    },
  });
  const { root, workspace } = project;
  const current = { mode, rules };
  workspace.protectedAccess = async () => createProtectedAccess({ root, cwd: root, ...current });
  const moved = () => (existsSync(project.quarantine) ? readdirSync(project.quarantine) : []);
  return { ...project, current, moved };
}

const allow = (pattern: string, permission: "read" | "write" = "write"): PermissionRule => ({
  permission,
  pattern,
  action: "allow",
});

describe.skipIf(problem !== undefined)("in the mode auto, a command in the sandbox", () => {
  test("writes, creates and removes protected files of the project, and nothing is moved away", async () => {
    const project = await makeProject({ mode: "auto" });
    const { run, text, moved, told } = project;
    const result = await run(
      [
        "echo KEY=2 > .env && cat .env",
        "cat server.key && echo new > server.key",
        "sed -i s/Old/New/ CLAUDE.md",
        "rm .vscode/tasks.json && echo '[]' > .vscode/settings.json",
        "mkdir -p sub/.github/workflows && echo on: > sub/.github/workflows/x.yml",
        "echo A=1 > .env.local && echo use > .envrc && echo '{}' > .mcp.json && echo x > bunfig.toml",
      ].join("\n"),
    );
    expect(result.output).toBe("KEY=2\nsecret");
    expect(result.isError).toBe(false);
    expect(text("project/.env")).toBe("KEY=2\n");
    expect(text("project/CLAUDE.md")).toBe("New.\n");
    expect(text("project/.vscode/tasks.json")).toBeUndefined();
    for (const path of [".env.local", ".envrc", ".mcp.json", "bunfig.toml", "sub/.github/workflows/x.yml"])
      expect(existsSync(join(project.root, path))).toBe(true);
    // What it created stays with the next commands, too.
    expect((await run("cat .env.local .envrc")).output).toBe("A=1\nuse");
    expect([moved(), told]).toEqual([[], []]);
  });

  test("runs git init, git remote add and git config, and a repository stays one", async () => {
    const project = await makeProject({ mode: "auto" });
    const { run, moved, told } = project;
    const first = await run(
      "git config user.name Me && git remote add origin https://example.org/x.git && git init -q sub && git init -q --bare bare.git",
    );
    expect(first).toMatchObject({ output: "(no output)", isError: false });
    const second = await run(
      `git config user.name; git remote; git -C sub config a.b c; cd sub && touch a && ${git} add a && ${git} commit -qm x && git log --oneline | wc -l; git -C ../bare.git rev-parse --is-bare-repository`,
    );
    expect(second.output.split(/\s+/)).toEqual(["Me", "origin", "1", "true"]);
    expect([moved(), told]).toEqual([[], []]);
  });

  test("writes neither hooks nor diligent's own files, nor what a rule forbids", async () => {
    const rules: PermissionRule[] = [
      { permission: "write", pattern: "CLAUDE.md", action: "deny" },
      { permission: "read", pattern: ".env", action: "deny" },
    ];
    const prepare = (root: string) => mkdirSync(join(root, ".diligent"));
    const project = await makeProject({ mode: "auto", rules, prepare });
    const { run, text } = project;
    for (const path of [".git/hooks/pre-commit", ".diligent/x", "CLAUDE.md"]) {
      const { output, isError } = await run(`echo x > ${path}`);
      expect(isError).toBe(true);
      expect(output).toContain("can be written to, except .git/hooks and .diligent.");
      expect(text(`project/${path}`) ?? "Old.\n").toBe("Old.\n");
    }
    expect((await run("cat .env")).isError).toBe(true);
  });

  test("is guarded again once the mode has changed, and what it has created before stays", async () => {
    const project = await makeProject({ mode: "auto" });
    const { run, current, text, told } = project;
    await run("echo A=1 > .env.local");
    current.mode = "ask";
    expect((await run("echo B=2 > .env.local")).isError).toBe(true);
    expect(text("project/.env.local")).toBe("A=1\n");
    expect(told).toEqual([]);
    expect((await run("echo x > .envrc")).output).toContain(".envrc was moved to");
    expect(existsSync(join(project.root, ".envrc"))).toBe(false);
  });
});

describe.skipIf(problem !== undefined)("with a rule that allows writing, a command in the sandbox", () => {
  test.each<[what: string, pattern: string, command: string, isAllowed: boolean]>([
    ["changes a file that it names", "CLAUDE.md", "echo x > CLAUDE.md", true],
    ["creates a file that it names", ".envrc", "echo x > .envrc", true],
    ["changes a directory that it covers", ".vscode/**", "echo x > .vscode/a && rm .vscode/tasks.json", true],
    ["creates a directory that it covers", ".idea/**", "mkdir .idea && echo x > .idea/a", true],
    ["creates a file in a new directory", ".idea/a", "mkdir .idea && echo x > .idea/a", true],
    ["changes what only commands may not", "bunfig.toml", "echo x > bunfig.toml", true],
    ["changes nothing that it does not name", "**", "echo x > .envrc", false],
    ["changes no other file", "CLAUDE.md", "echo x > AGENTS.md", false],
    ["changes nothing in a directory of which it names a file", ".vscode/a", "echo x > .vscode/a", false],
    ["changes no settings of git", ".git/config", "git config a.b c", false],
    ["changes no hooks", ".git/**", "echo x > .git/hooks/pre-commit", false],
    ["changes no file that it may not read", ".env", "echo x > .env", false],
  ])("%s", async (_, pattern, command, isAllowed) => {
    const project = await makeProject({ rules: [allow(pattern)] });
    const { output, isError } = await project.run(command);
    expect(isError === false && !output.includes("was moved to")).toBe(isAllowed);
    expect(project.told.length > 0).toBe(output.includes("was moved to"));
  });

  test("changes a secret file if a rule allows reading it, too", async () => {
    const rules = [allow(".env"), allow(".env", "read")];
    const project = await makeProject({ rules });
    expect((await project.run("cat .env && echo KEY=3 > .env")).output).toBe("KEY=1");
    expect(project.text("project/.env")).toBe("KEY=3\n");
  });

  test("does not change a directory of which a later rule refuses a part", async () => {
    const refusal: PermissionRule = { permission: "write", pattern: ".vscode/tasks.json", action: "deny" };
    const project = await makeProject({ rules: [allow(".vscode/**"), refusal, allow("src/**")] });
    expect((await project.run("echo x > .vscode/tasks.json")).isError).toBe(true);
  });
});
