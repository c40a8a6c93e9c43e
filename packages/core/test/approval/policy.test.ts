import { afterAll, describe, expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { decideApproval } from "../../src/approval/policy.ts";
import type {
  ApprovalContext,
  ApprovalMode,
  ApprovalVerdict,
  PermissionRule,
} from "../../src/approval/types.ts";
import type { ApprovalRequest } from "../../src/tool/types.ts";

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

async function gateFor(
  permission: ApprovalRequest["permission"],
  path: string,
  using = context,
): Promise<string> {
  const request: ApprovalRequest = { permission, toolName: "tool", description: "tool", details: { path } };
  const { action, gate } = await decideApproval(request, using);
  return `${action} ${gate}`;
}

describe("inside the project", () => {
  test("reading and writing need no approval, whether or not the file exists", async () => {
    expect(await gateFor("read", join(root, "src"))).toBe("allow project");
    expect(await gateFor("write", join(root, "src", "new", "deep", "file.ts"))).toBe("allow project");
    expect(await gateFor("read", root)).toBe("allow project");
  });

  test("reading protected files needs no approval", async () => {
    expect(await gateFor("read", join(root, ".git", "config"))).toBe("allow project");
  });

  test("a link that stays inside needs no approval", async () => {
    expect(await gateFor("write", join(root, "inner-link", "a.ts"))).toBe("allow project");
  });

  test("a root that is reached through a link is the same project", async () => {
    expect(await gateFor("write", join(root, "a.ts"), { root: join(top, "alias"), cwd: root })).toBe(
      "allow project",
    );
    expect(await gateFor("write", join(top, "alias", "a.ts"))).toBe("allow project");
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
    test(`${name} asks for reading and for writing`, async () => {
      expect([await gateFor("read", path), await gateFor("write", path)]).toEqual([
        "ask outside_project",
        "ask outside_project",
      ]);
    });
  }

  const isLinux = process.platform === "linux";
  test.if(isLinux)("a name in another Unicode normal form is another name", async () => {
    const [composed, decomposed] = ["caf\u00e9", "cafe\u0301"].map((name) => join(top, name));
    if (composed === undefined || decomposed === undefined) throw new Error("There are two names.");
    mkdirSync(composed);
    const inComposed = { ...context, root: composed, cwd: composed };
    expect(await gateFor("write", join(composed, "a.ts"), inComposed)).toBe("allow project");
    expect(await gateFor("write", join(decomposed, "a.ts"), inComposed)).toBe("ask outside_project");
  });

  test("a relative path starts from the working directory", async () => {
    expect(await gateFor("read", "../elsewhere/secret")).toBe("ask outside_project");
    expect(await gateFor("read", "../src", { ...context, cwd: join(root, "src") })).toBe("allow project");
  });

  test("a loop of links asks", async () => {
    expect(await gateFor("read", join(root, "loop-a", "x"))).toBe("ask unknown_target");
  });

  test("a path with a null byte asks", async () => {
    expect(await gateFor("read", `${root}/a\0b`)).toBe("ask unknown_target");
  });

  test("the reason names where a link leads", async () => {
    const details = { path: join(root, "link", "secret") };
    const verdict = await decideApproval(
      { permission: "read", toolName: "read", description: "", details },
      context,
    );
    expect(verdict.reason).toBe(
      `${root}/link/secret leads to ${outside}/secret, which is outside the project ${root}`,
    );
  });
});

describe("the session's temporary directory", () => {
  test("may be read but not written", async () => {
    expect(await gateFor("read", join(temporaryDirectory, "call_1.txt"))).toBe("allow session_files");
    expect(await gateFor("read", temporaryDirectory)).toBe("allow session_files");
    expect(await gateFor("write", join(temporaryDirectory, "call_1.txt"))).toBe("ask outside_project");
  });

  test("a link inside it does not widen it", async () => {
    symlinkSync(join(outside, "secret"), join(temporaryDirectory, "out.txt"));
    expect(await gateFor("read", join(temporaryDirectory, "out.txt"))).toBe("ask outside_project");
  });

  test("paths beside it ask", async () => {
    expect(await gateFor("read", join(top, "session-temp-2", "x"))).toBe("ask outside_project");
  });
});

describe("protected files", () => {
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
    test(`writing ${JSON.stringify(name)} asks`, async () => {
      expect(await gateFor("write", join(root, name))).toBe("ask control_file");
    });
  }

  test("names that only resemble a protected name need no approval", async () => {
    for (const name of [
      ".gitignore",
      ".github/README.md",
      "CLAUDE.md.txt",
      "src/env.ts",
      "workflows/ci.yml",
      "git/x",
    ]) {
      expect(`${name}: ${await gateFor("write", join(root, name))}`).toBe(`${name}: allow project`);
    }
  });

  test("a project whose own path contains such a name is not protected as a whole", async () => {
    const inner = join(root, ".git", "worktree");
    mkdirSync(inner, { recursive: true });
    expect(await gateFor("write", join(inner, "a.ts"), { root: inner, cwd: inner })).toBe("allow project");
  });
});

describe("other requests", () => {
  test("an unknown tool asks", async () => {
    const request: ApprovalRequest = {
      permission: "execute",
      toolName: "deploy",
      description: "",
      details: { to: "x", at: 1 },
    };
    expect(await decideApproval(request, context)).toEqual({
      action: "ask",
      gate: "shell_command",
      reason: "deploy may do more than read",
      grants: [{ kind: "call", tool: "deploy", details: '{"at":1,"to":"x"}' }],
    });
  });

  test("a tool with an argument `command` is not treated as a shell", async () => {
    const request: ApprovalRequest = {
      permission: "execute",
      toolName: "deploy",
      description: "",
      details: { command: "ls" },
    };
    expect((await decideApproval(request, context)).reason).toBe("deploy may do more than read");
  });

  test("a request without a path asks", async () => {
    const verdict = await decideApproval(
      { permission: "read", toolName: "x", description: "", details: { path: 7 } },
      context,
    );
    expect(verdict.gate).toBe("unknown_target");
    const bare = await decideApproval({ permission: "write", toolName: "x", description: "" }, context);
    expect(bare.action).toBe("ask");
  });
});

describe("modes", () => {
  const requests: Record<string, ApprovalRequest> = {
    "read inside": {
      permission: "read",
      toolName: "read",
      description: "",
      details: { path: join(root, "a") },
    },
    "read outside": { permission: "read", toolName: "read", description: "", details: { path: outside } },
    "write inside": {
      permission: "write",
      toolName: "write",
      description: "",
      details: { path: join(root, "a") },
    },
    ls: { permission: "execute", toolName: "bash", description: "", details: { command: "ls" } },
    make: { permission: "execute", toolName: "bash", description: "", details: { command: "make" } },
    other: { permission: "execute", toolName: "other", description: "" },
  };
  const expected: Record<ApprovalMode, ApprovalVerdict["action"][]> = {
    ask: ["allow", "ask", "allow", "allow", "ask", "ask"],
    "accept-edits": ["allow", "ask", "allow", "allow", "ask", "ask"],
    auto: ["allow", "allow", "allow", "allow", "allow", "allow"],
    deny: ["allow", "deny", "allow", "allow", "deny", "deny"],
    plan: ["allow", "ask", "deny", "deny", "deny", "deny"],
  };
  for (const mode of ["ask", "accept-edits", "auto", "deny", "plan"] as const) {
    test(mode, async () => {
      const verdicts = await Promise.all(
        Object.values(requests).map((request) => decideApproval(request, { ...context, mode })),
      );
      expect(verdicts.map(({ action }) => action)).toEqual(expected[mode]);
    });
  }

  test("a rule that denies applies in every mode", async () => {
    const rules: PermissionRule[] = [{ permission: "execute", pattern: "make *", action: "deny" }];
    const request: ApprovalRequest = {
      permission: "execute",
      toolName: "bash",
      description: "",
      details: { command: "echo $(make clean)" },
    };
    for (const mode of ["ask", "auto", "deny"] as const) {
      expect(await decideApproval(request, { ...context, mode, rules })).toMatchObject({
        action: "deny",
        gate: "rule",
      });
    }
  });
});

describe("secrets inside the project", () => {
  test("ask before they are read, not before they are written", async () => {
    expect(await gateFor("read", join(root, "config", "server.pem"))).toBe("ask secret");
    expect(await gateFor("write", join(root, "config", "server.pem"))).toBe("allow project");
    expect(await gateFor("read", join(root, ".env"))).toBe("ask secret");
  });

  test("links with harmless names are evaluated by their target, and links with secret names as secrets", async () => {
    writeFileSync(join(root, ".env"), "KEY=1");
    symlinkSync(join(root, ".env"), join(root, "notes.txt"));
    symlinkSync(join(root, "src"), join(root, "to-src.pem"));
    expect(await gateFor("read", join(root, "notes.txt"))).toBe("ask secret");
    expect(await gateFor("read", join(root, "to-src.pem"))).toBe("ask secret");
  });
});
