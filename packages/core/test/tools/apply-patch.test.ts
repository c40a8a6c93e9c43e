import { describe, expect, test } from "bun:test";
import { existsSync, lstatSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { decideApproval } from "../../src/approval/policy.ts";
import { coerceCall } from "../../src/tool/coerce-call.ts";
import { createToolRegistry } from "../../src/tool/registry.ts";
import { createTools } from "../../src/tools/index.ts";
import { createApplyPatchTool } from "../../src/tools/patch-tool.ts";
import { failure, makeFileWorkspace } from "../support/file-workspace.ts";
import { runTool } from "../support/tool-workspace.ts";

const FUNCTIONS = "def a():\n    x = 1\n    return x\n\ndef b():\n    x = 1\n    return x\n";

const wrap = (...lines: string[]) => ["*** Begin Patch", ...lines, "*** End Patch"].join("\n");
const update = (path: string, ...lines: string[]) => wrap(`*** Update File: ${path}`, ...lines);

function place() {
  const files = makeFileWorkspace();
  const tool = createApplyPatchTool(files.workspace);
  return { ...files, tool, apply: (patch: string) => runTool(tool, { patch }) };
}

describe("a patch", () => {
  test("adds, changes, moves and deletes files in one call", async () => {
    const files = place();
    files.put("src/b.py", FUNCTIONS);
    files.put("old.txt", "one\ntwo\n");
    files.put("gone.txt", "x\n");
    const { output, metadata } = await files.apply(
      wrap(
        "*** Add File: new/deep/a.txt",
        "+first",
        "+",
        "*** Update File: src/b.py",
        "@@ def b():",
        "     x = 1",
        "-    return x",
        "+    return 2 * x",
        "*** Update File: old.txt",
        "*** Move to: moved/new.txt",
        "@@",
        " one",
        "-two",
        "+2",
        "*** Delete File: gone.txt",
      ),
    );
    expect(output).toBe(
      "Applied the patch:\nA new/deep/a.txt (2 lines)\nM src/b.py (1 hunk)\nR old.txt → moved/new.txt (1 hunk)\nD gone.txt",
    );
    expect(metadata).toMatchObject({ added: 4, removed: 3 });
    expect(files.text("new/deep/a.txt")).toBe("first\n\n");
    expect(files.text("src/b.py")).toBe(FUNCTIONS.replace(/return x\n$/, "return 2 * x\n"));
    expect(files.text("moved/new.txt")).toBe("one\n2\n");
    expect([existsSync(files.at("old.txt")), existsSync(files.at("gone.txt"))]).toEqual([false, false]);
  });

  test("changes nothing when one of its files cannot be changed", async () => {
    const files = place();
    files.put("a.txt", "one\n");
    files.put("b.txt", "two\n");
    const patch = wrap(
      "*** Update File: a.txt",
      "-one",
      "+1",
      "*** Add File: c.txt",
      "+new",
      "*** Update File: b.txt",
      "-tow",
      "+2",
    );
    expect(await failure(files.apply(patch))).toContain(`The hunk was not found in ${files.at("b.txt")}`);
    expect([files.text("a.txt"), files.text("b.txt"), existsSync(files.at("c.txt"))]).toEqual([
      "one\n",
      "two\n",
      false,
    ]);
  });

  test("undoes what it wrote when a later file cannot be written", async () => {
    const files = place();
    files.put("a.txt", "one\n");
    files.put("blocked", "a file\n");
    // No file can be created there, not even by root.
    const patch = wrap(
      ...["*** Update File: a.txt", "-one", "+1"],
      ...["*** Add File: sub/new.txt", "+x"],
      ...["*** Delete File: blocked"],
      ...["*** Add File: /proc/diligent/x", "+y"],
    );
    expect(await failure(files.apply(patch))).toContain(
      "The patch was not applied: Cannot make the directory",
    );
    expect([files.text("a.txt"), files.text("blocked")]).toEqual(["one\n", "a file\n"]);
    expect(existsSync(files.at("sub/new.txt"))).toBe(false);
  });

  test("is previewed as one diff of all files, which writes nothing", async () => {
    const files = place();
    files.put("a.txt", "one\n");
    const patch = wrap("*** Update File: a.txt", "-one", "+1", "*** Add File: b.txt", "+new");
    expect(await files.tool.preview?.({ patch })).toBe(
      "--- a.txt\n+++ a.txt\n@@ -1,1 +1,1 @@\n-one\n+1\n--- b.txt\n+++ b.txt\n@@ -0,0 +1,1 @@\n+new\n",
    );
    expect([files.text("a.txt"), existsSync(files.at("b.txt"))]).toEqual(["one\n", false]);
  });

  test("lets the files it wrote be edited without another read", async () => {
    const files = place();
    files.put("a.txt", "one\n");
    await files.apply(update("a.txt", "-one", "+1"));
    await files.edit({ file_path: "a.txt", old_string: "1", new_string: "2" });
    expect(files.text("a.txt")).toBe("2\n");
  });
});

describe("the place of a hunk", () => {
  const cases: [what: string, file: string, hunk: string[], after: string | RegExp][] = [
    [
      "is named by an @@ line",
      FUNCTIONS,
      ["@@ def b():", "-    x = 1", "+    x = 2"],
      FUNCTIONS.replace(/x = 1\n(?= {4}return x\n$)/, "x = 2\n"),
    ],
    ["follows the previous hunk", "a\nx\nb\nx\n", ["@@", " b", "@@", "-x", "+y"], "a\nx\nb\ny\n"],
    [
      "is refused when it could be two",
      FUNCTIONS,
      ["-    x = 1", "+    x = 2"],
      /matches 2 places in .* \(lines 2, 6\)/,
    ],
    [
      "is refused when the @@ line is there twice",
      "f:\n x\nf:\n x\n",
      ["@@ f:", "- x", "+ y"],
      /matches 2 places/,
    ],
    [
      "at the end of the file is preferred when named",
      "x\na\nx\n",
      ["-x", "+y", "*** End of File"],
      "x\na\ny\n",
    ],
    ["is not inside a line", "xx = 1\nx = 1\n", ["-x = 1", "+x = 2"], "xx = 1\nx = 2\n"],
    ["tolerates trailing space", "a  \nb\n", [" a", "-b", "+c"], "a  \nc\n"],
    ["tolerates tabs for spaces", "f\n\ta\n\tb\n", [" f", "     a", "-    b", "+    c"], "f\n\ta\n\tc\n"],
    ["tolerates quotes", "say(“x”)\nb\n", [' say("x")', "-b", "+c"], "say(“x”)\nc\n"],
    ["dedented by two, in two places, is refused", "    a\n  a\n", ["-a", "+b"], /matches 2 places/],
    ["keeps CRLF", "a\r\nb\r\nc\r\n", [" a", "-b", "+x", "+y", " c"], "a\r\nx\r\ny\r\nc\r\n"],
    ["keeps a missing line end", "a\nb", [" a", "-b", "+c"], "a\nc"],
    ["loses the last line", "a\nb", [" a", "-b"], "a"],
    ["loses all lines", "a\nb\n", ["-a", "-b"], ""],
    ["of added lines only is the end of the file", "a\nb\n", ["+c", "+d"], "a\nb\nc\nd\n"],
    ["of added lines only is the end of a file without line end", "a\nb", ["+c"], "a\nb\nc"],
    ["of added lines only follows its @@ line", "a\nb\n", ["@@ a", "+x"], "a\nx\nb\n"],
    [
      "of added lines only needs an @@ line of the file",
      "a\nb\n",
      ["@@ z", "+x"],
      /no line of .* is like its @@ line "z"/,
    ],
    ["may have the ranges of git", "a\nb\n", ["@@ -1,2 +1,2 @@", " a", "-b", "+c"], "a\nc\n"],
    ["may have an empty context line without its space", "a\n\nb\n", [" a", "", "-b", "+c"], "a\n\nc\n"],
  ];
  test.each(cases)("%s", async (_, file, hunk, after) => {
    const files = place();
    files.put("a.txt", file);
    const outcome = await files.apply(update("a.txt", ...hunk)).then(
      () => files.text("a.txt"),
      (error: unknown) => String(error),
    );
    if (typeof after === "string") expect(outcome).toBe(after);
    else {
      expect(outcome).toMatch(after);
      expect(files.text("a.txt")).toBe(file);
    }
  });

  test("that is missing is answered with the nearest lines", async () => {
    const files = place();
    files.put("a.py", "def first():\n    total = 1\n\ndef second():\n    total = 1\n");
    const message = await failure(
      files.apply(update("a.py", " def second():", "-    totals = 1", "+    totals = 2")),
    );
    expect(message).toContain("The nearest text begins at line 4:\n4\tdef second():\n5\t    total = 1");
    expect(message).toContain('The hunk has "    totals = 1", the file has "    total = 1"');
  });

  test("that matched loosely is shown in the result", async () => {
    const files = place();
    files.put("a.txt", "f\n\ta\n");
    const { output } = await files.apply(update("a.txt", " f", "-    a", "+    b"));
    expect(output).toContain("White space or quotes differed from the files.");
    expect(output).toContain("-\ta\n+\tb");
  });
});

describe("bad patches", () => {
  test.each([
    ["", 'The first line of a patch is "*** Begin Patch"'],
    ["diff --git a b", 'The first line of a patch is "*** Begin Patch"'],
    ["*** Begin Patch\n*** Update File: a.txt\n-one\n+1", 'The last line of a patch is "*** End Patch"'],
    [wrap(), "A patch needs at least one"],
    [wrap("*** Rename File: a.txt"), 'Expected "*** Add File: PATH"'],
    [
      wrap("*** Add File: b.txt", "text"),
      'Every line of an added file begins with "+" (line 3 of the patch: "text")',
    ],
    [update("a.txt"), "The update of a.txt has no hunk"],
    [update("a.txt", "@@"), "A hunk needs lines"],
    [
      update("a.txt", "one"),
      'Every line of a hunk begins with " " (unchanged), "-" (removed) or "+" (added)',
    ],
    [update("a.txt", " one"), "leaves"],
    [wrap("*** Delete File: a.txt", "*** Delete File: a.txt"), "names a.txt twice"],
    [wrap("*** Delete File: b.txt"), "There is no file or directory"],
    [wrap("*** Add File: a.txt", "+x"), "exists, so it cannot be added"],
    [update("a.txt", "*** Move to: c.txt", "-one", "+1"), "exists, so nothing can be moved there"],
    [wrap("*** Delete File: sub"), "is a directory"],
    [wrap("*** Delete File: link.txt"), "is a symbolic link"],
    [update("a.txt", "-one", "+\ud83d"), "half of a character"],
    [update("latin.txt", "-a", "+b"), "Read it, then try again"],
  ])("%j is refused with the reason, and nothing changes", async (patch, reason) => {
    const files = place();
    files.put("a.txt", "one\n");
    files.put("c.txt", "three\n");
    files.put("latin.txt", Buffer.from("a\né\n", "latin1"));
    mkdirSync(files.at("sub"));
    symlinkSync("a.txt", files.at("link.txt"));
    expect(await failure(files.apply(patch))).toContain(reason);
    expect([files.text("a.txt"), files.text("c.txt")]).toEqual(["one\n", "three\n"]);
    expect(lstatSync(files.at("link.txt")).isSymbolicLink()).toBe(true);
  });

  test("ten megabytes of lines are parsed and refused in bounded time", async () => {
    const files = place();
    files.put("a.txt", "one\n");
    const lines = Array.from({ length: 50_000 }, (_, index) => `-line ${index} of many ${"x".repeat(200)}`);
    expect(await failure(files.apply(update("a.txt", lines.join("\n"))))).toContain("was not found");
  });

  test.each([{}, { patch: 7 }, { patch: "x", more: 1 }])("%j does not match the schema", (args) => {
    expect(place().tool.parameters.safeParse(args).success).toBe(false);
  });
});

describe("approval", () => {
  const decide = async (files: ReturnType<typeof place>, patch: string) => {
    const request = files.tool.approval?.({ patch });
    const { root } = files;
    return request && decideApproval(request, { root, cwd: root, mode: "ask" });
  };

  test("is not needed for plain files of the project", async () => {
    const files = place();
    const patch = wrap("*** Add File: a.txt", "+x", "*** Add File: b/c.txt", "+x");
    expect(await decide(files, patch)).toMatchObject({ action: "allow", gate: "project" });
  });

  test.each([
    ["*** Add File: AGENTS.md", "control_file"],
    ["*** Add File: .git/hooks/pre-commit", "control_file"],
    ["*** Add File: ../outside.txt", "outside_project"],
    ["*** Add File: via/.env", "control_file"],
    ["*** Add File: out/x.txt", "outside_project"],
  ])("is needed when one of the files is %s, whatever its place in the patch", async (line, gate) => {
    const files = place();
    symlinkSync(".", files.at("via"));
    symlinkSync("/", files.at("out"));
    const other = ["*** Add File: plain.txt", "+x"];
    for (const patch of [wrap(line, "+x"), wrap(line, "+x", ...other), wrap(...other, line, "+x")])
      expect(await decide(files, patch)).toMatchObject({ action: "ask", gate });
  });

  test("is needed for the new location of a moved file", async () => {
    const files = place();
    files.put("a.txt", "x\n");
    const verdict = await decide(files, update("a.txt", "*** Move to: .envrc"));
    expect(verdict).toMatchObject({ action: "ask", gate: "control_file" });
  });

  test("covers all files that need it, so that the same patch is not asked about again", async () => {
    const files = place();
    const patch = wrap(
      "*** Add File: AGENTS.md",
      "+x",
      "*** Add File: a.txt",
      "+x",
      "*** Add File: .envrc",
      "+x",
    );
    const request = files.tool.approval?.({ patch });
    if (!request) throw new Error("no request");
    const context = { root: files.root, cwd: files.root, mode: "ask" as const };
    const verdict = await decideApproval(request, context);
    expect(verdict.grants).toHaveLength(2);
    expect(await decideApproval(request, { ...context, grants: verdict.grants ?? [] })).toMatchObject({
      action: "allow",
    });
  });

  test("holds for the files that were shown: a link that leads elsewhere meanwhile is refused", async () => {
    const files = place();
    mkdirSync(files.at("one"));
    mkdirSync(files.at("two"));
    symlinkSync("one", files.at("link"));
    const patch = wrap("*** Add File: link/a.txt", "+x");
    const args = files.tool.parameters.parse({ patch });
    files.tool.approval?.(args);
    rmSync(files.at("link"));
    symlinkSync("two", files.at("link"));
    const signal = new AbortController().signal;
    const run = files.tool.execute(args, { toolCallId: "1", signal, approve: async () => "once" });
    expect(await failure(run)).toContain("led elsewhere when it was approved");
    expect(existsSync(files.at("two/a.txt"))).toBe(false);
  });
});

describe("a patch that is typed into the shell", () => {
  const registry = createToolRegistry(
    createTools(makeFileWorkspace().workspace, { offersPatches: () => true }),
  );
  const patch = update("a.txt", "-one", "+$(two) `x`");
  const coerce = (name: string, command: string, tools = registry) => {
    const call = coerceCall({ type: "tool_call", id: "1", name, input: { command } }, tools);
    return [call.name, call.input];
  };

  test.each([
    `apply_patch <<'EOF'\n${patch}\nEOF`,
    `apply_patch << "PATCH"\n${patch}\nPATCH\n`,
    `  applypatch <<EOF\n${patch}\nEOF`,
  ])("is a call of the tool: %j", (command) => {
    expect(coerce("bash", command)).toEqual(["apply_patch", { patch }]);
    expect(coerce("shell", command)).toEqual(["apply_patch", { patch }]);
  });

  test.each([
    `apply_patch <<'EOF'\n${patch}\nEOF\nrm -rf x`,
    `cd sub; apply_patch <<'EOF'\n${patch}\nEOF`,
    `cd sub && cd x && apply_patch <<'EOF'\n${patch}\nEOF`,
    `cd $HOME && apply_patch <<'EOF'\n${patch}\nEOF`,
    `cd "$HOME" && apply_patch <<'EOF'\n${patch}\nEOF`,
    `cd ~/x && apply_patch <<'EOF'\n${patch}\nEOF`,
    `cd -P x && apply_patch <<'EOF'\n${patch}\nEOF`,
    `cd s* && apply_patch <<'EOF'\n${patch}\nEOF`,
    `cd "-" && apply_patch <<'EOF'\n${patch}\nEOF`,
    `cd '~' && apply_patch <<'EOF'\n${patch}\nEOF`,
    `cd - && apply_patch <<'EOF'\n${patch}\nEOF`,
    `cd sub && ls && apply_patch <<'EOF'\n${patch}\nEOF`,
    "apply_patch --help",
    "echo apply_patch",
  ])("together with other commands is left to the shell: %j", (command) => {
    expect(coerce("bash", command)).toEqual(["bash", { command }]);
  });

  test.each([
    ["sub", "sub"],
    ["sub/dir/", "sub/dir"],
    ['"a b"', "a b"],
    ["'a b'", "a b"],
    ["/abs", "/abs"],
    ["../up", "../up"],
  ])("after cd %s is a call with paths from there", (word, directory) => {
    const typed = [
      ...["*** Begin Patch", "*** Update File: a.txt", "*** Move to: d/b.txt", "-*** Add File: x", "+y"],
      ...["*** Add File: c.txt", "+*** Delete File: z", "*** Delete File: /abs/d.txt", "*** End Patch"],
    ];
    const expected = typed.map((line) =>
      /^\*\*\* (?:\w+ File|Move to): (?!\/)/.test(line) ? line.replace(": ", `: ${directory}/`) : line,
    );
    expect(coerce("bash", `cd ${word} && apply_patch <<'EOF'\n${typed.join("\n")}\nEOF`)).toEqual([
      "apply_patch",
      { patch: expected.join("\n") },
    ]);
  });

  test("is left to the shell where there is no such tool", () => {
    const command = `apply_patch <<'EOF'\n${patch}\nEOF`;
    const plain = createToolRegistry(createTools(makeFileWorkspace().workspace));
    expect(coerce("bash", command, plain)).toEqual(["bash", { command }]);
  });
});

test("edit and write are not offered while apply_patch is, and can be called all the same", () => {
  let offersPatches = true;
  const tools = createTools(makeFileWorkspace().workspace, { offersPatches: () => offersPatches });
  const registry = createToolRegistry(tools);
  const names = () => registry.definitions.map(({ name }) => name);
  expect(names()).toEqual(["read", "ls", "glob", "grep", "apply_patch", "bash"]);
  expect(registry.find("edit")?.name).toBe("edit");
  offersPatches = false;
  expect(names()).toEqual(["read", "ls", "glob", "grep", "edit", "write", "bash"]);
});

test("a file that changes between the question and the answer is patched as it is now", async () => {
  const files = place();
  files.put("a.txt", "one\ntwo\n");
  const patch = update("a.txt", "-two", "+2");
  await files.tool.preview?.({ patch });
  writeFileSync(files.at("a.txt"), "zero\none\ntwo\n");
  await files.apply(patch);
  expect(readFileSync(files.at("a.txt"), "utf8")).toBe("zero\none\n2\n");
});
