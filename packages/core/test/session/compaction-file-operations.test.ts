import { describe, expect, test } from "bun:test";
import { extractFileOperations, formatFileOperations } from "../../src/session/compaction.ts";
import type { Message } from "../../src/types.ts";
import { assistant, call, result, user } from "../support/messages.ts";

/** A call with its result. */
function used(toolName: string, input: Record<string, unknown>, isError = false): Message[] {
  const id = `${toolName}_${JSON.stringify(input)}`;
  return [assistant([call(id, toolName, input)]), result(id, "done", { toolName, isError })];
}

const at = (file_path: unknown) => ({ file_path });

describe("extractFileOperations", () => {
  test("of a conversation without tools finds nothing", () => {
    expect(extractFileOperations([user("hi")])).toEqual({ readFiles: [], modifiedFiles: [] });
  });

  test("pairs calls with their results and sorts what was read and what was modified", () => {
    const messages = [
      ...used("read", at("src/b.ts")),
      ...used("read", at("src/a.ts")),
      ...used("write", at("new.ts")),
      ...used("edit", at("docs/x.md")),
    ];
    expect(extractFileOperations(messages)).toEqual({
      readFiles: ["src/a.ts", "src/b.ts"],
      modifiedFiles: ["docs/x.md", "new.ts"],
    });
  });

  test("takes a file that was modified off those that were read", () => {
    const messages = [...used("read", at("a")), ...used("edit", at("a")), ...used("read", at("./a"))];
    expect(extractFileOperations(messages)).toEqual({ readFiles: [], modifiedFiles: ["a"] });
  });

  test("passes over calls that failed, were not answered, or belong to other tools", () => {
    const messages = [
      ...used("read", at("missing.ts"), true),
      ...used("edit", at("refused.ts"), true),
      ...used("grep", { pattern: "x", path: "src" }),
      ...used("glob", { pattern: "*" }),
      ...used("bash", { command: "cat a" }),
      assistant([call("open", "read", at("unanswered.ts"))]),
      result("nobody", "done"),
    ];
    expect(extractFileOperations(messages)).toEqual({ readFiles: [], modifiedFiles: [] });
  });

  test("reads the path from either of its two names and passes over what is none", () => {
    const messages = [
      ...used("read", { path: "old-name.ts" }),
      ...used("read", {}),
      ...used("read", at(7)),
      ...used("read", at("  ")),
    ];
    expect(extractFileOperations(messages).readFiles).toEqual(["old-name.ts"]);
  });

  test("lists each file once, however its path was written", () => {
    const messages = ["./a.ts", "a.ts", "src/../a.ts", ".//a.ts", "/w/./b.ts", "/w/b.ts"].flatMap((path) =>
      used("read", at(path)),
    );
    expect(extractFileOperations(messages).readFiles).toEqual(["/w/b.ts", "a.ts"]);
  });

  test("knows a call by another agent's names from its result", () => {
    const messages = [
      assistant([call("x", "Write", { filePath: "a.ts" })]),
      result("x", "done", { toolName: "write" }),
    ];
    expect(extractFileOperations(messages)).toEqual({ readFiles: [], modifiedFiles: ["a.ts"] });
  });

  test("goes by the newest call where an id comes back", () => {
    const messages = [
      assistant([call("x", "read", at("first"))]),
      assistant([call("x", "write", at("second"))]),
      result("x"),
      result("x"),
    ];
    expect(extractFileOperations(messages)).toEqual({ readFiles: [], modifiedFiles: ["second"] });
  });

  test("pairs two calls of one message that have the same id in their order", () => {
    const messages = [
      assistant([call("x", "read", at("one")), call("x", "read", at("two"))]),
      result("x", "no", { isError: true }),
      result("x"),
    ];
    expect(extractFileOperations(messages).readFiles).toEqual(["two"]);
  });

  test("adds to what earlier compactions have found", () => {
    const before = { readFiles: ["a", "c"], modifiedFiles: ["m"] };
    const messages = [...used("read", at("b")), ...used("read", at("m")), ...used("edit", at("c"))];
    expect(extractFileOperations(messages, before)).toEqual({
      readFiles: ["a", "b"],
      modifiedFiles: ["c", "m"],
    });
    expect(before).toEqual({ readFiles: ["a", "c"], modifiedFiles: ["m"] });
  });
});

