import { describe, expect, test } from "bun:test";
import { renderToolCall } from "../../../src/tui/blocks/tool-renderers.ts";
import { createTheme } from "../../../src/tui/theme.ts";
import { toolCall } from "../../support/tool-calls.ts";

const plain = createTheme({ color: false });
const colored = createTheme({ color: true });

type Call = Parameters<typeof renderToolCall>[0];

function render(call: Call, { width = 60, now = 0, cwd = "/home/u/shop" } = {}): string[] {
  return renderToolCall(call, { width, theme: plain, now, cwd });
}

function numbered(count: number): string {
  return Array.from({ length: count }, (_, index) => `line ${index + 1}`).join("\n");
}

describe("a read call", () => {
  const path = { file_path: "/home/u/shop/src/a.ts" };

  test("shows the path relative to the working directory, the range and the number of lines", () => {
    const metadata = { firstLine: 10, lastLine: 40 };
    expect(
      render(toolCall("read", { ...path, offset: 10, limit: 100 }, { output: "10\ta", metadata })),
    ).toEqual(["✓ read src/a.ts:10-40 · 31 lines"]);
    expect(
      render(toolCall("read", path, { output: "1\ta", metadata: { firstLine: 1, lastLine: 1 } })),
    ).toEqual(["✓ read src/a.ts · 1 line"]);
  });

  test("shows the request while it runs", () => {
    expect(render(toolCall("read", { ...path, offset: 10 }))).toEqual(["• read src/a.ts:10-"]);
    expect(render(toolCall("read", { ...path, limit: 5 }))).toEqual(["• read src/a.ts:1-5"]);
  });

  test("shows an empty file and an image", () => {
    expect(render(toolCall("read", path, { output: "", metadata: { firstLine: 0, lastLine: 0 } }))).toEqual([
      "✓ read src/a.ts · empty",
    ]);
    const metadata = { mediaType: "image/png", width: 640, height: 480 };
    expect(render(toolCall("read", { file_path: "../a.png" }, { output: "", metadata }))).toEqual([
      "✓ read ../a.png · image, 640 x 480",
    ]);
  });

  test("shortens a long path in favour of the outcome", () => {
    const call = toolCall(
      "read",
      { file_path: "a/".repeat(40) },
      { output: "", metadata: { firstLine: 1, lastLine: 9 } },
    );
    expect(render(call, { width: 30 })).toEqual(["✓ read a/a/a/a/a/a/… · 9 lines"]);
  });
});

describe("an edit or write call", () => {
  const diff = "--- a.ts\n+++ a.ts\n@@ -9,3 +9,4 @@\n a\n-\tconst b = 1;\n+\tconst b = 2;\n+\tc();\n d\n";

  test("shows the number of added and removed lines, and the diff", () => {
    const call = toolCall(
      "edit",
      { file_path: "a.ts" },
      { output: "Edited", metadata: { diff, added: 2, removed: 1 } },
    );
    expect(render(call)).toEqual([
      "✓ edit a.ts · +2 −1",
      "   9   a",
      "  10 -    const b = 1;",
      "  10 +    const b = 2;",
      "  11 +    c();",
      "  12   d",
    ]);
  });

  test("shows the first lines of a new file", () => {
    const added = numbered(30).replace(/^/gm, "+");
    const metadata = {
      diff: `--- a\n+++ a\n@@ -0,0 +1,30 @@\n${added}\n`,
      added: 30,
      removed: 0,
      created: true,
    };
    const lines = render(
      toolCall("write", { file_path: "a" }, { output: "Created /a (30 lines).", metadata }),
    );
    expect(lines.slice(0, 3)).toEqual(["✓ write a · new, 30 lines", "   1 + line 1", "   2 + line 2"]);
    expect(lines.slice(-2)).toEqual(["  12 + line 12", "  … 18 more lines (+18 −0)"]);
  });

  test("shows what formatters and language servers say, wrapped and without escape sequences", () => {
    const report =
      "New error since this change, by the language server \u001b[31mtypescript:\na.ts:1:1 no (ts1)";
    const metadata = { diff: "--- a\n+++ a\n@@ -1 +1 @@\n-a\n+b\n", added: 1, removed: 1, report };
    for (const name of ["edit", "write"]) {
      const lines = render(toolCall(name, { file_path: "a" }, { output: "", metadata }), { width: 40 });
      expect(lines.slice(3).map((line) => line.trim())).toEqual([
        "New error since this change, by the",
        "language server \\x1b[31mtypescript:",
        "a.ts:1:1 no (ts1)",
      ]);
      expect(lines.join("")).not.toContain("\u001b");
    }
  });

  test("says so if nothing changed", () => {
    expect(
      render(
        toolCall(
          "write",
          { file_path: "a" },
          { output: "a has this content already.", metadata: { unchanged: true } },
        ),
      ),
    ).toEqual(["✓ write a · unchanged"]);
  });

  test("shows no line counts for an earlier session", () => {
    expect(render(toolCall("edit", { file_path: "a" }, { output: "Edited /a." }))).toEqual(["✓ edit a"]);
    const created = { output: "Created /a (3 lines).", metadata: { created: true } };
    expect(render(toolCall("write", { file_path: "a" }, created))).toEqual(["✓ write a · new"]);
  });
});

