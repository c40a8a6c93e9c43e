import { describe, expect, test } from "bun:test";
import { selectTools } from "../../../src/extensions/agents/definition.ts";
import { parseAgent } from "../../../src/extensions/agents/parse-agent.ts";

const FILE = { fileName: "tester", source: ".claude/agents/tester.md" };

function parse(...head: string[]) {
  const parsed = parseAgent(`---\n${head.join("\n")}\n---\nYou test.\n`, FILE);
  return "definition" in parsed ? parsed.definition : parsed.reason;
}

describe("a definition file", () => {
  test("as Claude Code writes it gives name, description, prompt, tools and model", () => {
    const text = [
      "name: code-tester",
      "description: Use this one: it tests.",
      "tools: Read, Grep, Bash",
      "model: sonnet",
      "color: green",
    ];
    expect(parse(...text)).toEqual({
      name: "code-tester",
      description: "Use this one: it tests.",
      prompt: "You test.",
      source: FILE.source,
      tools: { allowed: ["Read", "Grep", "Bash"] },
      model: "sonnet",
      problems: ["its frontmatter is not valid YAML and was read line by line"],
    });
  });

  test("as opencode writes it is named after its file, and its permissions become rules", () => {
    const text = [
      "description: Tests.",
      "mode: subagent",
      "steps: 12",
      "tools:",
      "  write: false",
      "permission:",
      "  edit: deny",
      "  bash:",
      '    "*": deny',
      '    "git *": allow',
    ];
    expect(parse(...text)).toMatchObject({
      name: "tester",
      tools: { denied: ["write"] },
      maxTurns: 12,
      rules: [
        { permission: "write", pattern: "**", action: "deny" },
        { permission: "execute", pattern: "*", action: "deny" },
        { permission: "execute", pattern: "git *", action: "allow" },
      ],
    });
  });

  test("with Bash(git:*) may run only these commands", () => {
    expect(parse("description: d", "tools: Read, Bash(git:*), Bash(npm test)")).toMatchObject({
      rules: [
        { permission: "execute", pattern: "*", action: "deny" },
        { permission: "execute", pattern: "git *", action: "allow" },
        { permission: "execute", pattern: "npm test", action: "allow" },
      ],
    });
  });

  test("that would loosen what its parent may do does not", () => {
    const definition = parse("description: d", "permissionMode: bypassPermissions");
    expect(definition).toEqual({
      name: "tester",
      description: "d",
      prompt: "You test.",
      source: FILE.source,
      tools: {},
    });
  });

  test.each([
    ["has no description", ["name: x"], "it has no description"],
    [
      "has control characters in its name",
      ['name: "a\\u001b[31m"', "description: d"],
      "its name is not made of",
    ],
    ["names a path", ["name: ../../x", "description: d"], "its name is not made of"],
    ["is for the main conversation", ["description: d", "mode: primary"], "its mode is primary"],
    ["is disabled", ["description: d", "disable: true"], "it is disabled"],
  ])("that %s defines no sub-agent", (_, head, reason) => {
    expect(parse(...head)).toStartWith(reason);
  });

  test.each(["", "---", "---\n", "---\n---", "---\n[\n---\nx", "\u0000\ufffd", "---\n: :\n- -\n---\n"])(
    "that is damaged (%j) gives a reason and does not throw",
    (text) => {
      expect(parseAgent(text, FILE)).toHaveProperty("reason");
    },
  );
});

describe("selectTools()", () => {
  const NAMES = ["read", "grep", "edit", "write", "apply_patch", "bash", "job_output", "recall", "ask_user"];
  const ALL = [...NAMES, "mcp__docs__search"];
  const select = (selection: Parameters<typeof selectTools>[0]) => [...selectTools(selection, ALL)].sort();

  test("gives everything but questions to the user without a selection", () => {
    expect(select({})).toEqual(ALL.filter((name) => name !== "ask_user").sort());
  });

  test("knows the names of other agents, and gives what belongs to a tool with it", () => {
    expect(select({ allowed: ["Read", "Bash(git *)"] })).toEqual(["bash", "job_output", "read", "recall"]);
    expect(select({ allowed: ["MultiEdit"] })).toEqual(["apply_patch", "edit", "recall"]);
  });

  test("takes away what is denied, by name and by pattern", () => {
    expect(select({ denied: ["Edit", "Write", "Bash", "mcp__docs__*"] })).toEqual(["grep", "read", "recall"]);
  });

  test("never gives a tool that the session does not have", () => {
    expect(select({ allowed: ["WebSearch", "NotebookEdit"] })).toEqual(["recall"]);
  });
});
