import { afterEach, beforeEach, expect, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { type SseServer, startSseServer } from "../../core/test/support/sse-server.ts";
import { runDiligent } from "./support/run-diligent.ts";
import { createTemporaryProject, type TemporaryProject } from "./support/temporary-project.ts";
import { ANTHROPIC_SERVICE, environmentFor, wholeReply } from "./support/vendor-service.ts";

let place: TemporaryProject;

beforeEach(() => {
  place = createTemporaryProject();
});

afterEach(() => place.remove());

interface Layout {
  /** Paths from the project; `~/` stands for the home directory. */
  files: Readonly<Record<string, string>>;
  /** What the first request has to contain, whatever the prompt. */
  offered: readonly string[];
  /** Lines that the user enters, and what is sent for them. */
  lines: readonly (readonly [line: string, ...sent: string[]])[];
}

const skill = (name: string) =>
  `---\nname: ${name}\ndescription: What ${name} does.\n---\nThe steps of ${name}.\n`;

const agent = (name: string) =>
  `---\nname: ${name}\ndescription: What ${name} does.\n---\nYou are ${name}.\n`;

const hooks = (text: string) =>
  JSON.stringify({
    hooks: { UserPromptSubmit: [{ hooks: [{ type: "command", command: `echo "${text}"` }] }] },
  });

/** The layouts in which users of each agent keep their repositories. */
const LAYOUTS: Readonly<Record<string, Layout>> = {
  "claude-code": {
    files: {
      "CLAUDE.md": "Use tabs, says CLAUDE.",
      "~/.config/diligent/CLAUDE.md": "Ask first, says mine.",
      ".claude/skills/pdf/SKILL.md": skill("pdf"),
      "~/.claude/skills/mine/SKILL.md": skill("mine"),
      ".claude/commands/frontend/add.md":
        "---\ndescription: Adds\nargument-hint: [name] [kind]\nallowed-tools: Bash(ls:*)\n---\nAdd $1 as $2. Version: !`echo one`",
      "~/.claude/commands/fix.md": "Fix $ARGUMENTS.",
      ".claude/agents/checker.md": agent("checker"),
      "~/.claude/agents/own.md": agent("own"),
      ".claude/settings.json": hooks("The project's hook is heard."),
      ".claude/settings.local.json": hooks("The local hook is heard."),
      "~/.claude/settings.json": hooks("The user's hook is heard."),
    },
    offered: [
      ...[
        "Use tabs, says CLAUDE.",
        "Ask first, says mine.",
        "- pdf: What pdf does.",
        "- mine: What mine does.",
      ],
      ...["- checker: What checker does.", "- own: What own does."],
    ],
    lines: [
      ["hello", "The project's hook is heard.", "The local hook is heard.", "The user's hook is heard."],
      ["/frontend:add Button 'a widget'", "Add Button as a widget. Version: one"],
      ["/fix issue 7", "Fix issue 7."],
      ["/pdf report", "The steps of pdf."],
    ],
  },
  codex: {
    files: {
      "AGENTS.md": "Use spaces, says AGENTS.",
      ".agents/skills/deploy/SKILL.md": skill("deploy"),
      "~/.codex/skills/own/SKILL.md": skill("own"),
      "~/.codex/prompts/draft.md":
        "---\ndescription: Drafts\nargument-hint: FILE=<path>\n---\nDraft $FILE for $1.",
    },
    offered: ["Use spaces, says AGENTS.", "- deploy: What deploy does.", "- own: What own does."],
    lines: [
      ["/prompts:draft FILE=a.ts review", "Draft a.ts for review."],
      ["Please use $deploy now", "The steps of deploy."],
    ],
  },
  opencode: {
    files: {
      "AGENTS.md": "Be brief, says AGENTS.",
      ".opencode/skills/release/SKILL.md": skill("release"),
      ".opencode/commands/test.md": "---\ndescription: Tests\nagent: build\n---\nTest $1 with $2.",
      "~/.config/opencode/commands/own.md": "Own !`echo two`",
      ".opencode/agent/helper.md": "---\ndescription: What helper does.\nmode: subagent\n---\nHelp.",
      "~/.config/opencode/agents/mine.md": "---\ndescription: What mine does.\nmode: subagent\n---\nHelp.",
    },
    offered: [
      ...["Be brief, says AGENTS.", "- release: What release does."],
      ...["- helper: What helper does.", "- mine: What mine does."],
    ],
    lines: [
      ["/test unit all the rest", "Test unit with all the rest."],
      ["/own", "Own two"],
      ["/skill:release", "The steps of release."],
    ],
  },
  "gemini-cli": {
    files: {
      "GEMINI.md": "Be polite, says GEMINI.",
      "AGENTS.md": "@GEMINI.md",
      ".gemini/skills/audit/SKILL.md": skill("audit"),
      ".gemini/commands/git/commit.toml":
        'description = "Commits"\nprompt = """\nCommit {{args}} after !{echo {{args}}}\n"""\n',
      "~/.gemini/commands/own.toml": 'prompt = "Own {{args}}"',
    },
    offered: ["Be polite, says GEMINI.", "- audit: What audit does."],
    lines: [
      ["/git:commit it's done", "Commit it's done after it's done"],
      ["/own way", "Own way"],
    ],
  },
  pi: {
    files: {
      "AGENTS.md": "Be exact, says AGENTS.",
      ".pi/skills/bench/SKILL.md": skill("bench"),
      ".pi/prompts/pr.md": `---\ndescription: Opens\n---\nPR for \${1:-main}: \${@:2}`,
      "~/.pi/agent/prompts/own.md": "Own $@",
    },
    offered: ["Be exact, says AGENTS.", "- bench: What bench does."],
    lines: [
      ["/pr dev a b", "PR for dev: a b"],
      ["/own x y", "Own x y"],
      ["/skill:bench now", "ARGUMENTS: now"],
    ],
  },
};

const run = (server: SseServer, ...args: string[]) =>
  runDiligent(place, args, { environment: environmentFor(ANTHROPIC_SERVICE, server.url) });

test.each(Object.entries(LAYOUTS))(
  "a repository and a home directory set up for %s work without any configuration",
  async (_, { files, offered, lines }) => {
    for (const [path, text] of Object.entries(files)) place.write(path.replace("~/", "../home/"), text);
    const done = () => wholeReply(ANTHROPIC_SERVICE, { text: "Done." });
    await using server = await startSseServer(done(), ...lines.map(done));
    const trust = await run(server, "trust", "--yes");
    expect(trust.stderr).toBe("");
    const first = await run(server, "-p", "go");
    expect(first.stderr).toBe("");
    const system = JSON.stringify(server.requests[0]?.body);
    for (const text of offered) expect(system).toContain(text);
    for (const [index, [line, ...sent]] of lines.entries()) {
      const { exitCode, stderr } = await run(server, "-p", line);
      expect([exitCode, stderr]).toEqual([0, ""]);
      const messages = JSON.stringify(Object(server.requests[index + 1]?.body).messages);
      for (const text of sent) expect(messages).toContain(JSON.stringify(text).slice(1, -1));
    }
  },
);

test("there is a page for each of these agents, and it names the directories that work", () => {
  const directory = join(import.meta.dir, "..", "docs", "coming-from");
  const pages = readdirSync(directory);
  expect(pages.sort()).toEqual(
    Object.keys(LAYOUTS)
      .map((name) => `${name}.md`)
      .sort(),
  );
  for (const [name, { files }] of Object.entries(LAYOUTS)) {
    const page = readFileSync(join(directory, `${name}.md`), "utf8");
    const kinds = Object.keys(files).map(
      (path) =>
        /^(?:~\/)?[^/]+(?:\/(?:agent\/|opencode\/)?(?:skills|commands|prompts|agents?|settings(?:\.local)?\.json)(?=\/|$))?/.exec(
          path,
        )?.[0] ?? path,
    );
    expect(kinds.filter((kind) => !page.includes(kind.replace(/^~\/.*\/skills$/, "/skills")))).toEqual([]);
  }
});
