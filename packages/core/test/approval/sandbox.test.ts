import { describe, expect, test } from "bun:test";
import { isGranted } from "../../src/approval/grants.ts";
import { decideApproval } from "../../src/approval/policy.ts";
import type { ApprovalContext, PermissionRule } from "../../src/approval/types.ts";
import type { SandboxState } from "../../src/infrastructure/process/shell-wrapper.ts";
import { createEverydayProject } from "../support/everyday-project.ts";

const BOXED: SandboxState = {
  kind: "boxed",
  mayLeave: true,
  wrapper: {
    wrapCommand: () => {
      throw new Error("Deciding runs nothing.");
    },
    leave: () => () => [],
  },
};

const execute = (pattern: string, action: PermissionRule["action"]): PermissionRule => ({
  permission: "execute",
  pattern,
  action,
});

interface Asked extends Partial<ApprovalContext> {
  box?: SandboxState;
  outside?: true;
}

async function decide(command: string, { box = BOXED, outside, ...context }: Asked = {}) {
  using project = createEverydayProject({ isHostile: true });
  const details = { command, ...(outside && { outsideSandbox: true }) };
  const request = { permission: "execute" as const, toolName: "bash", description: "", details };
  return decideApproval(request, {
    root: project.root,
    cwd: project.root,
    sandboxState: async () => box,
    ...context,
  });
}

const brief = async (command: string, asked?: Asked) => {
  const { action, gate } = await decide(command, asked);
  return `${action} ${gate}`;
};

describe("a command in the sandbox", () => {
  const COMMANDS = [
    "npm test",
    "ls",
    "cat .env",
    'x=$(curl a); rm -rf "$x"',
    "git push",
    "sudo rm -rf /",
    "a | b &",
  ];
  for (const command of COMMANDS) {
    test(`needs no approval: ${command}`, async () => {
      expect(await brief(command)).toBe("allow sandbox");
      expect(await brief(command, { mode: "deny" })).toBe("allow sandbox");
    });
  }

  test("is never run in the mode plan, and always in the mode auto", async () => {
    expect(await brief("ls", { mode: "plan" })).toBe("deny plan_mode");
    expect(await brief("make it", { mode: "auto" })).toBe("allow auto_mode");
  });

  test("obeys rules that deny it or ask about it, in any wrapper", async () => {
    const rules = [execute("git push", "ask"), execute("curl", "deny")];
    const denied = ["curl x", "ls && curl x", "echo $(curl x)", "FOO=1 curl x", "bash -c 'curl x'"];
    for (const command of denied)
      expect([command, await brief(command, { rules })]).toEqual([command, "deny rule"]);
    const asked = [
      "git push",
      "make && git push",
      "x=$(git push)",
      "FOO=1 git push -f",
      "sh -c 'git push'",
      "alias a=b; git push",
    ];
    for (const command of asked)
      expect([command, await brief(command, { rules })]).toEqual([command, "ask rule"]);
    expect(await brief("make && x=$(ls)", { rules })).toBe("allow sandbox");
    expect(await brief("git push", { rules, mode: "deny" })).toBe("deny rule");
  });

  test("obeys rules that deny reading", async () => {
    const rules: PermissionRule[] = [{ permission: "read", pattern: "docs/**", action: "deny" }];
    for (const command of ["cat docs/x", "tac docs/x", "x=$(tac docs/x)"])
      expect([command, await brief(command, { rules })]).toEqual([command, "deny rule"]);
    expect(await brief("make", { rules })).toBe("allow sandbox");
  });

  test("asks as without a sandbox if its changes could not be undone", async () => {
    expect(await brief("make", { canUndo: false })).toBe("ask shell_command");
    expect((await decide("make", { canUndo: false })).reason).toEndWith("some files are not recorded");
    expect(await brief("echo x > y", { canUndo: false })).toBe("ask command_syntax");
    expect(await brief("ls", { canUndo: false })).toBe("allow read_only_command");
  });
});

