import { describe, expect, test } from "bun:test";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createPatientStage } from "../../support/language-server-stage.ts";
import { call } from "../../support/mcp-stage.ts";

const SERVER = join(import.meta.dir, "../../support/language-server.ts");

interface Renaming {
  files: Readonly<Record<string, string>>;
  behaviours?: readonly string[];
  config?: object;
  /** The user's own instructions. */
  rule?: string;
  /** A shell command before the rename, once the server has started. */
  before?: string;
  question?: object;
}

/** Renames `word` in `a.txt` to `name`, and returns the results with the files afterwards. */
async function rename({ files, behaviours = [], config, rule = "", before = "true", question }: Renaming) {
  const stage = createPatientStage();
  stage.environment.PATH = "/usr/bin:/bin";
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(join(stage.project, name, ".."), { recursive: true });
    writeFileSync(join(stage.project, name), text);
  }
  const listed = `rename=${Object.keys(files).join(",")}`;
  const command = [process.execPath, SERVER, "pull", ...behaviours, listed, `root=${stage.project}`];
  const lsp = { test: { command, extensions: [".txt"] } };
  stage.configure({ sandbox: "off", approval: "auto", lsp, ...config });
  writeFileSync(join(stage.home, ".config/diligent/AGENTS.md"), rule);
  const asked = { file_path: "a.txt", line: 1, query: "word", new_name: "name", ...question };
  const { results, events } = await stage.play([
    call("lsp", { action: "hover", file_path: "a.txt", line: 1, column: 1 }),
    call("bash", { command: before }),
    call("lsp", { action: "rename", ...asked }),
    { text: "Done." },
  ]);
  const after = Object.keys(files).map((name) => readFileSync(join(stage.project, name), "utf8"));
  const last = results.at(-1);
  return { output: last?.output ?? "", isError: last?.isError, after, events, stage };
}

const TEXT = "word = 1\nkeep\nword + sword\n";

describe("a rename by the lsp tool", () => {
  test("changes every place of every file, and keeps all other bytes", async () => {
    const crlf = "\ufeffone\r\nword\r\ntwo word word\r\n";
    const repeated = `${"x(word)\n".repeat(40)}y`;
    const { output, after, isError, events } = await rename({
      files: { "a.txt": TEXT, "sub/b.txt": crlf, "c.txt": repeated },
    });
    expect(isError).toBe(false);
    expect(after).toEqual([
      "name = 1\nkeep\nname + sword\n",
      crlf.replaceAll("word", "name"),
      repeated.replaceAll("word", "name"),
    ]);
    expect(output).toStartWith("Renamed to name in 45 places.\nApplied the patch:\nM a.txt (");
    const diffs = events.flatMap((event) =>
      event.type === "tool_end" ? [String(event.metadata?.diff)] : [],
    );
    expect(diffs.at(-1)).toContain("-word = 1\n+name = 1\n");
  });

  test("is computed anew for a file that has changed since the server has read it", async () => {
    const { after } = await rename({
      files: { "a.txt": TEXT, "b.txt": "word\n" },
      before: "printf 'first line\\nword again\\n' > b.txt",
    });
    expect(after).toEqual(["name = 1\nkeep\nname + sword\n", "first line\nname again\n"]);
  });

  test.each([
    [["overlap"], "The language server's changes of"],
    [["beyond"], "The language server names a place that"],
    [["create-file"], "The rename would also create, move or delete files"],
  ])("is refused, and changes nothing, if the server answers with %j", async (behaviours, message) => {
    const { output, isError, after } = await rename({ files: { "a.txt": TEXT, "b.txt": TEXT }, behaviours });
    expect([output.slice(0, message.length), isError, after]).toEqual([message, true, [TEXT, TEXT]]);
  });

  test("changes nothing if one of its files is outside the project, also through a link", async () => {
    const outside = createPatientStage().project;
    writeFileSync(join(outside, "o.txt"), TEXT);
    const files = { "a.txt": TEXT };
    const direct = await rename({ files, behaviours: [`rename=a.txt,${outside}/o.txt`] });
    const linked = await rename({
      files,
      behaviours: ["rename=a.txt,link/o.txt"],
      before: `ln -s ${outside} link`,
    });
    for (const { output, isError, after } of [direct, linked]) {
      expect(output).toStartWith("The rename would change files outside the project (");
      expect([isError, after]).toEqual([true, [TEXT]]);
    }
    expect(readFileSync(join(outside, "o.txt"), "utf8")).toBe(TEXT);
  });

  test("changes nothing if a rule denies writing one of its files", async () => {
    const { output, isError, after } = await rename({
      files: { "a.txt": TEXT, "b.txt": TEXT },
      config: { permissions: [{ permission: "write", pattern: "b.txt", action: "deny" }] },
    });
    expect([isError, after]).toEqual([true, [TEXT, TEXT]]);
    expect(output).toStartWith("Nothing was renamed. Refused: ");
  });

  test("is held to rules about the files that it would change", async () => {
    const { output, isError, after } = await rename({
      files: { "a.txt": TEXT, "b.txt": TEXT },
      rule: "Never edit `b.txt`.\n",
    });
    expect([isError, after]).toEqual([true, [TEXT, TEXT]]);
    expect(output).toStartWith("Nothing was renamed. Refused by a rule: ");
  });

  test("runs the hooks of the tool that makes the changes", async () => {
    const command = `[ "$(cat | grep -c apply_patch)" = 0 ] || { echo no patches >&2; exit 2; }`;
    const hooks = { PreToolUse: [{ matcher: "apply_patch", hooks: [{ type: "command", command }] }] };
    const { output, isError, after } = await rename({ files: { "a.txt": TEXT }, config: { hooks } });
    expect([isError, after]).toEqual([true, [TEXT]]);
    expect(output).toContain("no patches");
  });

  test("is refused in the mode plan", async () => {
    const { output, isError, after } = await rename({
      files: { "a.txt": TEXT },
      config: { approval: "plan" },
    });
    expect([isError, after]).toEqual([true, [TEXT]]);
    expect(output).toStartWith("Nothing was renamed. Refused: ");
  });

  test("says so if nothing would change", async () => {
    const { output, isError } = await rename({ files: { "a.txt": TEXT }, question: { new_name: "word" } });
    expect([output, isError]).toEqual(["It is called word already; nothing was changed.", true]);
  });
});
