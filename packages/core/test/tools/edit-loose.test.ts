import { describe, expect, test } from "bun:test";
import { planEdit } from "../../src/tools/edit/plan-edit.ts";
import { BUSY_MS } from "../support/busy-machine.ts";
import { failure, makeFileWorkspace } from "../support/file-workspace.ts";

function edited(text: string, oldText: string, newText: string): string {
  const outcome = planEdit(text, { oldText, newText, replaceAll: false });
  if (outcome.kind !== "edited") return `(${outcome.kind})`;
  return outcome.isExact ? `(exact) ${outcome.text}` : outcome.text;
}

describe("white space around lines", () => {
  test("trailing white space is ignored and stays in unchanged lines", () => {
    expect(edited("a  \nb\t\nc\n", "a\nb\nc", "a\nB\nc")).toBe("a  \nB\t\nc\n");
  });

  test("a missing common indentation is added to every line", () => {
    const file = "class A {\n    one() {\n        x;\n    }\n}\n";
    expect(edited(file, "one() {\n    x;\n}", "one() {\n    y;\n    if (z) {\n        w;\n    }\n}")).toBe(
      "class A {\n    one() {\n        y;\n        if (z) {\n            w;\n        }\n    }\n}\n",
    );
  });

  test("too much common indentation is removed", () => {
    expect(
      edited("if (a) {\n  b;\n}\n", "    if (a) {\n      b;\n    }", "    if (a) {\n      c;\n    }"),
    ).toBe("if (a) {\n  c;\n}\n");
  });

  test("spaces become the tabs of the file", () => {
    expect(
      edited(
        "f() {\n\tif (a) {\n\t\tb;\n\t}\n}\n",
        "    if (a) {\n        b;\n    }",
        "    if (c) {\n        b;\n        d;\n    }",
      ),
    ).toBe("f() {\n\tif (c) {\n\t\tb;\n\t\td;\n\t}\n}\n");
  });

  test("indentation without a consistent rule is not guessed", () => {
    expect(edited("  a\n      b\n", "a\n  b", "a\n  c")).toBe("(missing)");
    expect(edited("    a;\n    b;\n", "  a;\n  b;", "  a;\n    b;")).toBe("(missing)");
  });

  test("each line end stays as it is", () => {
    expect(edited("a \r\n  b\nc\r\n", "a\n  b\nc", "a\n  x\n  b\nc")).toBe("a \r\n  x\r\n  b\nc\r\n");
  });

  test("nothing is changed if two places match", () => {
    expect(edited("  a;\n  b;\n    a;\n", "a; ", "c;")).toBe("(ambiguous)");
    expect(edited("“x”\n”x“\n", '"x"', "y")).toBe("(ambiguous)");
  });

  test("blank text never matches loosely", () => {
    expect(edited("a\n\nb\n", "   ", "x")).toBe("(missing)");
  });
});

describe("typography", () => {
  test("quotes, dashes and spaces of the file stay outside the changed part", () => {
    expect(
      edited("He said “hi” – it’s\u00a0fine.\n", `He said "hi" - it's fine.`, `He said "hello" - it's fine.`),
    ).toBe("He said “hello” – it’s\u00a0fine.\n");
  });

  test("a part of a line is enough", () => {
    expect(edited("x = f(‘a’);\n", "f('a')", "g('a')")).toBe("x = g(‘a’);\n");
  });

  test("an exact match takes precedence over a loose one", () => {
    expect(edited('“a”\n"a"\n', '"a"', "b")).toBe("(exact) “a”\nb\n");
  });
});

test("the result says that the match was not exact and shows the change", async () => {
  const files = makeFileWorkspace();
  const path = files.put("a.txt", "one  \ntwo\n");
  const result = await files.readAndEdit("a.txt", "one\ntwo", "one\n2");
  expect(result.output).toBe(
    `Edited ${path} (line 1). old_string was not in the file exactly: white space, quotes, dashes or line ends differed.\n` +
      "Check that this is what you meant:\n@@ -1,2 +1,2 @@\n one  \n-two\n+2\n",
  );
});

describe("the error for a text that was not found", () => {
  test("shows the nearest text and the first difference", async () => {
    const files = makeFileWorkspace();
    const path = files.put("a.ts", "import x;\n\nfunction total(items) {\n  return items.length;\n}\n");
    expect(
      await failure(files.readAndEdit("a.ts", "function total(items) {\n  return items.size;\n}", "x")),
    ).toBe(
      [
        `old_string was not found in ${path}; nothing was changed.`,
        "The nearest text begins at line 3:",
        "3\tfunction total(items) {",
        "4\t  return items.length;",
        "5\t}",
        'First difference, in line 4: old_string has "  return items.size;", the file has "  return items.length;".',
      ].join("\n"),
    );
  });

  test("names line numbers that were copied into it", async () => {
    const files = makeFileWorkspace();
    files.put("a.ts", "alpha\nbeta\n");
    expect(await failure(files.readAndEdit("a.ts", "1\talpha\n2\tbeta", "x"))).toContain(
      "old_string seems to contain the line numbers that read puts in front.",
    );
  });

  test("says if only the encoding of accents differs", async () => {
    const files = makeFileWorkspace();
    files.put("a.ts", "cafe\u0301 open\n");
    expect(await failure(files.readAndEdit("a.ts", "caf\u00e9 open", "x"))).toContain("Unicode normal form");
  });

  test("says if the edit was made before", async () => {
    const files = makeFileWorkspace();
    files.put("a.ts", "let a;\nconst answer = 42;\n");
    expect(await failure(files.readAndEdit("a.ts", "const answer = 41;", "const answer = 42;"))).toContain(
      "new_string already exists, at line 2",
    );
  });

  test("says where in a long line the difference is", async () => {
    const files = makeFileWorkspace();
    files.put("min.js", `${"a=1;".repeat(50_000)}function go(){return 7}${"b=2;".repeat(50_000)}`);
    expect(await failure(files.readAndEdit("min.js", "function go(){return 8}", "x"))).toContain(
      'Its first 21 characters are in line 1, then it differs: old_string has "function go(){return 8}", the file has "function go(){return 7}b=2;',
    );
  });

  test("is quick on large files", async () => {
    const files = makeFileWorkspace();
    files.put("big.ts", "const value = compute(input, options);\n".repeat(200_000));
    const old = `${"const value = compute(input, options);\n".repeat(500)}nothing`;
    const started = performance.now();
    expect(await failure(files.readAndEdit("big.ts", old, "x"))).toContain("The nearest text begins at line");
    expect(performance.now() - started).toBeLessThan(4_000 + BUSY_MS);
  });
});
