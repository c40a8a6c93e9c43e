import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { runDiligent } from "../support/run-diligent.ts";
import { createTemporaryProject, type TemporaryProject } from "../support/temporary-project.ts";

let place: TemporaryProject;

beforeEach(() => {
  place = createTemporaryProject();
});

afterEach(() => place.remove());

const skills = (...args: string[]) => runDiligent(place, ["skills", ...args]);

const DEPLOY = "---\nname: deploy\ndescription: Deploys \u001b[2Jthe app.\n---\nThe text.\n";

describe("diligent skills", () => {
  test("lists the skills with source, state and warnings, and those that are not loaded", async () => {
    expect((await skills()).stdout).toBe("No skills found.\n");
    place.write(".claude/skills/deploy/SKILL.md", DEPLOY);
    place.write(".agents/skills/empty/SKILL.md", "");
    place.write("../home/.claude/skills/other/SKILL.md", "---\nname: own\ndescription: Mine.\n---\n");
    const { stdout, exitCode } = await skills("list");
    expect(exitCode).toBe(0);
    expect(stdout.split("\n")).toEqual([
      "deploy  .claude/skills/deploy (not trusted, see diligent trust)",
      "    Deploys [2Jthe app.",
      "own  ~/.claude/skills/other",
      "    Mine.",
      "    warning: its name differs from its directory",
      "not loaded: .agents/skills/empty: it has no description",
      "",
    ]);
    const listed = JSON.parse((await skills("--json")).stdout);
    expect(listed.map(({ name, source, state }: Record<string, string>) => [name, source, state])).toEqual([
      ["deploy", "project", "untrusted"],
      ["own", "user", "ready"],
      [undefined, undefined, "skipped"],
    ]);
  });

  test("shows the text of one, also before it is trusted, and refuses an unknown name with exit code 2", async () => {
    place.write(".claude/skills/deploy/SKILL.md", DEPLOY);
    const { stdout } = await skills("show", "deploy");
    expect(stdout).toContain("Not trusted");
    expect(stdout).toContain("The text.");
    expect(stdout).not.toContain("\u001b");
    const unknown = await skills("show", "deplyo");
    expect([unknown.exitCode, unknown.stderr]).toEqual([
      2,
      "diligent: no skill is called deplyo (did you mean deploy?)\n",
    ]);
  });

  test("checks a directory: exit code 1 if it cannot be loaded, 2 if it does not exist", async () => {
    place.write("a/SKILL.md", "---\nname: b\ndescription: Text.\n---\n");
    place.write("c/SKILL.md", "---\nname: c\n---\nText.");
    place.write("d/README.md", "Text.");
    const results = await Promise.all(["a", "c", "d", "e"].map((name) => skills("check", name)));
    expect(results.map(({ exitCode }) => exitCode)).toEqual([0, 1, 1, 2]);
    expect(results[0]?.stdout).toBe(
      "warning: its name differs from its directory\nwarning: it has no text below its frontmatter\nb: Text.\n",
    );
    expect(results.slice(1, 3).map(({ stdout }) => stdout)).toEqual([
      "c cannot be used: it has no description\n",
      "d cannot be used: it has no SKILL.md\n",
    ]);
  });

  test("creates one that passes the check, and refuses bad names and existing ones with exit code 2", async () => {
    expect((await skills("new", "my-skill")).exitCode).toBe(0);
    expect((await skills("check", ".diligent/skills/my-skill")).stdout).toStartWith("my-skill: ");
    expect((await skills("new", "my-skill")).exitCode).toBe(2);
    for (const name of ["My", "a--b", "../x", "x".repeat(65), "-a"])
      expect((await skills("new", "--", name)).exitCode).toBe(2);
    expect(existsSync(join(place.project, ".diligent", "x"))).toBe(false);
    expect((await skills("new")).exitCode).toBe(2);
    expect((await skills("lst")).stderr).toContain("did you mean list?");
  });
});