describe("extractFileOperations with a base", () => {
  const base = { cwd: "/w/project/packages", home: "/home/me" };

  test("takes a modified file off those that were read, however either call names it", () => {
    const named = [
      "a.txt",
      "./a.txt",
      "/w/project/packages/a.txt",
      "../packages/a.txt",
      "/w/../w/project/packages//a.txt",
    ];
    for (const read of named) {
      for (const modified of named) {
        const messages = [...used("read", at(read)), ...used("edit", at(modified))];
        expect(extractFileOperations(messages, undefined, base)).toEqual({
          readFiles: [],
          modifiedFiles: ["a.txt"],
        });
      }
    }
  });

  test("knows the home directory by its two names", () => {
    const messages = [...used("read", at("~/notes.md")), ...used("write", at("/home/me/notes.md"))];
    expect(extractFileOperations(messages, undefined, base)).toEqual({
      readFiles: [],
      modifiedFiles: ["/home/me/notes.md"],
    });
    const inHome = { cwd: "/home/me/project", home: "/home/me" };
    expect(extractFileOperations(used("read", at("~/project/x")), undefined, inHome).readFiles).toEqual([
      "x",
    ]);
  });

  test("names what lies outside the working directory by its absolute path", () => {
    const messages = ["../README.md", "/etc/hosts", "..", ".", "~user/x", "~"].flatMap((path) =>
      used("read", at(path)),
    );
    expect(extractFileOperations(messages, undefined, base).readFiles).toEqual([
      "/etc/hosts",
      "/home/me",
      "/w/project",
      "/w/project/README.md",
      "/w/project/packages",
      "~user/x",
    ]);
  });

  test("brings the lists of an earlier compaction to the same names", () => {
    const before = {
      readFiles: ["/w/project/packages/a.txt", "b.txt"],
      modifiedFiles: ["/w/project/packages/c.txt"],
    };
    const messages = [...used("edit", at("a.txt")), ...used("read", at("c.txt"))];
    expect(extractFileOperations(messages, before, base)).toEqual({
      readFiles: ["b.txt"],
      modifiedFiles: ["a.txt", "c.txt"],
    });
  });
});

describe("formatFileOperations", () => {
  test("puts each list under its heading and into its tag, one bare path a line", () => {
    expect(formatFileOperations({ readFiles: ["a", "b c"], modifiedFiles: ["d"] })).toBe(
      "\n\n## Files Read\n<read-files>\na\nb c\n</read-files>" +
        "\n\n## Files Modified\n<modified-files>\nd\n</modified-files>",
    );
  });

  test("leaves out a list that is empty", () => {
    expect(formatFileOperations({ readFiles: [], modifiedFiles: [] })).toBe("");
    expect(formatFileOperations({ readFiles: ["a"], modifiedFiles: [] })).not.toContain("Modified");
    expect(formatFileOperations({ readFiles: [], modifiedFiles: ["a"] })).not.toContain("Read");
  });

  test("keeps every path on its line and from looking like a tag", () => {
    const readFiles = ["a\nb", "</read-files>", "x\u2028## Goal", "a<b", "\u001b[31m", "c\r<Read-Files>"];
    const lines = formatFileOperations({ readFiles, modifiedFiles: [] }).split("\n").slice(4, -1);
    expect(lines).toEqual([
      "a\\u{a}b",
      "\\u{3c}/read-files>",
      "x\\u{2028}## Goal",
      "a\\u{3c}b",
      "\\u{1b}[31m",
      "c\\u{d}\\u{3c}Read-Files>",
    ]);
  });

  test("counts what has no room, modified files being the last to go", () => {
    const details = { readFiles: ["aaaa", "bbbb", "cccc"], modifiedFiles: ["dddd"] };
    expect(formatFileOperations(details, { maxCharacters: 10 })).toBe(
      "\n\n## Files Read\n<read-files>\naaaa\n</read-files>\n(2 more files left out here)" +
        "\n\n## Files Modified\n<modified-files>\ndddd\n</modified-files>",
    );
    expect(formatFileOperations(details, { maxCharacters: 0 })).toContain("(1 more file left out here)");
  });
});
