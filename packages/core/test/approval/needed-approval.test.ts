import { describe, expect, test } from "bun:test";
import { findNeededApproval } from "../../src/approval/needed-approval.ts";
import { decideApproval } from "../../src/approval/policy.ts";
import type { ApprovalContext } from "../../src/approval/types.ts";
import type { ApprovalRequest, NeededApproval, PermissionRule } from "../../src/tool/types.ts";
import { createEverydayProject } from "../support/everyday-project.ts";

const wrapper = {
  wrapCommand: () => {
    throw new Error("Deciding runs nothing.");
  },
  leave: () => () => [],
};
const BOXED: Partial<ApprovalContext> = {
  sandboxState: async () => ({ kind: "boxed", mayLeave: true, wrapper }),
};

const allow = (pattern: string): PermissionRule => ({ permission: "execute", pattern, action: "allow" });
const bash = (command: string, more: object = {}): ApprovalRequest => ({
  ...{ permission: "execute", toolName: "bash", description: "" },
  details: { command, ...more },
});

/** What a request needs that is refused where nobody can be asked. */
async function needed(
  request: ApprovalRequest,
  more: Partial<ApprovalContext> = {},
): Promise<NeededApproval | undefined> {
  using project = createEverydayProject({ isHostile: false });
  const context: ApprovalContext = { root: project.root, cwd: project.root, mode: "deny", ...more };
  const verdict = await decideApproval(request, context);
  expect(verdict).toMatchObject({ action: "deny", wouldAsk: true });
  const { mode, ...found } = (await findNeededApproval(request, verdict, context)) ?? {};
  expect(mode).toBe("auto");
  // What is said to be enough is.
  if (found.rules) {
    const rules = [...(more.rules ?? []), ...found.rules];
    expect(await decideApproval(request, { ...context, rules })).toMatchObject({ action: "allow" });
  }
  return found;
}

describe("the advice for a denied command line", () => {
  test.each<[string, NeededApproval]>([
    ["git push", { rules: [allow("git push")] }],
    ["echo a && git push", { parts: ["git push"], rules: [allow("git push")] }],
    [
      "npm test && ls && git push origin main",
      {
        parts: ["npm test", "git push origin main"],
        rules: [allow("npm test"), allow("git push origin main")],
      },
    ],
    ["cd src && npm test; npm test", { parts: ["npm test"], rules: [allow("npm test")] }],
    [
      'git commit -m "two words"',
      { parts: ["git commit -m two words"], rules: [allow("git commit -m two*words")] },
    ],
    ["cd /tmp && git push", { parts: ["cd /tmp", "git push"] }],
    ["a=$(git push); echo $a", {}],
    ["echo x > y; git push", {}],
  ])("without a sandbox: %p", async (command, expected) => {
    expect(await needed(bash(command))).toEqual(expected);
  });

  test.each<[string, NeededApproval]>([
    ["make && git push --force", { parts: ["git push --force"], rules: [allow("git push --force")] }],
    ["echo x > y; git branch -D a", { parts: ["git branch -D a"], rules: [allow("git branch -D a")] }],
    ["rm -rf .git", { rules: [allow("rm -rf .git")] }],
    ["echo x > .git/HEAD", {}],
  ])("in the sandbox: %p", async (command, expected) => {
    expect(await needed(bash(command), BOXED)).toEqual(expected);
  });

  test("outside the sandbox names a rule for each of its commands", async () => {
    expect(await needed(bash("ls && git push", { outsideSandbox: true }), BOXED)).toEqual({
      parts: ["ls", "git push"],
      rules: [allow("ls"), allow("git push")],
    });
  });

  test("names a rule that follows the one that asks", async () => {
    const rules: PermissionRule[] = [{ permission: "execute", pattern: "npm", action: "ask" }];
    expect(await needed(bash("make && npm test"), { ...BOXED, rules })).toEqual({
      parts: ["npm test"],
      rules: [allow("npm test")],
    });
  });

  test("names no rule if another rule denies the command", async () => {
    const rules: PermissionRule[] = [{ permission: "read", pattern: "**/*.pem", action: "deny" }];
    expect(await needed(bash("make keys"), { rules })).toEqual({ rules: [allow("make keys")] });
  });
});

test.each<[string, ApprovalRequest["permission"], string, string | undefined]>([
  ["a protected file", "write", "CLAUDE.md", "CLAUDE.md"],
  ["git's settings, which no rule opens", "write", ".git/config", undefined],
  ["a file elsewhere", "read", "/etc/hostname", "/etc/hostname"],
  ["a name with characters that patterns know", "write", ".env.[1]", undefined],
])("a denied file needs a rule that names it: %s", async (_, permission, path, pattern) => {
  const request = { permission, toolName: permission, description: "", details: { path } };
  const rules = pattern === undefined ? [] : [{ permission, pattern, action: "allow" as const }];
  expect(await needed(request)).toEqual(pattern === undefined ? {} : { rules });
});

describe("in the mode auto, a command that takes away what could not be restored", () => {
  const AUTO: Partial<ApprovalContext> = { mode: "auto", canRestoreHistory: false };

  const decide = async (command: string, more: Partial<ApprovalContext> = {}) => {
    using project = createEverydayProject({ isHostile: false });
    const context = { root: project.root, cwd: project.root, ...AUTO, ...more };
    const verdict = await decideApproval(bash(command), context);
    return { verdict, needed: await findNeededApproval(bash(command), verdict, context) };
  };

  test.each(["rm -rf .git", "make && git branch -D a", "x=$(find .git -delete)"])(
    "asks: %p",
    async (command) => {
      expect((await decide(command)).verdict).toMatchObject({
        action: "ask",
        gate: "shell_command",
        reason: expect.stringMatching(/, and undo could not restore it$/),
      });
    },
  );

  test("needs a rule, since the mode is not enough", async () => {
    const { needed } = await decide("make && git branch -D a");
    expect(needed).toEqual({ parts: ["git branch -D a"], rules: [allow("git branch -D a")] });
    const ruled = await decide("make && git branch -D a", { rules: [allow("git branch -D *")] });
    expect(ruled.verdict.action).toBe("allow");
  });

  test("passes after an answer that always allows it", async () => {
    const { verdict } = await decide("git stash drop");
    using project = createEverydayProject({ isHostile: false });
    const context = { root: project.root, cwd: project.root, ...AUTO };
    const first = await decideApproval(bash("git stash drop"), context);
    expect([verdict.action, first.grants?.length]).toEqual(["ask", 1]);
    const again = await decideApproval(bash("git stash drop"), { ...context, grants: first.grants });
    expect(again.action).toBe("allow");
  });

  test.each(["git status", "rm -rf build", "git push", "npm test > .gitignore"])(
    "is not this one: %p",
    async (command) => {
      expect((await decide(command)).verdict).toMatchObject({ action: "allow", gate: "auto_mode" });
    },
  );

  test("passes where it could be restored", async () => {
    const { verdict } = await decide("rm -rf .git", { canRestoreHistory: true });
    expect(verdict).toMatchObject({ action: "allow", gate: "auto_mode" });
  });
});
