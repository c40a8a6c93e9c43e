import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import type { Grant } from "../../../src/approval/grants.ts";
import { fromClaudeSettings } from "../../../src/approval/import/claude-rules.ts";
import { fromCodexRules } from "../../../src/approval/import/codex-rules.ts";
import { fromOpencodeConfig } from "../../../src/approval/import/opencode-rules.ts";
import type { ForeignRule } from "../../../src/approval/import/types.ts";
import { decideApproval } from "../../../src/approval/policy.ts";

/** Each rule on a line, with what it becomes. */
function show(rules: readonly ForeignRule[]): string[] {
  return rules.map(({ text, rules: become, grants = [] }) => {
    const ours = become.map(({ action, permission, pattern }) => `${action} ${permission} ${pattern}`);
    const kept = grants.map((grant) => `grant ${JSON.stringify(grant)}`);
    return `${text} -> ${[...ours, ...kept].join(" | ") || "nothing"}`;
  });
}

const claude = (permissions: object, scope: "user" | "project" = "project") =>
  fromClaudeSettings({ permissions }, scope);

describe("rules of Claude Code", () => {
  test("become rules of the same meaning, with denials last", () => {
    const rules = claude({
      deny: ["Bash(curl:*)", "Read(.env)", "Read(./secrets/**)", "mcp__github", "WebFetch(domain:x.example)"],
      allow: [
        "Bash(npm run test:*)",
        "Bash(git diff)",
        "Edit(.github/workflows/ci.yml)",
        "mcp__docs__search",
      ],
      ask: ["Bash(git push *)"],
    });
    expect(show(rules)).toEqual([
      "allow Bash(npm run test:*) -> allow execute npm run test | allow execute npm run test *",
      "allow Bash(git diff) -> allow execute git diff",
      "allow Edit(.github/workflows/ci.yml) -> allow write .github/workflows/ci.yml",
      "allow mcp__docs__search -> allow mcp docs__search",
      "ask Bash(git push *) -> ask execute git push",
      "deny Bash(curl:*) -> deny execute curl",
      "deny Read(.env) -> deny read **/.env | deny read **/.env/**",
      "deny Read(./secrets/**) -> deny read secrets/**",
      "deny mcp__github -> deny mcp github__*",
      "deny WebFetch(domain:x.example) -> deny fetch x.example",
    ]);
  });

  test("keep where their paths start", () => {
    const paths = ["//etc/hosts", "~/.zshrc", "/build/", "docs/*.md"].map((path) => `Read(${path})`);
    expect(show(claude({ allow: paths }))).toEqual([
      "allow Read(//etc/hosts) -> allow read /etc/hosts",
      "allow Read(~/.zshrc) -> allow read ~/.zshrc",
      "allow Read(/build/) -> allow read build/**",
      "allow Read(docs/*.md) -> allow read docs/*.md",
    ]);
    expect(show(claude({ allow: ["Read(/build/)"], deny: ["Read(/build/)"] }, "user"))).toEqual([
      "allow Read(/build/) -> nothing",
      "deny Read(/build/) -> deny read build/** | deny read ~/.claude/build/**",
    ]);
  });

  test("become nothing where ours would allow more", () => {
    const rules = claude({
      allow: [
        ...["Read", "Edit", "Edit(**)", "Read(/**)", "Read(/*)", "WebFetch", "WebFetch(domain:*.example)"],
        ...[
          "Bash(a && b)",
          'Bash(git commit -m "x y")',
          "Bash(ls ?)",
          "Read(!x)",
          "Task(explore)",
          "Bash(",
          "",
        ],
      ],
    });
    const allowed = rules.flatMap(({ rules: become }) => become.map(({ pattern }) => pattern));
    expect(allowed).toEqual([]);
    for (const { remark, rules: become } of rules)
      if (become.length === 0) expect(remark).toMatch(/^[A-Z].*\.$/);
  });

  test("allow a host as an answer for this project, only for pages", () => {
    const grant: Grant = { kind: "host", pattern: "docs.example", tool: "web_fetch" };
    expect(claude({ allow: ["WebFetch(domain:Docs.example)"] })[0]?.grants).toEqual([grant]);
    const asked = claude({ allow: ["WebFetch(domain:a.b)"], ask: ["WebFetch(domain:a.b)"] });
    expect(asked.flatMap(({ grants = [] }) => grants)).toEqual([]);
  });

  test("lose what allows when its exception cannot be carried over", () => {
    const rules = claude({ allow: ["Bash(curl:*)", "Bash(npm:*)"], deny: ["Bash(curl * | sh)"] });
    expect(show(rules)).toEqual([
      "allow Bash(curl:*) -> nothing",
      "allow Bash(npm:*) -> allow execute npm | allow execute npm *",
      "deny Bash(curl * | sh) -> nothing",
    ]);
    expect(rules[0]?.remark).toContain("deny Bash(curl * | sh)");
  });

  test("name the settings that are no rules here", () => {
    const rules = claude({ defaultMode: "bypassPermissions", additionalDirectories: ["../x", 7] });
    expect(show(rules)).toEqual([
      "defaultMode bypassPermissions -> nothing",
      "additionalDirectories ../x -> nothing",
    ]);
  });
});

