import { afterEach, describe, expect, test } from "bun:test";
import { decideApproval } from "../../src/approval/policy.ts";
import type { ApprovalMode, PermissionRule } from "../../src/approval/types.ts";
import { endAllProcesses } from "../../src/infrastructure/process/all-processes.ts";
import type { SandboxState } from "../../src/infrastructure/process/shell-wrapper.ts";
import { makeTempDir } from "../support/temp-dir.ts";

afterEach(endAllProcesses);

const BOXED: SandboxState = {
  kind: "boxed",
  mayLeave: true,
  wrapper: { wrapCommand: () => Promise.reject(new Error("not run")), leave: () => () => [] },
};

const TRY: PermissionRule = { permission: "execute", pattern: "npm *", action: "try" };

async function decide(
  command: string,
  rules: readonly PermissionRule[],
  { mode = "ask", ...details }: { mode?: ApprovalMode; outsideSandbox?: true; detach?: true } = {},
): Promise<string> {
  const root = makeTempDir();
  const verdict = await decideApproval(
    { permission: "execute", toolName: "bash", description: "bash", details: { command, ...details } },
    { root, cwd: root, rules, mode, sandboxState: async () => BOXED },
  );
  return `${verdict.action} ${verdict.gate}${verdict.tries ? " tries" : ""}`;
}

describe("a rule with the action try", () => {
  test.each([
    ["npm ci", {}],
    ["ls && npm ci", {}],
    ["npm ci --prefix $(pwd)", {}],
    ["npm ci", { outsideSandbox: true as const }],
    ["npm run watch", { detach: true as const }],
    ["npm ci", { mode: "auto" as const }],
    ["npm ci", { mode: "deny" as const }],
  ])("lets %p be tried without a question: %p", async (command, how) => {
    expect(await decide(command, [TRY], how)).toBe("allow rule tries");
  });

  test("leaves other commands as they are", async () => {
    expect(await decide("make", [TRY])).toBe("allow sandbox");
    expect(await decide("make", [TRY], { mode: "auto" })).toBe("allow sandbox");
  });

  test("is weaker than a rule that denies or asks about another part of the line, and than the mode plan", async () => {
    const deny: PermissionRule = { permission: "execute", pattern: "curl *", action: "deny" };
    expect(await decide("npm ci && curl x", [TRY, deny])).toBe("deny rule");
    expect(await decide("npm ci && curl x", [TRY, { ...deny, action: "ask" }])).toBe("ask rule tries");
    expect(await decide("npm ci", [TRY], { mode: "plan" })).toBe("deny plan_mode");
  });

  test("is replaced by a later rule for the same command", async () => {
    expect(await decide("npm ci", [TRY, { ...TRY, action: "allow" }])).not.toContain("tries");
  });

  test("asks where nothing can be tried: for files and for other tools", async () => {
    const root = makeTempDir();
    const rules: PermissionRule[] = [
      { permission: "write", pattern: "**", action: "try" },
      { permission: "execute", pattern: "*", action: "try" },
    ];
    const context = { root, cwd: root, rules };
    const path = `${root}/file`;
    const write = { permission: "write" as const, toolName: "write", description: "", details: { path } };
    const other = { permission: "execute" as const, toolName: "deploy", description: "", details: {} };
    for (const request of [write, other]) {
      const { action, gate, tries } = await decideApproval(request, context);
      expect([action, gate, tries]).toEqual(["ask", "rule", undefined]);
    }
  });
});
