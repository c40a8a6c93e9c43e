import { expect, test } from "bun:test";
import { execFileSync } from "node:child_process";
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { codeCell, createNotebook, streamOutput } from "../../../core/test/support/notebook-documents.ts";
import { createPdf } from "../../../core/test/support/pdf-documents.ts";
import { attachFiles } from "../../src/tui/prompt/attachments.ts";
import { createTemporaryProject } from "../support/temporary-project.ts";

function setUp() {
  const place = createTemporaryProject();
  const { project, home } = place;
  return {
    ...place,
    attach: (text: string, more = {}) => attachFiles(text, { cwd: project, root: project, home, ...more }),
    [Symbol.dispose]: place.remove,
  };
}

/** The texts after the prompt. */
function texts({ content }: { content: string | readonly { type: string }[] }): unknown[] {
  return typeof content === "string"
    ? []
    : content.slice(1).map((block) => ("text" in block ? block.text : block.type));
}

test("a prompt without mentions stays a text", async () => {
  using place = setUp();
  const text = "fix it, make ./new.png, and mail me@x.com";
  expect(await place.attach(text)).toEqual({ content: text, notes: [] });
});

test("a mention with @ of a missing file is reported, and the prompt is sent unchanged", async () => {
  using place = setUp();
  place.write("a.ts", "let a;\nlet b;\n");
  const { content, notes } = await place.attach('fix @missing.ts, @a.ts and @"no such.md"');
  expect(texts({ content })).toHaveLength(1);
  expect(notes).toEqual(["Read a.ts (2 lines)", "Not found: @missing.ts, @no such.md"]);
  const many = Array.from({ length: 13 }, (_, index) => `@x${index}`).join(" ");
  expect((await place.attach(many)).notes).toEqual([
    "Not found: @x0, @x1, @x2, @x3, @x4, @x5, @x6, @x7, @x8, @x9, 3 more",
  ]);
});

test("attached files follow the prompt, in the order of their mentions, each once", async () => {
  using place = setUp();
  place.write("src/a.ts", "let a;\n");
  place.write("b c.md", "no line end");
  expect(await place.attach('compare @src/a.ts, @"b c.md" and @./src/a.ts')).toEqual({
    content: [
      { type: "text", text: 'compare @src/a.ts, @"b c.md" and @./src/a.ts' },
      { type: "text", text: "Attached file src/a.ts:\n```\nlet a;\n```" },
      { type: "text", text: "Attached file b c.md:\n```\nno line end\n```" },
    ],
    notes: ["Read src/a.ts (1 line)", "Read b c.md (1 line)"],
  });
});

test("nothing in an attached file can close its fence", async () => {
  using place = setUp();
  place.write("a.md", "````js\n```\n````\n");
  expect(texts(await place.attach("@a.md"))).toEqual([
    "Attached file a.md:\n`````\n````js\n```\n````\n`````",
  ]);
});

test("an empty file is attached as empty", async () => {
  using place = setUp();
  place.write("a.md", "");
  const { content, notes } = await place.attach("@a.md");
  expect(texts({ content })).toEqual(["Attached file a.md:\n```\n```"]);
  expect(notes).toEqual(["Read a.md (0 lines)"]);
});

test("the first 30 KB of a long file are attached in whole lines, with a note", async () => {
  using place = setUp();
  const line = `${"é".repeat(49)}\n`;
  place.write("long.txt", line.repeat(1_000));
  const content = await place.attach("@long.txt");
  const amount = "the first 30 of 96.7 KB";
  expect(content.notes).toEqual([`Read long.txt (310 lines, ${amount})`]);
  expect(texts(content)).toEqual([
    `Attached file long.txt (${amount}; the rest is omitted):\n\`\`\`\n${line.repeat(310)}\`\`\``,
  ]);
});

test("one endless line is cut between characters", async () => {
  using place = setUp();
  place.write("line.txt", `x${"é".repeat(40_000)}`);
  const [text] = texts(await place.attach("@line.txt"));
  expect(text).toEndWith(`\n\`\`\`\nx${"é".repeat(15_359)}\n\`\`\``);
});

