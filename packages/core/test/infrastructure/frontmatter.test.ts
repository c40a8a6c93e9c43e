import { describe, expect, test } from "bun:test";
import {
  readBooleanField,
  readFrontmatter,
  readListField,
  readTextField,
} from "../../src/infrastructure/text/frontmatter.ts";
import { BUSY_MS } from "../support/busy-machine.ts";

const NOT_YAML = "its frontmatter is not valid YAML and was read line by line";

function read(text: string) {
  const { fields, body, problem } = readFrontmatter(text);
  return { fields: Object.fromEntries(fields), body, ...(problem !== undefined && { problem }) };
}

describe("readFrontmatter()", () => {
  test.each([
    ["a file without a head is all body", "# Title\n---\nx", { fields: {}, body: "# Title\n---\nx" }],
    ["an empty file", "", { fields: {}, body: "" }],
    ["an empty head", "---\n---\nbody", { fields: {}, body: "body" }],
    [
      "a byte order mark and CRLF are accepted",
      "\ufeff---\r\nname: a\r\n---\r\nbody\r\n",
      { fields: { name: "a" }, body: "body\n" },
    ],
    ["a head without a body", "---\nname: a\n---", { fields: { name: "a" }, body: "" }],
    [
      "YAML lists, blocks and quotes are read",
      '---\ntools: [Read, "Bash(git *)"]\ndescription: >\n  two\n  lines\nx: "a: b"\n---\n',
      { fields: { tools: ["Read", "Bash(git *)"], description: "two lines\n", x: "a: b" }, body: "" },
    ],
    [
      "an unquoted colon is read line by line",
      "---\nname: a\ndescription: Use this: when needed\n  and more\n# a comment\nx: 'quoted'\n---\nbody",
      {
        fields: { name: "a", description: "Use this: when needed and more", x: "quoted" },
        body: "body",
        problem: NOT_YAML,
      },
    ],
    [
      "two lists in one line are text",
      "---\nargument-hint: [a] [b]\n---\n",
      { fields: { "argument-hint": "[a] [b]" }, body: "", problem: NOT_YAML },
    ],
    [
      "a tab as indentation is read line by line",
      "---\na: |\n\tb: 1\n\tc\nd:\n---\n",
      { fields: { a: "b: 1\nc", d: "" }, body: "", problem: NOT_YAML },
    ],
    [
      "a head that is a list has no fields",
      "---\n- a\n---\nbody",
      { fields: {}, body: "body", problem: NOT_YAML },
    ],
    [
      "a head that never ends is text",
      "---\nname: a\n",
      { fields: {}, body: "---\nname: a\n", problem: 'its frontmatter has no closing "---"' },
    ],
    [
      "the last of two equal keys counts",
      "---\nname: a\nname: b\n---\n",
      { fields: { name: "b" }, body: "" },
    ],
  ])("%s", (_, text, expected) => {
    expect(read(text)).toEqual(expected);
  });

  test("aliases that multiply, deep nesting and a huge head end in less than a second and drop nothing", () => {
    const aliases = `a: &a [x,x,x,x,x,x,x,x]\n${"bcdefghij"
      .split("")
      .map((name, index) => `${name}: &${name} [${Array(8).fill(`*${"abcdefghij"[index]}`)}]\n`)
      .join("")}`;
    const heads = [
      aliases,
      `deep: ${"[".repeat(30_000)}`,
      `list:\n${"- ".repeat(30_000)}`,
      `long: ${"x".repeat(100_000)}`,
    ];
    const started = performance.now();
    const found = heads.map((head) => readFrontmatter(`---\nname: kept\n${head}\n---\nbody`));
    expect(performance.now() - started).toBeLessThan(1_000 + BUSY_MS);
    expect(found.map(({ body }) => body)).toEqual(["body", "body", "body", "body"]);
    expect(found.every(({ problem }) => problem !== undefined)).toBe(true);
    expect(found.map((head) => readTextField(head, "name"))).toEqual(["kept", "kept", "kept", undefined]);
  });

  test("a field called __proto__ is an ordinary field", () => {
    const { fields } = readFrontmatter("---\n__proto__: {isTrusted: true}\n---\n");
    expect([...fields.keys()]).toEqual(["__proto__"]);
    expect(({} as { isTrusted?: boolean }).isTrusted).toBeUndefined();
  });
});

describe("a field", () => {
  const field = (value: string) => readFrontmatter(`---\nx: ${value}\n---\n`);

  test("is text if it is a word, a number or a truth value", () => {
    const values = ["a b", "12", "true", "", "[a]", "{a: b}", "'  '"];
    expect(values.map((value) => readTextField(field(value), "x"))).toEqual([
      "a b",
      "12",
      "true",
      undefined,
      undefined,
      undefined,
      undefined,
    ]);
  });

  test("is a truth value in each of the usual words", () => {
    const values = ["true", "yes", "On", "1", "false", "NO", "off", "0", "maybe", ""];
    expect(values.map((value) => readBooleanField(field(value), "x"))).toEqual([
      ...[true, true, true, true],
      ...[false, false, false, false],
      ...[undefined, undefined],
    ]);
    expect(readBooleanField(field("yes"), "missing")).toBeUndefined();
  });

  test("is a list in YAML, with commas or with blanks; parentheses keep their content together", () => {
    const values = [
      "[Read, Edit]",
      "Read, Bash(git add:*), Edit",
      "Bash(git add:*) Read",
      "Read",
      "[]",
      "[a] [b]",
    ];
    expect(values.map((value) => readListField(field(value), "x"))).toEqual([
      ["Read", "Edit"],
      ["Read", "Bash(git add:*)", "Edit"],
      ["Bash(git add:*)", "Read"],
      ["Read"],
      [],
      ["a", "b"],
    ]);
    expect(readListField(field("a"), "missing")).toBeUndefined();
    expect(readListField(field('"Bash(never closed, Read"'), "x")).toEqual(["Bash(never closed, Read"]);
  });
});
