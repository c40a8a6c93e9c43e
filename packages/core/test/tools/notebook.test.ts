import { describe, expect, test } from "bun:test";
import { removeInvisible } from "../../src/infrastructure/text/unicode.ts";
import { failure, makeFileWorkspace } from "../support/file-workspace.ts";
import { codeCell, createNotebook, markdownCell, streamOutput } from "../support/notebook-documents.ts";

// One red pixel.
const PNG =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==";

const CELLS = [
  markdownCell("intro", "# Results\nof the first “run”"),
  codeCell("load", "import math\n\nx = 1\nprint(x)", [streamOutput("1\n2\n")]),
  codeCell("plot", "x = 2", [
    { output_type: "display_data", data: { "image/png": PNG, "text/plain": ["<Figure>"] }, metadata: {} },
    {
      output_type: "error",
      ename: "ValueError",
      evalue: "no",
      traceback: ["\u001b[31mValueError\u001b[0m: no"],
    },
  ]),
  codeCell("empty", ""),
];

describe("read shows a notebook", () => {
  test("as cells with their sources and outputs, with images, and without colours", async () => {
    const files = makeFileWorkspace();
    files.put("a.ipynb", createNotebook(CELLS));
    const { output, images } = await files.read({ file_path: "a.ipynb" });
    const lines = [
      "--- cell 1 (markdown, id intro) ---",
      "# Results",
      "of the first “run”",
      "--- cell 2 (code, id load, run 1) ---",
      "import math",
      "",
      "x = 1",
      "print(x)",
      "--- stdout ---",
      "1",
      "2",
      "--- cell 3 (code, id plot, run 1) ---",
      "x = 2",
      "--- result ---",
      "[image 1]",
      "--- error ---",
      "ValueError: no",
      "--- cell 4 (code, id empty, run 1) ---",
    ];
    const numbered = lines.map((line, index) => `${index + 1}\t${line}`).join("\n");
    const note =
      "(A notebook of 4 cells. edit replaces text in the source of a cell. With the heading of a cell it deletes one; a line such as --- cell (code) --- begins a new one.)";
    expect(output).toBe(`${numbered}\n${note}`);
    expect(images).toEqual([
      { type: "image", source: { type: "base64", mediaType: "image/png", data: PNG } },
    ]);
  });

  test("in pages, and long outputs shortened", async () => {
    const files = makeFileWorkspace();
    const long = Array.from({ length: 1_000 }, (_, index) => `${index}\n`).join("");
    const bar = "10%\r50%\r100%\n";
    files.put("a.ipynb", createNotebook([codeCell("a", "x", [streamOutput(long), streamOutput(bar)])]));
    const { output } = await files.read({ file_path: "a.ipynb" });
    expect(output.split("\n")).toHaveLength(2 + 1 + 101 + 2 + 1);
    expect(output).toContain("[900 lines left out]");
    expect(output).toContain("\t100%\n(A notebook of 1 cell.");
    const page = await files.read({ file_path: "a.ipynb", offset: 2, limit: 1 });
    expect(page.output).toStartWith("2\tx\n(Lines 2-2 shown; more follow. Continue with offset=3.)");
  });

  test("as its text if it is none, or one of another format", async () => {
    const files = makeFileWorkspace();
    for (const text of [
      "not JSON",
      "{}",
      '{"cells": 1}',
      '{"cells": [{"source": 1}]}',
      '{"worksheets": []}',
    ]) {
      files.put("a.ipynb", text);
      expect((await files.read({ file_path: "a.ipynb" })).output).toBe(`1\t${text}`);
    }
    files.put("a.json", createNotebook(CELLS));
    expect((await files.read({ file_path: "a.json" })).output).toStartWith("1\t{");
  });
});

/** The notebook after an edit of one cell, and that nothing else of its text has changed. */
async function edit(text: string, oldText: string, newText: string, replaceAll = false): Promise<string> {
  const files = makeFileWorkspace();
  files.put("a.ipynb", text);
  await files.readAndEdit("a.ipynb", oldText, newText, replaceAll);
  return files.text("a.ipynb");
}