describe("a bash call", () => {
  test("shows the command, and the end of its output", () => {
    const metadata = { exitCode: 0, durationMs: 4_210 };
    const call = toolCall(
      "bash",
      { command: "npm test" },
      { output: numbered(14), metadata, endedAt: 4_210 },
    );
    expect(render(call)).toEqual([
      "✓ bash npm test · 4.2 s",
      "  … 4 lines above",
      ...Array.from({ length: 10 }, (_, index) => `  line ${index + 5}`),
    ]);
  });

  test("shows an exit code once", () => {
    const metadata = { exitCode: 2, durationMs: 10 };
    const call = toolCall(
      "bash",
      { command: "false" },
      { output: "no\n[exit code 2]", isError: true, metadata },
    );
    expect(render(call)).toEqual(["✗ bash false · exit code 2", "  no"]);
  });

  test("takes the exit code from the tool's result, not from the command's output", () => {
    const ended = (exitCode: number | undefined, output: string) => {
      const metadata = { ...(exitCode !== undefined && { exitCode }) };
      return render(toolCall("bash", { command: "a" }, { output, isError: true, metadata }));
    };
    expect(ended(3, "[exit code 2]")).toEqual(["✗ bash a · exit code 3", "  [exit code 2]"]);
    expect(ended(2, "[exit code 2]")).toEqual(["✗ bash a · exit code 2"]);
    expect(ended(undefined, "There is no shell.")).toEqual(["✗ bash a · failed", "  There is no shell."]);
  });

  test("shows the output of a failed command undimmed", () => {
    const call = (exitCode: number) => {
      const metadata = { exitCode, durationMs: 1 };
      const result = { output: "a", isError: exitCode !== 0, metadata };
      return renderToolCall(toolCall("bash", { command: "b" }, result), {
        width: 60,
        theme: colored,
        now: 0,
      });
    };
    expect([call(0)[1], call(1)[1]]).toEqual(["  \x1b[2ma\x1b[22m", "  a"]);
  });

  test("shows the tool's message about a timeout", () => {
    const output = "a\n[timed out after 1000 ms; process group killed]";
    const metadata = { exitCode: null, signal: "SIGTERM", durationMs: 1_000 };
    const call = toolCall(
      "bash",
      { command: "sleep 9" },
      { output, isError: true, metadata, endedAt: 1_000 },
    );
    expect(render(call, { width: 80 })).toEqual([
      "✗ bash sleep 9 · killed by SIGTERM · 1 s",
      "  a",
      "  [timed out after 1000 ms; process group killed]",
    ]);
  });

  test("shows a command that is too long for the title in full below it", () => {
    const command = "cd a &&\n  for f in *; do echo $f; done";
    const input = { command, description: "List the files" };
    expect(render(toolCall("bash", input))).toEqual([
      "• bash List the files",
      "  $ cd a &&",
      "      for f in *; do echo $f; done",
    ]);
    expect(render(toolCall("bash", { command: "echo one two three" }), { width: 20 })).toEqual([
      "• bash",
      "  $ echo one two",
      "      three",
    ]);
    expect(render(toolCall("bash", { command: numbered(30) })).slice(-2)).toEqual([
      "    line 12",
      "    … 18 more lines",
    ]);
  });

  test("shows the last lines and whole seconds while it runs", () => {
    const call = { ...toolCall("bash", { command: "make" }), partial: `${numbered(9)}\r\n\n\x1b[32mok\n` };
    expect(render(call, { now: 63_900 })).toEqual([
      "• bash make · 1 min 3 s",
      "  line 6",
      "  line 7",
      "  line 8",
      "  line 9",
      "  \\x1b[32mok",
    ]);
    expect(render(call, { now: 900 })[0]).toBe("• bash make");
  });
});