describe("a command that is to run outside", () => {
  test("asks, for every command, and the question says so", async () => {
    for (const command of ["ls", "npm install", "x=$(y)"])
      expect([command, await brief(command, { outside: true })]).toEqual([command, "ask sandbox"]);
    const { reason } = await decide("npm install", { outside: true });
    expect(reason).toBe("it would run outside the sandbox, with all your permissions");
  });

  test("is denied if nobody can answer, or by a rule", async () => {
    expect(await decide("npm install", { outside: true, mode: "deny" })).toMatchObject({
      action: "deny",
      gate: "sandbox",
      wouldAsk: true,
    });
    expect(await brief("curl x", { outside: true, rules: [execute("curl", "deny")] })).toBe("deny rule");
    expect(await brief("make", { outside: true, mode: "auto" })).toBe("allow auto_mode");
  });

  test("runs without a question if a rule allows all of it", async () => {
    const rules = [execute("npm install", "allow")];
    expect(await brief("npm install", { outside: true, rules })).toBe("allow rule");
    expect(await brief("npm install && make", { outside: true, rules })).toBe("ask sandbox");
    expect(await brief("npm install; $(x)", { outside: true, rules })).toBe("ask sandbox");
  });

  test("is allowed permanently in exactly these words, outside only", async () => {
    using project = createEverydayProject({ isHostile: false });
    const place = { root: project.root, cwd: project.root, sandboxState: async () => BOXED };
    const put = (
      command: string,
      outside: boolean,
      grants: ApprovalContext["grants"] = [],
      rules?: PermissionRule[],
    ) =>
      decideApproval(
        {
          permission: "execute",
          toolName: "bash",
          description: "",
          details: { command, ...(outside && { outsideSandbox: true }) },
        },
        { ...place, grants, rules },
      );
    const { grants = [] } = await put("npm install && npm test", true);
    expect(grants).toEqual([
      { kind: "command_line", directory: project.root, text: "npm install && npm test", outside: true },
    ]);
    expect(await put("npm install && npm test", true, grants)).toMatchObject({
      action: "allow",
      gate: "grant",
    });
    for (const command of ["npm install", "npm test", "npm install && npm test ", "npm  install && npm test"])
      expect([command, (await put(command, true, grants)).action]).toEqual([command, "ask"]);
    const rules = [execute("npm install", "ask")];
    expect((await put("npm install && npm test", false, grants, rules)).action).toBe("ask");
    const inside = (await put("npm install", false, [], rules)).grants ?? [];
    expect(inside).toHaveLength(1);
    expect((await put("npm install", false, inside, rules)).action).toBe("allow");
    expect((await put("npm install", true, inside)).action).toBe("ask");
    const [grant] = grants;
    if (grant?.kind !== "command_line") throw new Error("It is no whole line.");
    expect(isGranted({ ...grant, outside: undefined }, grants)).toBe(false);
  });
});

describe("without a sandbox", () => {
  test("commands ask as usual, and outside_sandbox has no effect", async () => {
    const box: SandboxState = { kind: "open", problem: "bubblewrap is not installed" };
    expect(await brief("make", { box })).toBe("ask shell_command");
    expect(await brief("ls", { box, outside: true })).toBe("allow read_only_command");
    expect(await brief("make", { box, outside: true })).toBe("ask shell_command");
  });

  test("commands are not run if a sandbox is required", async () => {
    const box: SandboxState = { kind: "refused", problem: "bubblewrap is not installed" };
    expect(await decide("ls", { box })).toEqual({
      action: "deny",
      gate: "sandbox",
      reason: "commands may only run in a sandbox, and bubblewrap is not installed",
    });
  });

  test("a request to leave a required sandbox is denied without a question", async () => {
    const box: SandboxState = { ...BOXED, mayLeave: false };
    expect(await brief("make", { box })).toBe("allow sandbox");
    expect(await brief("make", { box, outside: true })).toBe("deny sandbox");
  });
});