describe("edit changes a notebook", () => {
  test("in the source of one cell, and nothing else of its text", async () => {
    for (const indent of [1, 2, 4, "\t"]) {
      const changed = [...CELLS];
      changed[1] = codeCell("load", 'import math\n\ny = "é\\n"\nz = 2\nprint(x)', [streamOutput("1\n2\n")]);
      const text = await edit(createNotebook(CELLS, indent), "x = 1", 'y = "é\\n"\nz = 2');
      expect(text).toBe(createNotebook(changed, indent));
    }
  });

  test("also without the white space that Jupyter adds, and where a source is one string", async () => {
    const text = JSON.stringify({ cells: [{ cell_type: "code", source: "a\nb", outputs: [] }], nbformat: 4 });
    expect(JSON.parse(await edit(text, "b", "c\nd")).cells[0].source).toBe("a\nc\nd");
    const lists = JSON.stringify({ cells: [{ cell_type: "code", source: ["a\n", "b"] }], nbformat: 4 });
    const edited = await edit(lists, "b", "c\nd");
    expect([JSON.parse(edited).cells[0].source, edited.split("\n")]).toEqual([["a\n", "c\n", "d"], [edited]]);
  });

  test("so that a cell becomes empty, or loses its last line", async () => {
    const cells = (text: string) => JSON.parse(text).cells.map(({ source }: { source: string[] }) => source);
    expect(cells(await edit(createNotebook(CELLS), "x = 2", ""))[2]).toEqual([]);
    expect(cells(await edit(createNotebook(CELLS), "x = 1\nprint(x)", "x = 1"))[1]).toEqual([
      "import math\n",
      "\n",
      "x = 1",
    ]);
  });

  test("in all cells with replace_all, and not where the text is in several", async () => {
    const files = makeFileWorkspace();
    files.put("a.ipynb", createNotebook(CELLS));
    await files.read({ file_path: "a.ipynb" });
    expect(
      await failure(files.edit({ file_path: "a.ipynb", old_string: "x = ", new_string: "y = " })),
    ).toContain("occurs 2 times");
    expect(
      await failure(files.edit({ file_path: "a.ipynb", old_string: "x = ", new_string: "y = " })),
    ).toContain("lines 7, 13");
    expect(files.text("a.ipynb")).toBe(createNotebook(CELLS));
    const text = await edit(createNotebook(CELLS), "x = ", "y = ", true);
    expect(text).toBe(createNotebook(CELLS).replaceAll("x = ", "y = "));
  });

  test("never outside of a source: not in outputs, headings or the JSON, nor across cells", async () => {
    const files = makeFileWorkspace();
    files.put("a.ipynb", createNotebook(CELLS));
    await files.read({ file_path: "a.ipynb" });
    for (const text of [
      "--- stdout ---",
      "ValueError: no",
      '"cell_type"',
      "python3",
      "print(x)\n--- stdout ---",
    ])
      expect(
        await failure(files.edit({ file_path: "a.ipynb", old_string: text, new_string: "z" })),
      ).toContain("was not found");
    for (const control of ["\u0001", "\n\u0002\n"])
      expect(
        await failure(files.edit({ file_path: "a.ipynb", old_string: "x = 1", new_string: control })),
      ).toContain("within one cell");
    expect(files.text("a.ipynb")).toBe(createNotebook(CELLS));
  });

  test("not where the JSON has two sources in a cell; near misses are shown without control characters", async () => {
    const files = makeFileWorkspace();
    const text = '{"cells":[{"cell_type":"code","source":["a"],"source":["b"]}]}';
    files.put("a.ipynb", text);
    const twice = files.readAndEdit("a.ipynb", "b", "c");
    expect(await failure(twice)).toContain("is not as Jupyter writes it");
    expect(files.text("a.ipynb")).toBe(text);
    files.put("b.ipynb", createNotebook(CELLS));
    const miss = await failure(files.readAndEdit("b.ipynb", "print(x)\n--- stdout ---\n1", "y"));
    expect(miss).toContain("8\tprint(x)\n9\t(output)");
    expect(removeInvisible(miss).removed).toBe(0);
  });

  test("as JSON if its cells cannot be read", async () => {
    expect(await edit('{"worksheets": [1]}', "[1]", "[2]")).toBe('{"worksheets": [2]}');
  });
});

/** The cells of a notebook's text: type, source and the number of outputs. */
function cellsOf(text: string): [string, string, number | undefined][] {
  const { cells }: { cells: { cell_type: string; source: string[]; outputs?: unknown[] }[] } =
    JSON.parse(text);
  return cells.map(({ cell_type, source, outputs }) => [cell_type, source.join(""), outputs?.length]);
}

const HEADINGS = [
  "--- cell 1 (markdown, id intro) ---",
  "--- cell 2 (code, id load, run 1) ---",
  "--- cell 3 (code, id plot, run 1) ---",
  "--- cell 4 (code, id empty, run 1) ---",
] as const;