describe("rules of opencode", () => {
  test("keep their order, in which the last one decides", () => {
    const permission = {
      bash: { "*": "ask", "git *": "allow", "rm *": "deny" },
      edit: { "*": "deny", "docs/*.md": "allow" },
      read: { "*.env": "deny" },
      webfetch: "deny",
      "github_*": "ask",
    };
    expect(show(fromOpencodeConfig({ permission }))).toEqual([
      "ask bash -> ask execute *",
      'allow bash "git *" -> allow execute git | allow execute git *',
      'deny bash "rm *" -> deny execute rm | deny execute rm *',
      "deny edit -> deny write **",
      'allow edit "docs/*.md" -> allow write docs/*.md',
      'deny read "*.env" -> deny read {*,*/**/*}.env',
      "deny webfetch -> deny fetch *",
      "ask github_* -> ask mcp github_*",
    ]);
  });

  test("for everything are rules for each kind, and none that allows pages or paths", () => {
    expect(show(fromOpencodeConfig({ permission: "allow" }))).toEqual([
      "allow * -> allow execute * | allow mcp *",
    ]);
    expect(show(fromOpencodeConfig({ tools: { bash: false, read: true } }))).toEqual([
      "deny bash -> deny execute *",
    ]);
  });

  test("that are damaged or have no counterpart are named", () => {
    const permission = { bash: { ls: "maybe" }, grep: "deny", github_search: "allow", webfetch: "allow" };
    const rules = fromOpencodeConfig({ permission });
    expect(rules.flatMap((rule) => rule.rules)).toEqual([]);
    expect(rules.every(({ remark }) => remark !== undefined)).toBe(true);
    for (const broken of [7, null, [], "?"]) {
      const found = fromOpencodeConfig({ permission: broken }).flatMap((rule) => rule.rules);
      expect(found).toEqual([]);
    }
  });
});

describe("rules of Codex", () => {
  test("are read with their alternatives, the strictest last", () => {
    const text = `
      # comment
      prefix_rule(pattern = ["git", ["push", 'fetch']], decision = "prompt", match = ["git push origin main"])
      prefix_rule(
          pattern=["rm"],
          decision="forbidden", # never
          justification = """Use
trash instead.""",
      )
      prefix_rule(pattern = ["gh", "pr", "view"])
      network_rule(host = "api.example", protocol = "https", decision = "deny")
      host_executable(name = "git", paths = ["/usr/bin/git"])
    `;
    expect(show(fromCodexRules(text))).toEqual([
      "allow gh pr view -> allow execute gh pr view | allow execute gh pr view *",
      "host_executable -> nothing",
      "ask git [push fetch] -> ask execute git push | ask execute git fetch",
      "deny rm -> deny execute rm",
      "deny network api.example -> deny fetch api.example",
    ]);
  });

  test("that allow words with spaces or stars become nothing", () => {
    const text = 'prefix_rule(pattern = ["echo", "a b"])\nprefix_rule(pattern = ["ls", "*"])';
    expect(fromCodexRules(text).flatMap((rule) => rule.rules)).toEqual([]);
  });

  test.each([
    ["a variable", 'X = ["git"]\nprefix_rule(pattern = X)'],
    ["an operator", 'prefix_rule(pattern = ["a"] + ["b"])'],
    ["an argument without a name", 'prefix_rule(["git"])'],
    ["no pattern", 'prefix_rule(pattern = [], decision = "forbidden")'],
    ["an unknown decision", 'prefix_rule(pattern = ["a"], decision = "maybe")'],
    ["an unknown rule", 'future_rule(pattern = ["a"])'],
    ["an end in the middle", 'prefix_rule(pattern = ["a"'],
    ["deep lists", `prefix_rule(pattern = ${"[".repeat(5_000)}`],
  ])("are refused as a whole if one of them is not understood: %s", (_, text) => {
    expect(() => fromCodexRules(text)).toThrow(SyntaxError);
  });
});

test("no content of a file makes the import throw anything but a syntax error", () => {
  const value = fc.jsonValue();
  fc.assert(
    fc.property(value, fc.string(), (json, text) => {
      fromClaudeSettings({ permissions: json }, "user");
      fromClaudeSettings(
        { permissions: { allow: [text], deny: [`Read(${text})`], ask: [`Bash(${text})`] } },
        "project",
      );
      fromOpencodeConfig({ permission: json, tools: json });
      fromOpencodeConfig({ permission: { bash: { [text]: "deny" }, [text]: "ask" } });
      try {
        fromCodexRules(text);
      } catch (error) {
        expect(error).toBeInstanceOf(SyntaxError);
      }
    }),
  );
});

test("what another agent denies is denied here, whatever else its file allows", async () => {
  const rules = claude({
    allow: ["Bash", "Bash(curl:*)", "Read(//**)"],
    deny: ["Bash(curl:*)", "Read(.env)", "Read(//etc)"],
  }).flatMap((rule) => rule.rules);
  const context = { root: "/project", cwd: "/project", rules, mode: "auto" as const };
  const read = (path: string) =>
    decideApproval({ permission: "read", toolName: "read", description: "", details: { path } }, context);
  const run = (command: string) =>
    decideApproval(
      { permission: "execute", toolName: "bash", description: "", details: { command } },
      context,
    );
  const verdicts = [run("curl -s x"), run("echo a; timeout 5 curl x"), read(".env"), read("/etc/passwd")];
  expect((await Promise.all(verdicts)).map(({ action }) => action)).toEqual(Array(4).fill("deny"));
  expect((await run("make")).action).toBe("allow");
});
