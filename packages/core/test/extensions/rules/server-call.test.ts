import { describe, expect, test } from "bun:test";
import { readServerCall } from "../../../src/extensions/rules/server-call.ts";

describe("readServerCall()", () => {
  test.each([
    ["mcp__disk__write_file", { path: "a.ts", content: "x" }, ["a.ts"], false],
    ["mcp__disk__read_multiple_files", { paths: ["a.ts", "b.ts"] }, ["a.ts", "b.ts"], true],
    ["mcp__disk__move_file", { source: "a.ts", destination: "b.ts" }, ["a.ts", "b.ts"], false],
    ["mcp__disk__createFile", { filePath: "a.ts" }, ["a.ts"], false],
    ["mcp__disk__getInfo", { relative_path: "a.ts" }, ["a.ts"], true],
    ["mcp__disk__read_and_update", { file: "a.ts" }, ["a.ts"], false],
    ["mcp__disk__save", { files: [{ path: "a.ts" }, { path: "b.ts" }] }, ["a.ts", "b.ts"], false],
    ["mcp__disk__save", { uri: "file:///srv/a%20b.ts" }, ["/srv/a b.ts"], false],
    ["mcp__disk__save", { uri: "https://example.com/a.ts", text: "a.ts" }, [], false],
    ["mcp_call", { tool: "mcp__disk__write_file", input: { path: "a.ts" } }, ["a.ts"], false],
    ["mcp_call", { tool: "mcp__disk__read_file", input: '{"path":"a.ts"}' }, ["a.ts"], true],
  ])("%s %j names its files", (tool, input, paths, isReading) => {
    expect(readServerCall(tool, input)).toEqual({ paths, commands: [], isReading });
  });

  test("finds the lines of a shell that a server is given", () => {
    expect(readServerCall("mcp__shell__execute", { command: ["git", "push"] })?.commands).toEqual([
      "git push",
    ]);
    expect(readServerCall("mcp__shell__execute", { options: { cmd: "ls" } })?.commands).toEqual(["ls"]);
  });

  test("is undefined for other tools, and survives any input", () => {
    expect(readServerCall("write", { file_path: "a.ts" })).toBeUndefined();
    expect(readServerCall("mcp_call", { tool: 7, input: "{" })).toEqual({
      ...{ paths: [], commands: [], isReading: false },
    });
    const deep = JSON.parse(`${'{"a":'.repeat(500)}1${"}".repeat(500)}`);
    expect(readServerCall("mcp__a__b", deep)?.paths).toEqual([]);
  });
});
