import { describe, expect, test } from "bun:test";
import { chmodSync, mkdirSync, readdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { findSkills } from "../../../src/extensions/skills/find-skills.ts";
import { SKILL_TRUST } from "../../../src/extensions/skills/trust.ts";
import { type ConfigPlace, put } from "../../support/config-place.ts";
import { makeDefinitionPlace, toSkillText } from "../../support/definition-files.ts";

async function find({ project, environment }: ConfigPlace, cwd = project, isPersistent = false) {
  const { skills, skipped } = await findSkills({ cwd, root: project, environment }, { isPersistent });
  return {
    skills: Object.fromEntries(skills.map(({ name, shown }) => [name, shown])),
    skipped: skipped.map(({ shown, reason }) => `${shown}: ${reason}`),
  };
}

const skill = (name: string) => toSkillText({ name, description: `About ${name}.` });

describe("findSkills()", () => {
  test("finds the skills of every agent's directories, from the working directory up, then the user's", async () => {
    const place = makeDefinitionPlace({
      "project/.diligent/skills/a/SKILL.md": skill("a"),
      "project/.agents/skills/b/SKILL.md": skill("b"),
      "project/.claude/skills/group/c/SKILL.md": skill("c"),
      "project/.opencode/skills/d/SKILL.md": skill("d"),
      "project/.gemini/skills/e/SKILL.md": skill("e"),
      "project/.pi/skills/f/SKILL.md": skill("f"),
      "project/packages/x/.claude/skills/g/SKILL.md": skill("g"),
      "project/packages/y/.claude/skills/hidden/SKILL.md": skill("hidden"),
      ".config/diligent/skills/h/SKILL.md": skill("h"),
      ".agents/skills/i/SKILL.md": skill("i"),
      ".claude/skills/j/SKILL.md": skill("j"),
      ".codex/skills/k/SKILL.md": skill("k"),
      ".codex/skills/.system/l/SKILL.md": skill("l"),
    });
    const { skills, skipped } = await find(place, join(place.project, "packages", "x"));
    expect(skipped).toEqual([]);
    expect(skills).toEqual({
      g: "packages/x/.claude/skills/g",
      a: ".diligent/skills/a",
      b: ".agents/skills/b",
      c: ".claude/skills/group/c",
      d: ".opencode/skills/d",
      e: ".gemini/skills/e",
      f: ".pi/skills/f",
      h: "~/.config/diligent/skills/h",
      i: "~/.agents/skills/i",
      j: "~/.claude/skills/j",
      k: "~/.codex/skills/k",
    });
  });

  test("of several skills with one name takes the strongest, and names the others", async () => {
    const place = makeDefinitionPlace({
      "project/.claude/skills/a/SKILL.md": skill("a"),
      "project/.agents/skills/a/SKILL.md": skill("a"),
      ".claude/skills/a/SKILL.md": skill("a"),
    });
    symlinkSync(
      join(place.project, ".claude", "skills", "a"),
      join(place.project, ".agents", "skills", "same"),
    );
    expect(await find(place)).toEqual({
      skills: { a: ".agents/skills/a" },
      skipped: [
        ".agents/skills/same: .agents/skills/a has the same name",
        "~/.claude/skills/a: .agents/skills/a has the same name",
      ],
    });
  });

  test("loads damaged heads with a warning, and skips only what has no description or no name", async () => {
    const place = makeDefinitionPlace({
      "project/.claude/skills/colon/SKILL.md": "---\nname: colon\ndescription: Use: now\n---\n",
      "project/.claude/skills/bom/SKILL.md": "\ufeff---\r\nname: bom\r\ndescription: Text\r\n---\r\nx",
      "project/.claude/skills/hooks/SKILL.md": toSkillText({ name: "Hook Development", description: "x" }),
      "project/.claude/skills/directory/SKILL.md": toSkillText({ description: "x" }),
      "project/.claude/skills/long/SKILL.md": toSkillText({ name: "long", description: "x".repeat(1_025) }),
      "project/.claude/skills/escape/SKILL.md": toSkillText({ name: '"a\\e[2Jb"', description: "x" }),
      "project/.claude/skills/no-description/SKILL.md": toSkillText({ name: "no-description" }),
      "project/.claude/skills/ÄÖ/SKILL.md": toSkillText({ name: "日本", description: "x" }),
      "project/.claude/skills/none/SKILL.md": "Just text.",
    });
    const { project, environment } = place;
    const { skills, skipped } = await findSkills(
      { cwd: project, root: project, environment },
      { isPersistent: false },
    );
    expect(Object.fromEntries(skills.map(({ name, warnings }) => [name, warnings.length]))).toEqual({
      "a-2jb": 1,
      bom: 0,
      colon: 1,
      directory: 1,
      "hook-development": 1,
      long: 1,
    });
    expect(skipped.map(({ reason }) => reason)).toEqual([
      "it has no description",
      "it has no description",
      "neither its name nor its directory has a letter or digit of a-z and 0-9",
    ]);
  });

  test("does not follow links out of the project, nor read what is no file or could be another user's", async () => {
    const place = makeDefinitionPlace({
      "elsewhere/SKILL.md": skill("elsewhere"),
      "secret.txt": skill("secret"),
      "project/.claude/skills/open/SKILL.md": skill("open"),
      "project/.claude/skills/binary/SKILL.md": "---\nname: b\u0000",
      "project/.claude/skills/huge/SKILL.md": skill("huge") + "x".repeat(300_000),
    });
    const directory = join(place.project, ".claude", "skills");
    symlinkSync(join(place.home, "elsewhere"), join(directory, "elsewhere"));
    mkdirSync(join(directory, "file"));
    symlinkSync(join(place.home, "secret.txt"), join(directory, "file", "SKILL.md"));
    symlinkSync(directory, join(directory, "loop"));
    symlinkSync("/nowhere", join(directory, "dangling"));
    mkdirSync(join(directory, "pipe"));
    Bun.spawnSync(["mkfifo", join(directory, "pipe", "SKILL.md")]);
    chmodSync(join(directory, "open", "SKILL.md"), 0o666);
    const { skills, skipped } = await find(place);
    expect(skills).toEqual({});
    const reasons = skipped.map((line) => line.replace(".claude/skills/", "").replace(place.home, "HOME"));
    expect(reasons.filter((line) => !line.startsWith("loop/"))).toEqual([
      expect.stringMatching(/^binary: .*binary/),
      "file: it is a link out of the project, to HOME/secret.txt",
      expect.stringMatching(/^huge: it is larger than/),
      expect.stringMatching(/^open: .*all users may write/),
      expect.stringMatching(/^pipe: .*named pipe/),
      "elsewhere: it is a link out of the project",
    ]);
  });

  test("a link between the user's own directories is followed, and names are shown without escapes", async () => {
    const place = makeDefinitionPlace({
      "dotfiles/a/SKILL.md": skill("a"),
      ".claude/skills/x\u001b[2J/SKILL.md": toSkillText({ name: "x" }),
    });
    symlinkSync(join(place.home, "dotfiles", "a"), join(place.home, ".claude", "skills", "a"));
    expect(await find(place)).toEqual({
      skills: { a: "~/.claude/skills/a" },
      skipped: ["~/.claude/skills/x\\u{1b}[2J: it has no description"],
    });
  });

  test("searches at most 2,000 directories, and says so", async () => {
    const place = makeDefinitionPlace({});
    const directory = join(place.project, ".claude", "skills");
    for (let index = 0; index < 2_100; index++) {
      const path = join(directory, `s${String(index).padStart(5, "0")}`);
      mkdirSync(path, { recursive: true });
      writeFileSync(join(path, "SKILL.md"), skill(`s${index}`), { mode: 0o600 });
    }
    const { skills, skipped } = await find(place);
    expect(Object.keys(skills)).toHaveLength(2_000);
    expect(skipped).toEqual([".claude/skills: it has more than 2000 directories; the rest is left out"]);
  });

  test("an unchanged skill is read from the index, a changed one from its file, and nothing is written if nothing may be", async () => {
    const place = makeDefinitionPlace({ ".claude/skills/a/SKILL.md": skill("a") });
    const index = join(place.home, ".local", "state", "diligent", "skills");
    await find(place);
    expect(() => readdirSync(index)).toThrow();
    await find(place, place.project, true);
    expect(readdirSync(index)).toHaveLength(1);
    put(join(place.home, ".claude", "skills", "a", "SKILL.md"), skill("renamed"));
    expect((await find(place)).skills).toEqual({ renamed: "~/.claude/skills/a" });
    for (const name of readdirSync(index)) put(join(index, name), '{"version":1,"entries":[["x",{}],7]}');
    expect((await find(place, place.project, true)).skills).toEqual({ renamed: "~/.claude/skills/a" });
  });
});

test("trust in a project covers the skills of its subdirectories, with what they ask to use without approval", async () => {
  const place = makeDefinitionPlace({
    "project/packages/x/.claude/skills/a/SKILL.md": toSkillText({
      name: "a",
      description: "Text",
      "allowed-tools": "Bash(git add:*), Read",
    }),
    "project/.claude/skills/a/SKILL.md": skill("a"),
    "project/node_modules/p/.claude/skills/b/SKILL.md": skill("b"),
    ".claude/skills/own/SKILL.md": skill("own"),
  });
  const { items } = await SKILL_TRUST.find({ root: place.project, environment: place.environment });
  expect(items.map(({ name, path, details }) => ({ name, path, details }))).toEqual([
    { name: "a", path: ".claude/skills/a/SKILL.md", details: { description: "About a." } },
    {
      name: "a",
      path: "packages/x/.claude/skills/a/SKILL.md",
      details: { description: "Text", "allowed-tools": "Bash(git add:*), Read" },
    },
  ]);
});