test("a file that is not UTF-8 text is left out with a note", async () => {
  using place = setUp();
  writeFileSync(join(place.project, "latin.txt"), Buffer.from([0x67, 0xfc]));
  writeFileSync(join(place.project, "zero.bin"), Buffer.from([0x67, 0]));
  place.write("fake.png", "no image");
  execFileSync("mkfifo", [join(place.project, "pipe")]);
  const reason = "it is neither UTF-8 text nor a supported image";
  expect(await place.attach("@latin.txt @zero.bin @pipe /dev/null @/dev/zero")).toEqual({
    content: "@latin.txt @zero.bin @pipe /dev/null @/dev/zero",
    notes: [
      `Cannot attach latin.txt: ${reason}`,
      `Cannot attach zero.bin: ${reason}`,
      "Cannot attach pipe: it is not a file or directory",
      "Cannot attach /dev/zero: it is not a file or directory",
    ],
  });
  expect(texts(await place.attach("@fake.png"))).toEqual(["Attached file fake.png:\n```\nno image\n```"]);
});

test("a directory is attached as the names in it", async () => {
  using place = setUp();
  place.write("src/a.ts", "");
  place.write("src/deep/b.ts", "");
  mkdirSync(join(place.project, "empty"));
  expect((await place.attach("@src/ @empty")).notes).toEqual([
    "Read src (2 names)",
    "Read empty (an empty directory)",
  ]);
  expect(texts(await place.attach("@src/ @empty"))).toEqual([
    "Attached listing of the directory src:\n```\na.ts\ndeep/\n```",
    "Attached listing of the directory empty: it is empty.",
  ]);
});

test("two hundred names of a large directory are attached, with a note", async () => {
  using place = setUp();
  for (let index = 0; index < 201; index++) place.write(`many/${index}`, "");
  const content = await place.attach("@many");
  expect(content.notes).toEqual(["Read many (first 200 names)"]);
  expect(String(texts(content)[0]).split("\n")).toHaveLength(203);
});

test("at most ten files are attached, and the others are named", async () => {
  using place = setUp();
  const names = Array.from({ length: 12 }, (_, index) => `f${index}.ts`);
  for (const name of names) place.write(name, name);
  const content = await place.attach(names.map((name) => `@${name}`).join(" "));
  expect(texts(content)).toHaveLength(10);
  expect(content.notes.slice(10)).toEqual(["At most 10 files can be attached; omitted: f10.ts, f11.ts"]);
});

test("a secret file and one outside the project are attached because the user mentioned them, with a note", async () => {
  using place = setUp();
  place.write(".env", "KEY=1");
  writeFileSync(join(place.home, "notes.md"), "mine");
  symlinkSync(join(place.project, ".env"), join(place.project, "plain.txt"));
  symlinkSync(join(place.home, "notes.md"), join(place.project, "link.md"));
  const outside = join(place.home, "notes.md");
  expect((await place.attach("@.env")).notes).toEqual([
    ".env may hold secrets; attached because you mentioned it",
    "Read .env (1 line)",
  ]);
  expect((await place.attach("@plain.txt")).notes).toEqual([
    "plain.txt may hold secrets; attached because you mentioned it",
    "Read plain.txt (1 line)",
  ]);
  expect(await place.attach("@~/notes.md")).toEqual({
    content: [
      { type: "text", text: "@~/notes.md" },
      { type: "text", text: `Attached file ${outside}:\n\`\`\`\nmine\n\`\`\`` },
    ],
    notes: [
      `${outside} is outside the project; attached because you mentioned it`,
      `Read ${outside} (1 line)`,
    ],
  });
  expect((await place.attach("@link.md")).notes).toEqual([
    `link.md is outside the project (${outside}); attached because you mentioned it`,
    "Read link.md (1 line)",
  ]);
});

test("given mentions replace those in the text", async () => {
  using place = setUp();
  place.write("a.ts", "a");
  place.write("b.ts", "b");
  expect(texts(await place.attach("@a.ts @b.ts", { mentions: ["b.ts"] }))).toEqual([
    "Attached file b.ts:\n```\nb\n```",
  ]);
});

