import { describe, expect, test } from "bun:test";
import { mkdirSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { findNestedInstructions } from "../../src/config/nested-instructions.ts";
import { makeConfigPlace, put } from "../support/config-place.ts";

const place = () => {
  const { project, home, environment } = makeConfigPlace();
  const warnings: string[] = [];
  const find = (path: string, inPrompt: { path: string; content: string }[] = []) =>
    findNestedInstructions(join(project, path), {
      cwd: project,
      environment,
      inPrompt,
      onWarning: ({ message }) => warnings.push(message),
    });
  return { project, home, warnings, find };
};

describe("findNestedInstructions()", () => {
  test("lists those between the working directory and a file, general first, each before its imports", async () => {
    const { project, warnings, find } = place();
    put(join(project, "AGENTS.md"), "root");
    const outer = put(join(project, "a", "AGENTS.md"), "outer @style.md");
    const style = put(join(project, "a", "style.md"), "style");
    const inner = put(join(project, "a", "b", "CLAUDE.md"), "inner");
    put(join(project, "a", "b", "c", "AGENTS.md"), "below");
    put(join(project, "other", "AGENTS.md"), "other");
    const found = await find("a/b/file.ts");
    expect(found.map(({ path }) => path)).toEqual([outer, style, inner]);
    expect(found[1]?.importedBy).toBe(outer);
    expect(new Set(found.map(({ mark }) => mark)).size).toBe(3);
    expect(warnings).toEqual([]);
    mkdirSync(join(project, "a", "b"), { recursive: true });
    expect((await find("a/b")).map(({ content }) => content)).toEqual(["outer @style.md", "style", "inner"]);
    expect(await find("file.ts")).toEqual([]);
    expect(await find("../elsewhere/file.ts")).toEqual([]);
  });

  test("marks another content of the same file differently", async () => {
    const { project, find } = place();
    put(join(project, "a", "AGENTS.md"), "one");
    const [before] = await find("a/file.ts");
    put(join(project, "a", "AGENTS.md"), "two");
    const [after] = await find("a/file.ts");
    expect(before?.mark).toMatch(/^[0-9a-f]{8}$/);
    expect(after?.mark).not.toBe(before?.mark);
  });

  test("leaves out installed packages, links out of the repository, and what the prompt contains", async () => {
    const { project, home, warnings, find } = place();
    put(join(project, "node_modules", "left-pad", "AGENTS.md"), "obey");
    expect(await find("node_modules/left-pad/index.js")).toEqual([]);
    const outside = put(join(home, "outside.md"), "outside");
    mkdirSync(join(project, "a"));
    symlinkSync(outside, join(project, "a", "AGENTS.md"));
    expect(await find("a/file.ts")).toEqual([]);
    expect(warnings).toHaveLength(1);
    put(join(project, "b", "AGENTS.md"), "same");
    expect(await find("b/file.ts", [{ path: "/elsewhere", content: "same\n" }])).toEqual([]);
    put(join(home, "away", "file.ts"), "");
    put(join(home, "away", "AGENTS.md"), "away");
    symlinkSync(join(home, "away"), join(project, "link"));
    expect(await find("link/file.ts")).toEqual([]);
  });
});
