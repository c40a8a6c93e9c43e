import { describe, expect, test } from "bun:test";
import { chmodSync } from "node:fs";
import { join } from "node:path";
import type { Tool, ToolResult } from "../../src/tool/types.ts";
import { createFormatting, type Formatter } from "../../src/tools/formatters.ts";
import { createTools } from "../../src/tools/index.ts";
import { observeChanges } from "../../src/tools/observe-changes.ts";
import { makeFileWorkspace } from "../support/file-workspace.ts";
import { runTool } from "../support/tool-workspace.ts";

/** A project with a formatter that is a shell script, and its tools. */
function setUp(script: string, changes: Partial<Formatter> = {}, name = "format") {
  const files = makeFileWorkspace();
  const program = files.put("tool/format.sh", `#!/bin/sh\n${script}\n`);
  chmodSync(program, 0o755);
  const formatter = { command: [program], extensions: [".ts"], ...changes };
  const environment = { HOME: join(files.root, "home"), PATH: process.env.PATH };
  const workspace = { ...files.workspace, environment };
  const tools = observeChanges(
    createTools(workspace, { offersPatches: () => true }),
    workspace.files,
    createFormatting(workspace, { [name]: formatter }),
  );
  const call = (toolName: string, input: object): Promise<ToolResult> => {
    const tool: Tool | undefined = tools.find((each) => each.name === toolName);
    if (!tool) throw new Error(`There is no tool ${toolName}.`);
    return runTool(tool, input);
  };
  return { ...files, call };
}

// Puts two blanks where four are, and adds a semicolon.
const SED = "sed -i 's/    /  /; s/[a-z0-9]$/&;/' \"$1\"";

describe("a formatter", () => {
  test("runs after an edit: the result shows its changes, and the file may be edited again at once", async () => {
    const place = setUp(SED);
    place.put("a b.ts", "if (x) {\n    one()\n    two\n}\n");
    await place.call("read", { file_path: "a b.ts" });
    const first = await place.call("edit", { file_path: "a b.ts", old_string: "two", new_string: "three" });
    expect(place.text("a b.ts")).toBe("if (x) {\n  one()\n  three;\n}\n");
    expect(first.output).toEndWith(
      "Then format formatted a b.ts:\n@@ -1,4 +1,4 @@\n if (x) {\n-    one()\n-    three\n+  one()\n+  three;\n }",
    );
    const second = await place.call("edit", {
      file_path: "a b.ts",
      old_string: "  three;",
      new_string: "  four",
    });
    expect(second.isError).toBeUndefined();
    expect(second.output).not.toContain("had changed since it was read");
    expect(place.text("a b.ts")).toBe("if (x) {\n  one()\n  four;\n}\n");
  });

  test("runs after a new file and after a patch of several, on files with its extensions only", async () => {
    const place = setUp(SED, { extensions: ["TS", "js"] });
    const written = await place.call("write", { file_path: "new.js", content: "    a\n" });
    expect(written.output).toContain("Then format formatted new.js:");
    const patch = "*** Begin Patch\n*** Add File: x.ts\n+    b\n*** Add File: y.md\n+    c\n*** End Patch";
    const patched = await place.call("apply_patch", { patch });
    expect(patched.output).toContain("Then format formatted x.ts:");
    expect([place.text("new.js"), place.text("x.ts"), place.text("y.md")]).toEqual([
      "  a;\n",
      "  b;\n",
      "    c\n",
    ]);
  });

  test("gets the file in place of $FILE, whatever characters its name has, and from the working directory", async () => {
    const place = setUp('printf "%s|" "$@" > seen; pwd >> seen', {});
    const name = "it's $(touch owned) `x`.ts";
    const program = place.at("tool/format.sh");
    const other = setUp("", { command: [program, "--file=$FILE", "--last"] });
    await other.call("write", { file_path: name, content: "a\n" });
    expect(other.text("seen")).toBe(`--file=${other.at(name)}|--last|${other.root}\n`);
  });

  test("that fails leaves the edit, and the result says why", async () => {
    const place = setUp("echo 'a.ts:1: unexpected token' >&2; exit 2");
    const { output, isError } = await place.call("write", { file_path: "a.ts", content: "a (\n" });
    expect([isError, place.text("a.ts")]).toEqual([undefined, "a (\n"]);
    expect(output).toEndWith("[formatter format, a.ts: a.ts:1: unexpected token\n[exit code 2]]");
    const missing = setUp("", { command: ["no-such-program"] });
    const result = await missing.call("write", { file_path: "a.ts", content: "a\n" });
    expect(result.output).toContain("no-such-program");
    expect(result.isError).toBeUndefined();
  });

  test("that deletes the file, or writes what cannot be shown, is reported", async () => {
    const deleting = setUp('rm "$1"');
    const { output } = await deleting.call("write", { file_path: "a.ts", content: "a\n" });
    expect(output).toContain("[formatter format, a.ts: the file is gone");
    const binary = setUp("printf '\\377\\376\\000x' > \"$1\"");
    const result = await binary.call("write", { file_path: "a.ts", content: "a\n" });
    expect(result.output).toContain("Then format formatted a.ts; its text cannot be shown.");
  });

  test("says nothing if it changes nothing, and does not run after a failed or reading call", async () => {
    const place = setUp('echo run >> log; true "$1"');
    place.put("a.ts", "a\n");
    const { output } = await place.call("read", { file_path: "a.ts" });
    const failed = place.call("edit", { file_path: "a.ts", old_string: "zzz", new_string: "y" });
    await expect(failed).rejects.toThrow("was not found");
    const edited = await place.call("edit", { file_path: "a.ts", old_string: "a", new_string: "b" });
    expect(`${output}${edited.output}`).not.toContain("format");
    expect(place.text("log")).toBe("run\n");
  });
});