/** A picture of one colour, made from an uncompressed bitmap. */
function makePng(width: number, height: number) {
  const row = Math.ceil((width * 3) / 4) * 4;
  const bitmap = Buffer.alloc(54 + row * height, 0x7f);
  bitmap.write("BM");
  for (const [offset, value] of [
    [2, bitmap.length],
    [10, 54],
    [14, 40],
    [18, width],
    [22, height],
  ] as const)
    bitmap.writeUInt32LE(value, offset);
  bitmap.writeUInt16LE(1, 26);
  bitmap.writeUInt16LE(24, 28);
  bitmap.fill(0, 30, 54);
  return new Bun.Image(bitmap).png().bytes();
}

test("an image is attached as an image, by a path with or without @, and scaled down if necessary", async () => {
  using place = setUp();
  const small = await makePng(20, 10);
  mkdirSync(join(place.project, "img"));
  writeFileSync(join(place.project, "img", "small.png"), small);
  writeFileSync(join(place.project, "wide.JPG"), await makePng(4_000, 10));
  const { content, notes } = await place.attach("what is img/small.png, and @wide.JPG?");
  expect(notes).toEqual([
    `Read img/small.png (image/png, 20x10, ${small.length} bytes)`,
    expect.stringMatching(/^Read wide\.JPG \(image\/png, 4000x10, .*, shown as .* 2000x5\)$/),
  ]);
  expect(content).toEqual([
    { type: "text", text: "what is img/small.png, and @wide.JPG?" },
    { type: "text", text: `Image img/small.png (image/png, 20x10, ${small.length} bytes)` },
    {
      type: "image",
      source: { type: "base64", mediaType: "image/png", data: Buffer.from(small).toString("base64") },
    },
    {
      type: "text",
      text: expect.stringMatching(/^Image wide\.JPG \(image\/png, 4000x10, .*, shown as .* 2000x5\)$/),
    },
    { type: "image", source: expect.anything() },
  ]);
});

test("a damaged image is left out with a note", async () => {
  using place = setUp();
  writeFileSync(join(place.project, "cut.png"), (await makePng(200, 100)).subarray(0, 60));
  const { content, notes } = await place.attach("@cut.png");
  expect(content).toBe("@cut.png");
  expect(notes).toEqual([expect.stringContaining("Cannot attach cut.png: ")]);
});

test("a PDF is attached as the text of its pages, and a notebook as its cells", async () => {
  using place = setUp();
  writeFileSync(join(place.project, "paper.pdf"), createPdf(["First", "Second"]));
  place.write("a.ipynb", createNotebook([codeCell("one", "x = 1", [streamOutput("done\n")])]));
  const { content, notes } = await place.attach("read @paper.pdf and @a.ipynb");
  expect(texts({ content })).toEqual([
    "paper.pdf: The text of a PDF of 2 pages.",
    "Attached file paper.pdf:\n```\n--- page 1 ---\nFirst\n\n--- page 2 ---\nSecond\n```",
    "a.ipynb: A notebook of 1 cell.",
    "Attached file a.ipynb:\n```\n--- cell 1 (code, id one, run 1) ---\nx = 1\n--- stdout ---\ndone\n```",
  ]);
  expect(notes).toEqual(["Read paper.pdf (5 lines)", "Read a.ipynb (4 lines)"]);
});

test("a long document is cut, and a damaged one is not attached", async () => {
  using place = setUp();
  writeFileSync(
    join(place.project, "long.pdf"),
    createPdf(Array.from({ length: 600 }, () => "a line of words that fits on the page")),
  );
  writeFileSync(join(place.project, "bad.pdf"), createPdf(["One"]).slice(0, 60));
  place.write("text.pdf", "only text\n");
  const { content, notes } = await place.attach("read @long.pdf, @bad.pdf and @text.pdf");
  expect(texts({ content }).join("").length).toBeLessThan(35_000);
  expect(notes).toEqual([
    expect.stringMatching(/^Read long\.pdf \([\d,]+ lines, the first [\d.]+ of [\d.]+ KB\)$/),
    expect.stringContaining("Cannot attach bad.pdf: Cannot read bad.pdf as a PDF:"),
    "Read text.pdf (1 line)",
  ]);
});