describe("a search call", () => {
  test("shows the number of results, and the first ones", () => {
    const output = "a\nb\nc\nd\ne\nf\n[3 more files not shown]";
    expect(
      render(toolCall("grep", { pattern: "x y", path: "src" }, { output, metadata: { count: 9 } })),
    ).toEqual(["✓ grep x y in src · 9 files", "  a  b  c  d  e  f  … 3 more"]);
  });

  test("shows the first lines instead of files if lines were requested", () => {
    const input = { pattern: "x", output_mode: "content", glob: "*.ts" };
    expect(render(toolCall("grep", input, { output: "a.ts:1:x", metadata: { count: 1 } }))).toEqual([
      "✓ grep x in *.ts · 1 line",
      "  a.ts:1:x",
    ]);
    const output = Array.from({ length: 6 }, (_, index) => `a.ts:${index}:x`).join("\n");
    expect(render(toolCall("grep", input, { output, metadata: { count: 9 } })).slice(1)).toEqual([
      ...[0, 1, 2, 3, 4].map((line) => `  a.ts:${line}:x`),
      "  … 4 more",
    ]);
  });

  test("shows that there are no matches", () => {
    const result = { output: "No file matches *.zig.", metadata: { count: 0 } };
    expect(render(toolCall("glob", { pattern: "*.zig" }, result))).toEqual(["✓ glob *.zig · no matches"]);
    expect(render(toolCall("ls", {}, { output: "a is empty.", metadata: { count: 0 } }))).toEqual([
      "✓ ls . · empty",
    ]);
  });

  test("shows a directory", () => {
    const result = { output: "a/\n[b].ts (3 bytes)\n[a note]", metadata: { count: 2 } };
    expect(render(toolCall("ls", { path: "/home/u/shop/src" }, result))).toEqual([
      "✓ ls src · 2 entries",
      "  a/  [b].ts (3 bytes)",
    ]);
  });

  test("shows as many names as fit on one row", () => {
    const glob = (names: string[], count: number) =>
      render(toolCall("glob", { pattern: "*" }, { output: names.join("\n"), metadata: { count } }));
    const row = (names: string[], count = names.length) => glob(names, count)[1];
    const names = Array.from({ length: 12 }, (_, index) => `file-${index}.ts`);
    expect(row(names)).toBe("  file-0.ts  file-1.ts  file-2.ts  file-3.ts  … 8 more");
    expect(row(["日本語.ts", "b.ts"], 1_204)).toBe("  日本語.ts  b.ts  … 1,202 more");
    expect(row(["x".repeat(80), "b.ts"])).toBe(`  ${"x".repeat(57)}…`);
    expect(glob([], 3)).toEqual(["✓ glob * · 3 files"]);
  });
});

test("an add_knowledge call shows the type, and whether the content was new", () => {
  const input = { type: "pattern", content: "Tests run\nwith bun." };
  const saved = toolCall("add_knowledge", input, { output: "", metadata: { knowledgeId: "k" } });
  const known = toolCall("add_knowledge", input, { output: "", metadata: { knownAs: "k" } });
  expect(render(saved)).toEqual(["✓ add_knowledge pattern: Tests run with bun. · saved"]);
  expect(render(known)).toEqual(["✓ add_knowledge pattern: Tests run with bun. · already known"]);
  const content = "Amounts are whole cents, and what is left over goes to the first guests.";
  const long = toolCall("add_knowledge", { type: "pattern", content }, { output: "", metadata: {} });
  expect(render(long)).toEqual([
    "✓ add_knowledge pattern · saved",
    "  Amounts are whole cents, and what is left over goes to the",
    "  first guests.",
  ]);
});

describe("a task call", () => {
  const input = { agent: "explore", description: "Find the parser of tokens", prompt: "Find it." };
  const running = { ...toolCall("task", input), partial: "grep parseToken · 12k tokens · $0.04" };

  test("is one line while its sub-agent works: the task, the current call, tokens, cost and time", () => {
    expect(render(running, { width: 100, now: 34_000 })).toEqual([
      "• task explore: Find the parser of tokens · grep parseToken · 12k tokens · $0.04 · 34 s",
    ]);
  });

  test("keeps the beginning of the task where the line is narrow", () => {
    const [line = "", ...others] = render(running, { width: 40, now: 34_000 });
    expect(line).toStartWith("• task explore: Fi… · grep");
    expect(others).toEqual([]);
  });

  test("shows what it used and the beginning of the report once it has ended", () => {
    const output =
      "Sub-agent explore has finished (2 turns).\nIts report:\n\n  In a.ts:1.\nRead: a.ts.\nChanged: b.ts.";
    const call = toolCall("task", input, { output, metadata: { tokens: 12_400, cost: 0.041 } });
    expect(render(call, { width: 80 })).toEqual([
      "✓ task explore: Find the parser of tokens · 12k tokens · $0.04",
      "    In a.ts:1.",
      "  Read: a.ts.",
      "  Changed: b.ts.",
    ]);
  });
});

describe("a call of the language server", () => {
  const input = { action: "rename", file_path: "src/a.ts", line: 1, query: "total", new_name: "sum" };

  test("that renames shows both names, and the diff of all files", () => {
    const diff = "--- src/a.ts\n+++ src/a.ts\n@@ -1,1 +1,1 @@\n-total;\n+sum;\n";
    const output = "Renamed to sum in 1 place.\nApplied the patch:\nM src/a.ts (1 hunk)";
    expect(render(toolCall("lsp", input, { output, metadata: { diff, added: 1, removed: 1 } }))).toEqual([
      "✓ lsp rename total → sum, src/a.ts · +1 −1",
      "  1 - total;",
      "  1 + sum;",
    ]);
  });

  test("that asks shows the question, and the beginning of the answer", () => {
    const output = "src/a.ts:1:7\nsrc/b.ts:2:1";
    expect(render(toolCall("lsp", { ...input, action: "references" }, { output }))).toEqual([
      "✓ lsp references total, src/a.ts",
      "  src/a.ts:1:7",
      "  src/b.ts:2:1",
    ]);
    expect(render(toolCall("lsp", { action: "symbols", file_path: "src/a.ts" }))).toEqual([
      "• lsp symbols src/a.ts",
    ]);
  });
});
