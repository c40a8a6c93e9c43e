import { afterAll, describe, expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type ApprovalContext, decideApproval } from "../src/approval/policy.ts";
import type { ApprovalRequest } from "../src/tool/types.ts";

const top = realpathSync(mkdtempSync(join(tmpdir(), "approval-policy-")));
const root = join(top, "app");
const outside = join(top, "elsewhere");
const temporaryDirectory = join(top, "session-temp");
for (const directory of [
  join(root, "src"),
  join(root, ".git", "hooks"),
  outside,
  temporaryDirectory,
  join(top, "app-secret"),
]) {
  mkdirSync(directory, { recursive: true });
}
writeFileSync(join(outside, "secret"), "secret");
symlinkSync(outside, join(root, "link"));
symlinkSync(join(outside, "not-there-yet"), join(root, "dangling"));
symlinkSync("loop-b", join(root, "loop-a"));
symlinkSync("loop-a", join(root, "loop-b"));
symlinkSync(join(root, ".git"), join(root, "innocent"));
symlinkSync(join(root, "src"), join(root, ".vscode"));
symlinkSync(join(root, "src"), join(root, "inner-link"));
symlinkSync(root, join(top, "alias"));

afterAll(() => rmSync(top, { recursive: true, force: true }));

const context: ApprovalContext = { root, cwd: root, temporaryDirectory };

function gateFor(permission: ApprovalRequest["permission"], path: string, using = context): string {
  const request: ApprovalRequest = { permission, toolName: "tool", description: "tool", details: { path } };
  const { action, gate } = decideApproval(request, using);
  return `${action} ${gate}`;
}

describe("inside the project", () => {
  test("reading and writing need no consent, whether the file exists or not", () => {
    expect(gateFor("read", join(root, "src"))).toBe("allow project");
    expect(gateFor("write", join(root, "src", "new", "deep", "file.ts"))).toBe("allow project");
    expect(gateFor("read", root)).toBe("allow project");
  });

  test("reading control files needs no consent", () => {
    expect(gateFor("read", join(root, ".git", "config"))).toBe("allow project");
    expect(gateFor("read", join(root, ".env"))).toBe("allow project");
  });

  test("a link that stays inside needs no consent", () => {
    expect(gateFor("write", join(root, "inner-link", "a.ts"))).toBe("allow project");
  });

  test("a root that is reached through a link is the same project", () => {
    expect(gateFor("write", join(root, "a.ts"), { root: join(top, "alias"), cwd: root })).toBe(
      "allow project",
    );
    expect(gateFor("write", join(top, "alias", "a.ts"))).toBe("allow project");
  });
});

describe("outside the project", () => {
  const cases = {
    "an absolute path": "/etc/hosts",
    "a path with ..": `${join(root, "src")}/../../elsewhere/secret`,
    "a directory whose name begins like the project's": join(top, "app-secret", "key"),
    "a directory link": join(root, "link", "secret"),
    "a directory link with a new file": join(root, "link", "new.txt"),
    "a dangling link": join(root, "dangling"),
    "the process file system's way round": "/proc/self/root/etc/hosts",
    ".. behind a link, as the kernel takes it": `${root}/link/../elsewhere/secret`,
    "the directory above": top,
    "another spelling of the project's name": join(top, "APP", "file"),
  };
  for (const [name, path] of Object.entries(cases)) {
    test(`${name} asks for reading and for writing`, () => {
      expect([gateFor("read", path), gateFor("write", path)]).toEqual([
        "ask outside_project",
        "ask outside_project",
      ]);
    });
  }

  test("a relative path starts from the working directory", () => {
    expect(gateFor("read", "../elsewhere/secret")).toBe("ask outside_project");
    expect(gateFor("read", "../src", { ...context, cwd: join(root, "src") })).toBe("allow project");
  });

  test("a loop of links asks", () => {
    expect(gateFor("read", join(root, "loop-a", "x"))).toBe("ask unknown_target");
  });

  test("a path with a null byte asks", () => {
    expect(gateFor("read", `${root}/a\0b`)).toBe("ask unknown_target");
  });

  test("the reason names where a link leads", () => {
    const details = { path: join(root, "link", "secret") };
    const verdict = decideApproval(
      { permission: "read", toolName: "read", description: "", details },
      context,
    );
    expect(verdict.reason).toBe(
      `${root}/link/secret leads to ${outside}/secret, which is outside the project ${root}`,
    );
  });
});

describe("the session's temporary directory", () => {
  test("may be read but not written", () => {
    expect(gateFor("read", join(temporaryDirectory, "call_1.txt"))).toBe("allow session_files");
    expect(gateFor("read", temporaryDirectory)).toBe("allow session_files");
    expect(gateFor("write", join(temporaryDirectory, "call_1.txt"))).toBe("ask outside_project");
  });

  test("a link inside it does not widen it", () => {
    symlinkSync(join(outside, "secret"), join(temporaryDirectory, "out.txt"));
    expect(gateFor("read", join(temporaryDirectory, "out.txt"))).toBe("ask outside_project");
  });

  test("its neighbours ask", () => {
    expect(gateFor("read", join(top, "session-temp-2", "x"))).toBe("ask outside_project");
  });
});

describe("control files", () => {
  const names = [
    ".git/config",
    ".git/hooks/pre-commit",
    ".git",
    "vendor/library/.git/config",
    ".GIT/config",
    ".g\u200cit/config",
    ".diligent/skills/x/SKILL.md",
    "diligent.jsonc",
    "diligent.json",
    "CLAUDE.md",
    "claude.md",
    "docs/AGENTS.md",
    ".env",
    ".env.local",
    ".envrc",
    ".vscode/settings.json",
    ".github/workflows/ci.yml",
    ".gitlab-ci.yml",
    ".bashrc",
    "home/.zshrc",
    "innocent/config",
    ".vscode/a.ts",
  ];
  for (const name of names) {
    test(`writing ${JSON.stringify(name)} asks`, () => {
      expect(gateFor("write", join(root, name))).toBe("ask control_file");
    });
  }

  test("names that only resemble one need no consent", () => {
    for (const name of [
      ".gitignore",
      ".github/README.md",
      "CLAUDE.md.txt",
      "src/env.ts",
      "workflows/ci.yml",
      "git/x",
    ]) {
      expect(`${name}: ${gateFor("write", join(root, name))}`).toBe(`${name}: allow project`);
    }
  });

  test("a project whose own path holds such a name is not one big control file", () => {
    const inner = join(root, ".git", "worktree");
    mkdirSync(inner, { recursive: true });
    expect(gateFor("write", join(inner, "a.ts"), { root: inner, cwd: inner })).toBe("allow project");
  });
});

describe("other requests", () => {
  test("every shell command asks", () => {
    const request: ApprovalRequest = {
      permission: "execute",
      toolName: "bash",
      description: "",
      details: { command: "ls" },
    };
    expect(decideApproval(request, context)).toEqual({
      action: "ask",
      gate: "shell_command",
      reason: "it runs a command",
    });
  });

  test("a request that names no path asks", () => {
    const verdict = decideApproval(
      { permission: "read", toolName: "x", description: "", details: { path: 7 } },
      context,
    );
    expect(verdict.gate).toBe("unknown_target");
    expect(decideApproval({ permission: "write", toolName: "x", description: "" }, context).action).toBe(
      "ask",
    );
  });
});
