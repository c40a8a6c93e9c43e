import { describe, expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { coerceCall } from "../../src/tool/coerce-call.ts";
import { createToolRegistry } from "../../src/tool/registry.ts";
import { failure, makeFileWorkspace } from "../support/file-workspace.ts";

const TEXT = "one\ntwo\nthree\ntwo\nfour\n";

async function seen(content: string = TEXT) {
  const files = makeFileWorkspace();
  files.put("a.txt", content);
  await files.read({ file_path: "a.txt" });
  return files;
}

describe("several edits of one file", () => {
  test("are applied in order, each to the result of those before it", async () => {
    const files = await seen();
    const { output, metadata } = await files.edit({
      file_path: "a.txt",
      edits: [
        { old_string: "two", new_string: "2", replace_all: true },
        { old_string: "one\n2", new_string: "1\n2" },
        { old_string: "four", new_string: "4" },
      ],
    });
    expect(files.text("a.txt")).toBe("1\n2\nthree\n2\n4\n");
    expect(output).toBe(`Edited ${files.at("a.txt")} (3 edits, 4 replacements, in lines 2, 1, 5).`);
    expect(metadata).toMatchObject({ added: 4, removed: 4, matchLine: 2, matchLines: "2 1 5" });
  });

  test("keep CRLF line ends and the byte order mark", async () => {
    const files = await seen("\ufeffone\r\ntwo\r\nthree\r\n");
    const edits = [
      { old_string: "one\ntwo", new_string: "1\n1.5\ntwo" },
      { old_string: "three\n", new_string: "3\n" },
    ];
    await files.edit({ file_path: "a.txt", edits });
    expect(files.text("a.txt")).toBe("\ufeff1\r\n1.5\r\ntwo\r\n3\r\n");
  });

  test("are all applied or none, and the error names the entry that failed", async () => {
    const files = await seen();
    const edits = [
      { old_string: "one", new_string: "1" },
      { old_string: "fuor", new_string: "4" },
    ];
    const missing = await failure(files.edit({ file_path: "a.txt", edits }));
    expect(missing).toStartWith(
      "edits[1] failed, so none of the 2 edits was applied: old_string was not found in",
    );
    const ambiguous = [...edits.slice(0, 1), { old_string: "two", new_string: "2" }];
    expect(await failure(files.edit({ file_path: "a.txt", edits: ambiguous }))).toContain(
      "edits[1] failed, so none of the 2 edits was applied: old_string occurs 2 times",
    );
    expect(files.text("a.txt")).toBe(TEXT);
  });

  test("are previewed as one diff, which writes nothing", async () => {
    const files = await seen();
    const edits = [
      { old_string: "one", new_string: "1" },
      { old_string: "four", new_string: "4" },
    ];
    const preview = await files.editTool.preview?.({ file_path: "a.txt", edits });
    expect(preview).toBe("--- a.txt\n+++ a.txt\n@@ -1,5 +1,5 @@\n-one\n+1\n two\n three\n two\n-four\n+4\n");
    expect(files.text("a.txt")).toBe(TEXT);
  });

  test("go through on a changed file only when every one is exact and unique", async () => {
    const files = await seen();
    writeFileSync(files.at("a.txt"), `zero\n${TEXT}`);
    const exact = [
      { old_string: "one", new_string: "1" },
      { old_string: "four", new_string: "4" },
    ];
    const loose = [...exact.slice(0, 1), { old_string: "  four", new_string: "  4" }];
    expect(await failure(files.edit({ file_path: "a.txt", edits: loose }))).toContain("has changed on disk");
    const { output } = await files.edit({ file_path: "a.txt", edits: exact });
    expect(output).toContain("The file had changed since it was read");
    expect(files.text("a.txt")).toBe("zero\n1\ntwo\nthree\ntwo\n4\n");
  });

  test("name the entries that did not match exactly", async () => {
    const files = await seen("if (a) {\n\tb;\n}\nc;\n");
    const edits = [
      { old_string: "c;", new_string: "d;" },
      { old_string: "    b;", new_string: "    e;" },
    ];
    const { output } = await files.edit({ file_path: "a.txt", edits });
    expect(output).toContain("edits[1].old_string was not in the file exactly");
    expect(files.text("a.txt")).toBe("if (a) {\n\te;\n}\nd;\n");
  });

  test("that undo each other change nothing", async () => {
    const files = await seen();
    const edits = [
      { old_string: "one", new_string: "1" },
      { old_string: "1", new_string: "one" },
    ];
    expect(await failure(files.edit({ file_path: "a.txt", edits }))).toContain("there is nothing to change");
  });
});

describe("arguments", () => {
  const refused = async (args: object) => {
    const files = await seen();
    const parsed = files.editTool.parameters.parse({ file_path: "a.txt", ...args });
    const message = await failure(files.edit(parsed));
    expect(files.text("a.txt")).toBe(TEXT);
    return message;
  };
  const edit = { old_string: "one", new_string: "1" };

  test("neither form, half of the single form, and both forms are refused with the reason", async () => {
    expect(await refused({})).toBe(
      "Give old_string and new_string, or edits: a list of {old_string, new_string}.",
    );
    expect(await refused({ old_string: "one" })).toStartWith("Give old_string and new_string");
    expect(await refused({ edits: [], new_string: "x" })).toStartWith("Give old_string and new_string");
    expect(await refused({ ...edit, edits: [edit] })).toStartWith(
      "Give either old_string and new_string or edits",
    );
  });

  test("an entry that changes nothing, an empty one and too many are refused with the reason", async () => {
    expect(await refused({ edits: [edit, { old_string: "a", new_string: "a" }] })).toStartWith(
      "edits[1] failed, so none of the 2 edits was applied: old_string and new_string are the same",
    );
    expect(await refused({ edits: [edit, { old_string: "", new_string: "a" }] })).toContain(
      "old_string is empty",
    );
    expect(await refused({ edits: Array(201).fill(edit) })).toStartWith("edits has 201 entries");
  });

  test("empty strings beside edits do not count", async () => {
    const files = await seen();
    await files.edit({ file_path: "a.txt", old_string: "", new_string: "", edits: [edit] });
    expect(files.text("a.txt")).toBe(`1${TEXT.slice(3)}`);
  });

  test.each([
    { edits: "none" },
    { edits: [7] },
    { edits: [{ old_string: "one" }] },
    { edits: [{ ...edit, line: 3 }] },
  ])("%j does not match the schema", (args) => {
    const { editTool } = makeFileWorkspace();
    expect(editTool.parameters.safeParse({ file_path: "a.txt", ...args }).success).toBe(false);
  });

  test("ten megabytes of text are searched and refused in bounded time", async () => {
    const files = await seen();
    const long = "not in it ".repeat(1_000_000);
    const edits = [edit, { old_string: long, new_string: "x" }];
    expect(await failure(files.edit({ file_path: "a.txt", edits }))).toStartWith("edits[1] failed");
    expect(files.text("a.txt")).toBe(TEXT);
  });

  test("entries in other agents' wording are understood", () => {
    const { editTool } = makeFileWorkspace();
    const input = { path: "a.txt", edits: '[{"oldText":"one","newText":1,"replaceAll":"true"}]' };
    const call = coerceCall(
      { type: "tool_call", id: "1", name: "MultiEdit", input },
      createToolRegistry([editTool]),
    );
    expect([call.name, call.input]).toEqual([
      "edit",
      { file_path: "a.txt", edits: [{ old_string: "one", new_string: "1", replace_all: true }] },
    ]);
  });
});

/**
 * A file with the intended place and another one that resembles it. A near miss changes the intended place or nothing.
 */
const NEAR_MISSES: [
  what: string,
  file: string,
  oldText: string,
  newText: string,
  wanted: string | undefined,
][] = [
  ["trailing space in the text", "a = 1;\nb = 2;\n", "b = 2; ", "b = 3;", "a = 1;\nb = 3;\n"],
  [
    "trailing space in the file",
    "a = 1;  \nb = 2;\n",
    "a = 1;\nb = 2;",
    "a = 1;\nb = 3;",
    "a = 1;  \nb = 3;\n",
  ],
  ["trailing space, two places", "x;\ny;\nx; \nz;\n", "x;  ", "w;", undefined],
  [
    "spaces for tabs",
    "f() {\n\ta;\n}\ng() {\n\tb;\n}\n",
    "    b;\n",
    "    c;\n",
    "f() {\n\ta;\n}\ng() {\n\tc;\n}\n",
  ],
  ["spaces for tabs, two depths", "\ta;\n\t\ta;\n", "    a;", "    b;", undefined],
  [
    "dedent by two",
    "if (x) {\n    y;\n}\nif (z) {\n    w;\n}\n",
    "  w;",
    "  v;",
    "if (x) {\n    y;\n}\nif (z) {\n    v;\n}\n",
  ],
  ["dedent by two, two places", "{\n  y;\n    y;\n}\n", "y;\n", "z;\n", undefined],
  [
    "dedent by two over lines of two depths",
    "  a {\n    b;\n  }\n    a {\n      b;\n    }\n",
    "a {\n  b;\n}\n",
    "a {\n  c;\n}\n",
    undefined,
  ],
  [
    "curly quotes in the text",
    "say('no');\nsay(\"yes\");\n",
    "say(“yes”);",
    'say("no");',
    "say('no');\nsay(\"no\");\n",
  ],
  ["curly quotes in the file", "say(“yes”);\n", 'say("yes");', 'say("no");', "say(“no”);\n"],
  ["curly quotes, two places", "say(“yes”);\nsay(„yes“);\n", 'say("yes");', "x", undefined],
  ["CRLF in the text", "a\nb\nc\n", "a\r\nb\r\n", "a\r\nx\r\n", "a\nx\nc\n"],
  ["CRLF in the file", "a\r\nb\r\nc\r\n", "b\nc", "b\nx\nc", "a\r\nb\r\nx\r\nc\r\n"],
  ["CRLF in the file, two places", "a\r\nb\r\na\r\nb\r\n", "a\nb", "c", undefined],
  ["another word", "total = 1;\ntotals = 2;\n", "totals = 1;", "totals = 3;", undefined],
  ["a line of the text missing in the file", "a;\nb;\nd;\n", "b;\nc;\nd;", "x;", undefined],
  ["another case", "Name = 1\nname = 2\n", "NAME = 1", "x", undefined],
];

describe("a near miss is applied at the intended place or not at all", () => {
  for (const [what, file, oldText, newText, wanted] of NEAR_MISSES) {
    for (const form of ["single", "edits"] as const) {
      test(`${what}, ${form}`, async () => {
        const files = await seen(file);
        const edit = { old_string: oldText, new_string: newText };
        const args = form === "single" ? edit : { edits: [edit] };
        await files.edit({ file_path: "a.txt", ...args }).catch(() => undefined);
        expect(files.text("a.txt")).toBe(wanted ?? file);
      });
    }
  }
});