describe("edit adds and deletes cells of a notebook", () => {
  test("adds cells after a source, in the format of the notebook, and changes nothing else", async () => {
    for (const indent of [1, 2, 4, "\t"]) {
      const added = "x = 2\n--- cell (markdown) ---\n# Next\n--- cell (code) ---\ny = 3\nz = 4";
      const text = await edit(createNotebook(CELLS, indent), "x = 2", added);
      const { cells } = JSON.parse(text);
      expect(cells[3]).toEqual({
        cell_type: "markdown",
        id: expect.any(String),
        metadata: {},
        source: ["# Next"],
      });
      expect(cells[4]).toEqual({
        ...{
          cell_type: "code",
          execution_count: null,
          id: expect.stringMatching(/^[\da-f]{8}$/),
          metadata: {},
        },
        ...{ outputs: [], source: ["y = 3\n", "z = 4"] },
      });
      const expected = [...CELLS.slice(0, 3), cells[3], cells[4], ...CELLS.slice(3)];
      expect(text).toBe(createNotebook(expected, indent));
    }
  });

  test("adds a cell before the first, and one without a source at the end", async () => {
    const first = await edit(
      createNotebook(CELLS),
      HEADINGS[0],
      `--- cell (code) ---\na = 1\n${HEADINGS[0]}`,
    );
    expect(cellsOf(first).slice(0, 2)).toEqual([
      ["code", "a = 1", 0],
      ["markdown", "# Results\nof the first “run”", undefined],
    ]);
    const last = await edit(createNotebook(CELLS), HEADINGS[3], `${HEADINGS[3]}\n--- cell (raw) ---`);
    expect(cellsOf(last).slice(3)).toEqual([
      ["code", "", 0],
      ["raw", "", undefined],
    ]);
  });

  test("deletes a cell with its outputs, also the first, the last and all", async () => {
    const middle = await edit(createNotebook(CELLS), `${HEADINGS[2]}\nx = 2`, "");
    expect(middle).toBe(createNotebook([CELLS[0], CELLS[1], CELLS[3]].map((cell) => cell ?? {})));
    const first = await edit(createNotebook(CELLS), `${HEADINGS[0]}\n# Results\nof the first “run”`, "");
    expect(first).toBe(createNotebook(CELLS.slice(1)));
    expect(await edit(createNotebook(CELLS), HEADINGS[3], "")).toBe(createNotebook(CELLS.slice(0, 3)));
    const only = createNotebook([codeCell("a", "x")]);
    expect(cellsOf(await edit(only, "--- cell 1 (code, id a, run 1) ---\nx", ""))).toEqual([]);
  });

  test("joins two cells when the heading between them is deleted", async () => {
    const cells = [codeCell("a", "x = 1"), codeCell("b", "y = 2")];
    const joined = await edit(createNotebook(cells), "--- cell 2 (code, id b, run 1) ---\n", "");
    expect(joined).toBe(createNotebook([codeCell("a", "x = 1\ny = 2")]));
  });

  test("also in a notebook on one line and without ids", async () => {
    const text = JSON.stringify({ cells: [{ cell_type: "code", source: ["a"], outputs: [] }], nbformat: 4 });
    const edited = await edit(text, "a", "a\n--- cell (code) ---\nb");
    expect(edited).not.toContain("\n");
    expect(cellsOf(edited)).toEqual([
      ["code", "a", 0],
      ["code", "b", 0],
    ]);
    expect(JSON.parse(edited).cells[1]).not.toHaveProperty("id");
  });

  test("refuses what is not clear, and leaves the notebook as it is", async () => {
    for (const [oldText, newText, message] of [
      ["--- cell 9 (code) ---", "", "was not found"],
      [`${HEADINGS[2]}\nx = 3`, "", "was not found"],
      [`${HEADINGS[2]}\n  x = 2`, "", "was not found"],
      [HEADINGS[0], "", "begin it with --- cell (code) ---"],
      [HEADINGS[3], "--- cell (code) ---\n\u0002x", "control character"],
    ] as const) {
      const files = makeFileWorkspace();
      files.put("a.ipynb", createNotebook(CELLS));
      expect(await failure(files.readAndEdit("a.ipynb", oldText, newText))).toContain(message);
      expect(files.text("a.ipynb")).toBe(createNotebook(CELLS));
    }
    const files = makeFileWorkspace();
    const confusing = createNotebook([codeCell("a", "--- cell 1 (code) ---")]);
    files.put("a.ipynb", confusing);
    const refused = files.readAndEdit("a.ipynb", "--- cell 1 (code, id a, run 1) ---", "");
    expect(await failure(refused)).toContain("looks like the heading of a cell");
    expect(files.text("a.ipynb")).toBe(confusing);
  });
});
