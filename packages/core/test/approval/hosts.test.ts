import { describe, expect, test } from "bun:test";
import { describeGrant } from "../../src/approval/grants.ts";
import { findNeededApproval } from "../../src/approval/needed-approval.ts";
import { decideApproval } from "../../src/approval/policy.ts";
import type { ApprovalContext, ApprovalMode, PermissionRule } from "../../src/approval/types.ts";

function decide(host: string, context: Partial<ApprovalContext> = {}, port = 443) {
  return decideApproval(toRequest(host, port), { root: "/project", cwd: "/project", ...context });
}

function toRequest(host: string, port = 443) {
  const details = { host, port, command: "curl" };
  return { permission: "fetch", toolName: "network", description: "network", details } as const;
}

const rule = (action: PermissionRule["action"], pattern: string): PermissionRule => ({
  permission: "fetch",
  pattern,
  action,
});

describe("a host that no list names", () => {
  test("is asked about in every mode in which somebody is asked, also in auto", async () => {
    const modes: readonly ApprovalMode[] = ["ask", "accept-edits", "plan", "auto"];
    for (const mode of modes)
      expect(await decide("a.example", { mode })).toEqual({
        action: "ask",
        gate: "network",
        reason: "a.example:443 is not among the hosts that commands may reach",
        grants: [{ kind: "host", pattern: "a.example" }],
      });
  });

  test("is refused in the mode deny, and a rule for exactly this host would allow it", async () => {
    const context = { root: "/project", cwd: "/project", mode: "deny" } as const;
    const verdict = await decide("a.example", context, 8443);
    expect(verdict).toMatchObject({ action: "deny", gate: "network", wouldAsk: true });
    expect(await findNeededApproval(toRequest("a.example", 8443), verdict, context)).toEqual({
      rules: [rule("allow", "a.example:8443")],
    });
  });

  test("is allowed by an earlier answer for this host and port, and no other", async () => {
    const grants = [{ kind: "host", pattern: "a.example" }] as const;
    const actions = async (host: string, port: number) => (await decide(host, { grants }, port)).action;
    expect(await actions("a.example", 443)).toBe("allow");
    expect(await actions("a.example", 80)).toBe("allow");
    expect(await actions("a.example", 22)).toBe("ask");
    expect(await actions("b.a.example", 443)).toBe("ask");
    expect(grants.map(describeGrant)).toEqual(["connections of sandboxed commands to a.example"]);
  });

  test("is decided by the last rule for it", async () => {
    const rules = [rule("allow", "*.example"), rule("allow", "*.a.example"), rule("deny", "c.a.example")];
    const actions = async (host: string, port?: number) => (await decide(host, { rules }, port)).action;
    expect(await actions("b.a.example")).toBe("allow");
    expect(await actions("b.a.example", 22)).toBe("ask");
    expect(await actions("c.a.example")).toBe("deny");
    expect(await actions("c.a.example", 22)).toBe("deny");
    expect(await actions("other.example")).toBe("ask");
  });

  test("that a rule denies stays denied with an earlier answer, and in auto", async () => {
    const grants = [{ kind: "host", pattern: "a.example" }] as const;
    const rules = [rule("deny", "*")];
    expect(await decide("a.example", { grants, rules, mode: "auto" })).toMatchObject({
      action: "deny",
      gate: "rule",
    });
  });

  test("is not touched by rules about commands", async () => {
    const rules: PermissionRule[] = [{ permission: "execute", pattern: "*", action: "allow" }];
    expect((await decide("a.example", { rules })).action).toBe("ask");
  });
});
