import { describe, expect, test } from "bun:test";
import { symlinkSync } from "node:fs";
import { join } from "node:path";
import { expandTemplate } from "../../../src/extensions/prompt-commands/expand-template.ts";
import { findCommands } from "../../../src/extensions/prompt-commands/find-commands.ts";
import { COMMAND_TRUST } from "../../../src/extensions/prompt-commands/trust.ts";
import type { ConfigPlace } from "../../support/config-place.ts";
import { makeDefinitionPlace } from "../../support/definition-files.ts";

const find = ({ project, environment }: ConfigPlace, cwd = project) =>
  findCommands({ cwd, root: project, environment });

/** One file in the layout of each agent, as its users write it. */
const PEERS = {
  "project/.diligent/commands/own.md": "Own $1.",
  "project/.claude/commands/frontend/component.md":
    "---\ndescription: Adds a component\nargument-hint: [name]\nallowed-tools: Bash(git status:*), Read\nmodel: haiku\n---\nAdd $ARGUMENTS.\n\n!`git status --short`\n",
  "project/.opencode/commands/test.md":
    "---\ndescription: Runs tests\nagent: build\nsubtask: true\n---\nTest $1: $2, see @package.json",
  "project/.opencode/command/old.md": "Old.",
  "project/.gemini/commands/git/commit.toml":
    'description = "Writes a commit"\nprompt = """\nCommit {{args}}:\n!{git diff --staged}\n"""\n',
  "project/.pi/prompts/pr.md": `---\ndescription: Opens a PR\n---\nPR for \${1:-main}: $@`,
  "project/packages/x/.claude/commands/near.md": "Near.",
  ".config/diligent/commands/mine.md": "Mine.",
  ".claude/commands/home.md": "Home.",
  ".config/opencode/commands/oc.md": "OC.",
  ".codex/prompts/draft.md": "---\ndescription: Drafts\nargument-hint: FILE=<path>\n---\nDraft $FILE.",
  ".gemini/commands/g.toml": 'prompt = "G."',
  ".pi/agent/prompts/p.md": "P.",
};

describe("findCommands()", () => {
  test("finds the commands of every agent, with namespaces by folders", async () => {
    const place = makeDefinitionPlace(PEERS);
    const { commands, skipped } = await find(place, join(place.project, "packages", "x"));
    expect(skipped).toEqual([]);
    expect(Object.fromEntries(commands.map(({ name, shown }) => [name, shown]))).toEqual({
      near: "packages/x/.claude/commands/near.md",
      own: ".diligent/commands/own.md",
      "frontend:component": ".claude/commands/frontend/component.md",
      test: ".opencode/commands/test.md",
      old: ".opencode/command/old.md",
      "git:commit": ".gemini/commands/git/commit.toml",
      pr: ".pi/prompts/pr.md",
      mine: "~/.config/diligent/commands/mine.md",
      home: "~/.claude/commands/home.md",
      oc: "~/.config/opencode/commands/oc.md",
      "prompts:draft": "~/.codex/prompts/draft.md",
      g: "~/.gemini/commands/g.toml",
      p: "~/.pi/agent/prompts/p.md",
    });
  });

  test.each([
    ["frontend:component", "a b", "Add a b.\n\n<git status --short>", []],
    ["test", "unit a b", "Test unit: a b, see @package.json", ["package.json"]],
    ["git:commit", "it's", "Commit it's:\n<git diff --staged>", []],
    ["pr", "", "PR for main: ", []],
    ["prompts:draft", "FILE=a.ts", "Draft a.ts.", []],
  ])("%s is expanded as its agent does", async (name, args, text, mentions) => {
    const { commands } = await find(makeDefinitionPlace(PEERS));
    const command = commands.find((each) => each.name === name);
    if (!command) throw new Error(`${name} is missing`);
    const run = async (line: string) => `<${line}>\n`;
    expect(await expandTemplate(command.template, args, run)).toEqual({ text, mentions });
  });

  test("reads descriptions, hints, models and what a command runs", async () => {
    const { commands } = await find(makeDefinitionPlace(PEERS));
    const component = commands.find(({ name }) => name === "frontend:component");
    expect(component).toMatchObject({
      description: "Adds a component",
      argumentHint: "[name]",
      model: "haiku",
      allowedTools: ["Bash(git status:*)", "Read"],
      shellCommands: ["git status --short"],
    });
    expect(commands.find(({ name }) => name === "own")?.description).toBe("Own $1.");
    expect(commands.find(({ name }) => name === "test")).toMatchObject({ agent: "build" });
  });

  test("skips what has no prompt, and makes names of which every character can be entered", async () => {
    const place = makeDefinitionPlace({
      "elsewhere.md": "Outside.",
      "project/.claude/commands/empty.md": "---\ndescription: x\n---\n\n",
      "project/.claude/commands/bad head.md": "---\ndescription: a: b\nallowed-tools: [x\n---\nText.",
      "project/.claude/commands/a\u001b[2J/v1.2.md": "Text.",
      "project/.claude/commands/日本.md": "Text.",
      "project/.claude/commands/.hidden.md": "Text.",
      "project/.claude/commands/notes.txt": "Text.",
      "project/.gemini/commands/broken.toml": 'prompt = "',
      "project/.gemini/commands/none.toml": "description = 1",
      "project/.gemini/commands/text.md": "Not TOML.",
    });
    symlinkSync(join(place.home, "elsewhere.md"), join(place.project, ".claude", "commands", "link.md"));
    const { commands, skipped } = await find(place);
    expect(commands.map(({ name, description }) => [name, description])).toEqual([
      ["bad-head", "a: b"],
      ["a-2J:v1-2", "Text."],
    ]);
    expect(skipped.map(({ shown, reason }) => `${shown}: ${reason}`)).toEqual([
      ".claude/commands/empty.md: it has no text",
      ".claude/commands/日本.md: its name has no letter or digit of a-z and 0-9",
      ".claude/commands/link.md: it is a link out of the project",
      expect.stringContaining(".gemini/commands/broken.toml: it is not valid TOML: "),
      ".gemini/commands/none.toml: it has no prompt",
    ]);
  });

  test("trust in a project shows what its commands run", async () => {
    const { project: root, environment } = makeDefinitionPlace(PEERS);
    const { items } = await COMMAND_TRUST.find({ root, environment });
    expect(items.map(({ name }) => name)).toContain("near");
    expect(items.find(({ name }) => name === "frontend:component")?.details).toEqual({
      description: "Adds a component",
      runs: "git status --short",
      "allowed-tools": "Bash(git status:*), Read",
      model: "haiku",
    });
  });
});

test("expandTemplate() fences long output, reads nothing in it as a template, and stops at the first refusal", async () => {
  const style = { missing: "keep", marks: "backticks", shell: "after_space", appended: "labelled" } as const;
  const template = { text: "A !`one` B !`two $1`", style, argumentNames: [] };
  const outputs: Record<string, string> = { one: "$1 !`evil` @secret\n", "two x": "```\n$ARGUMENTS\n" };
  const { text, mentions } = await expandTemplate(template, "x", async (line) => outputs[line] ?? "?");
  expect(text).toBe("A $1 !`evil` @secret B \n````\n```\n$ARGUMENTS\n````\n");
  expect(mentions).toEqual([]);
  const run: string[] = [];
  const refused = expandTemplate(template, "x", async (line) => {
    run.push(line);
    throw new Error("refused");
  });
  await expect(refused).rejects.toThrow("refused");
  expect(run).toEqual(["one"]);
});
