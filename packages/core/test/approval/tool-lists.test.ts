import { describe, expect, test } from "bun:test";
import { ToolLists } from "../../src/approval/tool-lists.ts";
import type { ApprovalRequest } from "../../src/tool/types.ts";

function request(toolName: string, permission: ApprovalRequest["permission"]): ApprovalRequest {
  return { toolName, permission, description: toolName };
}

describe("ToolLists.addRules()", () => {
  test("allows before the configured rules and denies after them, only for the tool's own requests", () => {
    const lists = new ToolLists({ allowed: ["bash(git log:*), Edit"], disallowed: ["bash(rm *)"] });
    const configured = { permission: "execute", pattern: "git log -p", action: "ask" } as const;
    expect(lists.addRules(request("bash", "execute"), [configured])).toEqual([
      { permission: "execute", pattern: "git log", action: "allow" },
      { permission: "execute", pattern: "git log *", action: "allow" },
      configured,
      { permission: "execute", pattern: "rm *", action: "deny" },
    ]);
    expect(lists.addRules(request("other", "execute"), [configured])).toEqual([configured]);
    expect(lists.addRules(request("network", "fetch"))).toEqual([]);
  });

  test("reads patterns with spaces and commas in parentheses, names with stars, and domain:", () => {
    const lists = new ToolLists({ allowed: ["edit(src/{a,b}/**) WebFetch(domain:x.org),mcp__git__*"] });
    const patterns = (tool: string) => lists.addRules(request(tool, "write")).map(({ pattern }) => pattern);
    expect([patterns("edit"), patterns("web_fetch"), patterns("mcp__git__push")]).toEqual([
      ["src/{a,b}/**"],
      ["x.org"],
      ["*"],
    ]);
    expect(patterns("mcp__github__push")).toEqual([]);
  });
});

test("ToolLists.isDisallowed() holds for whole tools only, and for patches with edit or write", () => {
  const lists = new ToolLists({ disallowed: ["Write,bash(curl *)", "mcp__git__*"] });
  const names = ["write", "apply_patch", "bash", "edit", "mcp__git__push"];
  expect(names.filter((name) => lists.isDisallowed(name))).toEqual([
    "write",
    "apply_patch",
    "mcp__git__push",
  ]);
});

test("ToolLists.findUnknown() names what is no tool, and leaves tools of servers and stars alone", () => {
  const lists = new ToolLists({ allowed: ["Bash,mcp__a__b,web*"], disallowed: ["raed"] });
  expect(lists.findUnknown(["bash", "read"])).toBe("raed");
  expect(lists.findUnknown(["bash", "raed"])).toBeUndefined();
});

test.each(["bash(", "a/b", "(x)", "bash()"])("ToolLists refuses %p as a list", (text) => {
  expect(() => new ToolLists({ allowed: [text] })).toThrow(RangeError);
});
