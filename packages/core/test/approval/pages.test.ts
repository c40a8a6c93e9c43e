import { describe, expect, test } from "bun:test";
import { describeGrant, type Grant } from "../../src/approval/grants.ts";
import { allowsPrivatePage } from "../../src/approval/hosts.ts";
import { findNeededApproval } from "../../src/approval/needed-approval.ts";
import { decideApproval, selectOfferedTools, withPlanMode } from "../../src/approval/policy.ts";
import type { ApprovalContext, ApprovalMode, PermissionRule } from "../../src/approval/types.ts";
import { createWebFetchTool } from "../../src/tools/web-fetch.ts";

const tool = createWebFetchTool({ environment: {} });

function toRequest(url: string) {
  const request = tool.approval?.({ url });
  if (!request) throw new Error(`${url} is not fetched`);
  return request;
}

const PLACE = { root: "/project", cwd: "/project" };

function decide(url: string, context: Partial<ApprovalContext> = {}) {
  return decideApproval(toRequest(url), { ...PLACE, ...context });
}

const rule = (action: PermissionRule["action"], pattern: string): PermissionRule => ({
  permission: "fetch",
  pattern,
  action,
});

const PAGE = "https://example.com/a?b=c";

describe("a page that the model wants to read", () => {
  test("is asked about by its host, in plan mode too, and allowed in the mode auto", async () => {
    for (const mode of ["ask", "accept-edits", "plan"] satisfies ApprovalMode[])
      expect(await decide(PAGE, { mode })).toMatchObject({
        action: "ask",
        gate: "network",
        reason: "no rule and no earlier answer allows pages of example.com:443",
        grants: [{ kind: "host", pattern: "example.com", tool: "web_fetch" }],
      });
    expect(await decide(PAGE, { mode: "auto" })).toMatchObject({ action: "allow", gate: "auto_mode" });
  });

  test("is refused in the mode deny, and both the mode auto and a rule for the host would allow it", async () => {
    const context = { ...PLACE, mode: "deny" as const };
    const verdict = await decide(PAGE, context);
    expect(verdict).toMatchObject({ action: "deny", wouldAsk: true });
    expect(await findNeededApproval(toRequest(PAGE), verdict, context)).toEqual({
      mode: "auto",
      rules: [rule("allow", "example.com")],
    });
  });

  test("is allowed by an earlier answer about pages of its host, not by one about commands", async () => {
    const page: Grant = { kind: "host", pattern: "example.com", tool: "web_fetch" };
    const command: Grant = { kind: "host", pattern: "example.com" };
    expect(await decide(PAGE, { grants: [page] })).toMatchObject({ action: "allow", gate: "grant" });
    expect(await decide("http://example.com/b", { grants: [page] })).toMatchObject({ action: "allow" });
    for (const url of ["https://www.example.com/", "https://example.com:8443/"])
      expect(await decide(url, { grants: [page] })).toMatchObject({ action: "ask" });
    expect(await decide(PAGE, { grants: [command] })).toMatchObject({ action: "ask" });
    expect(describeGrant(page)).toBe("web_fetch: pages of example.com");
  });

  test("is decided by the last rule for its host; a rule that denies wins over auto and earlier answers", async () => {
    const rules = [rule("allow", "*.example.com"), rule("ask", "private.example.com")];
    expect(await decide("https://docs.example.com/", { rules })).toMatchObject({ action: "allow" });
    expect(await decide("https://private.example.com/", { rules })).toMatchObject({ action: "ask" });
    const denied = {
      rules: [...rules, rule("deny", "docs.example.com")],
      grants: [{ kind: "host", pattern: "docs.example.com", tool: "web_fetch" }] satisfies Grant[],
    };
    for (const mode of ["ask", "plan", "auto"] satisfies ApprovalMode[])
      expect(await decide("https://docs.example.com/", { mode, ...denied })).toMatchObject({
        action: "deny",
        gate: "rule",
      });
  });

  test("is refused at a private address in every mode, unless a rule names the address", async () => {
    const addresses = [
      "http://127.0.0.1:8080/",
      "http://10.0.0.5:8080/",
      "http://169.254.169.254:8080/latest",
      "http://[::1]:8080/",
      "http://[::ffff:127.0.0.1]:8080/",
      "http://2130706433:8080/",
      "http://0x7f.1:8080/",
    ];
    const everything = [rule("allow", "*"), rule("allow", "**")];
    for (const url of addresses) {
      const host = String(toRequest(url).details?.host);
      for (const mode of ["ask", "plan", "auto"] satisfies ApprovalMode[])
        for (const rules of [[], everything, [rule("allow", `${host}:9090`)]])
          expect(await decide(url, { mode, rules })).toMatchObject({ action: "deny", gate: "network" });
      const pattern = host.includes(":") ? `[${host}]:8080` : `${host}:8080`;
      const named = [rule("allow", pattern)];
      expect(await decide(url, { rules: named })).toMatchObject({ action: "allow", gate: "rule" });
      expect(allowsPrivatePage(named, { host, port: 8080 })).toBe(true);
      expect(allowsPrivatePage([...named, rule("deny", host)], { host, port: 8080 })).toBe(false);
      expect(allowsPrivatePage(everything, { host, port: 8080 })).toBe(false);
    }
  });

  test("cannot be wanted if a rule denies all of them; plan mode does not refuse the tool", () => {
    const names = (rules: readonly PermissionRule[]) =>
      selectOfferedTools([tool], { rules }).map(({ name }) => name);
    expect(names([])).toEqual(["web_fetch"]);
    expect(names([rule("deny", "*")])).toEqual([]);
    expect(names([rule("deny", "example.com")])).toEqual(["web_fetch"]);
    expect(names([{ permission: "read", pattern: "*", action: "deny" }])).toEqual(["web_fetch"]);
    expect(withPlanMode(tool, () => "plan")).toBe(tool);
  });
});
