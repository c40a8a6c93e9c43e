import { describe, expect, test } from "bun:test";
import { symlinkSync } from "node:fs";
import { join } from "node:path";
import { findImports } from "../../src/config/instruction-imports.ts";
import { buildSystemPrompt, discoverInstructions } from "../../src/config/instructions.ts";
import { BUSY_MS } from "../support/busy-machine.ts";
import { makeConfigPlace, put } from "../support/config-place.ts";
import { makeTempDir } from "../support/temp-dir.ts";

describe("findImports()", () => {
  test("finds paths after an @ at the start of a word, without the punctuation behind them", () => {
    const text = "@docs/a.md and (@b.md), see @./c.md. Also:\n- @~/d.md\n  - @/e.md!\n@f.md";
    expect(findImports(text)).toEqual(["docs/a.md", "b.md", "./c.md", "~/d.md", "/e.md", "f.md"]);
  });

  test("finds nothing in code spans, fenced and indented blocks, comments and addresses", () => {
    const text = [
      "`@a.md` and ``use ` @b.md`` and user@c.md <!-- @d.md",
      "@e.md -->",
      "```ts",
      "@f.md",
      "~~~",
      "@g.md",
      "```",
      "",
      "    @h.md",
      "",
      "    @i.md",
      "@ @. @.. @~ @/",
      "~~~~\n@j.md\n~~~\n@k.md\n~~~~",
      "<!-- @l.md",
    ].join("\n");
    expect(findImports(text)).toEqual([]);
  });

  test("finds them in lists, however deep, and behind a block that has ended", () => {
    expect(findImports("- one\n    @a.md\n\n    - @b.md\n```\n```\n@c.md")).toEqual(["a.md", "b.md", "c.md"]);
  });

  test("takes little time for a text made to take much", () => {
    const startedAt = performance.now();
    for (const part of ["<!--", "`", "` ", "``a`", "@", "@a@", "    @", "```\n", "- \n"])
      findImports(part.repeat(Math.ceil(32_768 / part.length)));
    expect(performance.now() - startedAt).toBeLessThan(2_000 + BUSY_MS);
  });
});

async function discover({ project, environment }: ReturnType<typeof makeConfigPlace>) {
  const warnings: string[] = [];
  const found = await discoverInstructions(project, {
    environment,
    onWarning: ({ message }) => warnings.push(message),
  });
  return { found, warnings, texts: found.map(({ content }) => content) };
}

describe("imports of instruction files", () => {
  test("follow their importer in the prompt, relative to it, marked with it", async () => {
    const place = makeConfigPlace();
    const path = put(join(place.project, "AGENTS.md"), "Root. @docs/style.md and @docs/tests.md");
    const style = put(join(place.project, "docs", "style.md"), "Style. @./names.md");
    const names = put(join(place.project, "docs", "names.md"), "Names.");
    const tests = put(join(place.project, "docs", "tests.md"), "Tests.");
    const { found, warnings } = await discover(place);
    expect(warnings).toEqual([]);
    expect(buildSystemPrompt("Base.", found)).toBe(
      [
        "Base.",
        `Instructions from: ${path}\nRoot. @docs/style.md and @docs/tests.md`,
        `Instructions from: ${style} (imported by ${path})\nStyle. @./names.md`,
        `Instructions from: ${names} (imported by ${style})\nNames.`,
        `Instructions from: ${tests} (imported by ${path})\nTests.`,
      ].join("\n\n"),
    );
  });

  test("end at a depth of 5, and at a file that was imported before", async () => {
    const place = makeConfigPlace();
    put(join(place.project, "AGENTS.md"), "0 @1.md");
    for (let depth = 1; depth <= 6; depth++)
      put(join(place.project, `${depth}.md`), `${depth} @${depth + 1}.md @AGENTS.md @1.md`);
    const { texts, warnings } = await discover(place);
    expect(texts.map(([first]) => first)).toEqual(["5", "4", "3", "2", "1", "0"]);
    expect(warnings).toHaveLength(1);
    expect(warnings[0]).toContain("6.md is not loaded: imports are followed to a depth of 5");
  });

  test("one name in the other file's text is loaded once", async () => {
    const place = makeConfigPlace();
    put(join(place.project, "CLAUDE.md"), "@AGENTS.md");
    put(join(place.project, "AGENTS.md"), "Rules.");
    expect((await discover(place)).texts).toEqual(["Rules.", "@AGENTS.md"]);
  });

  test("stay inside the repository, also through links, and are never files that hold secrets", async () => {
    const place = makeConfigPlace();
    const outside = put(join(place.home, "outside.md"), "Outside.");
    const names = [
      "@../outside.md",
      `@${outside}`,
      "@~/outside.md",
      "@link.md",
      "@.env",
      "@.git/config",
      "@keys",
    ];
    put(join(place.project, "AGENTS.md"), names.join("\n"));
    put(join(place.project, ".env"), "KEY=1");
    put(join(place.project, ".git", "config"), "[core]");
    symlinkSync(outside, join(place.project, "link.md"));
    symlinkSync(".env", join(place.project, "keys"));
    const { texts, warnings } = await discover(place);
    expect(texts).toEqual([names.join("\n")]);
    expect(warnings.map((warning) => /: (.*?)(?: \(|$)/.exec(warning)?.[1])).toEqual([
      `it is outside ${place.project}`,
      `it is outside ${place.project}`,
      `it is outside ${place.project}`,
      `it is a link to ${outside}, outside ${place.project}`,
      "it may hold keys or passwords",
      "it belongs to git",
      "it may hold keys or passwords",
    ]);
  });

  test("of the user's own file may be anywhere in the home directory, and nowhere else", async () => {
    const place = makeConfigPlace();
    const elsewhere = put(join(makeTempDir(), "elsewhere.md"), "Elsewhere.");
    put(join(place.home, ".config", "diligent", "AGENTS.md"), `@~/mine.md @own.md @${elsewhere}`);
    put(join(place.home, "mine.md"), "Mine.");
    put(join(place.home, ".config", "diligent", "own.md"), "Own.");
    const { texts, warnings } = await discover(place);
    expect(texts.slice(0, 2)).toEqual(["Own.", "Mine."]);
    expect(warnings).toHaveLength(1);
  });

  test("that are missing are a warning if they look like a file, and nothing for a person or a package", async () => {
    const place = makeConfigPlace();
    put(join(place.project, "AGENTS.md"), "@alice reviews @types/node; read @docs/gone.md");
    const { warnings } = await discover(place);
    expect(warnings).toEqual([
      `${join(place.project, "docs/gone.md")} is not loaded: there is no such file (imported by ${join(place.project, "AGENTS.md")})`,
    ]);
  });

  test("are limited in number and size, and binary files are left out", async () => {
    const place = makeConfigPlace();
    const names = Array.from({ length: 40 }, (_, index) => `@part-${index}.md`);
    put(join(place.project, "AGENTS.md"), `${names.join(" ")} @binary.bin`);
    for (const [index] of names.entries())
      put(join(place.project, `part-${index}.md`), `${index}`.repeat(1_500));
    put(join(place.project, "binary.bin"), new Uint8Array([1, 0, 2]));
    const { texts, warnings } = await discover(place);
    expect(texts.slice(0, -1).join("").length).toBeLessThanOrEqual(65_536);
    expect(texts.length).toBeLessThanOrEqual(33);
    expect(warnings.length).toBe(40 - (texts.length - 1) + 1);
    expect(warnings.at(-1)).toContain("binary.bin is not loaded: binary data");
  });
});
