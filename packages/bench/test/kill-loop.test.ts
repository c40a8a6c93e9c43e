import { describe, expect, test } from "bun:test";
import { tmpdir } from "node:os";
import type { SessionEntry } from "@diligent/core/run";
import { findLost } from "../src/kill/find-lost.ts";
import { runAndKill } from "../src/kill/killed-run.ts";
import { toMessage } from "../src/stage/session-files.ts";

const entries: SessionEntry[] = [0, 1, 2].map((number) => ({
  type: "message",
  id: `0000000${number}`,
  parentId: null,
  timestamp: "",
  message: toMessage(number, "output"),
}));
const [, reply] = entries;
const messageEnd = { type: "message_end", message: reply?.type === "message" && reply.message };
const toolEnd = { type: "tool_end", toolCallId: "toolu_0", output: "output" };

describe("findLost", () => {
  test("finds nothing where everything that was finished is in the file", () => {
    expect(findLost([{ type: "tool_start" }, messageEnd, toolEnd], entries)).toEqual([]);
  });

  test("finds a message, a result and a prompt that are not", () => {
    expect(findLost([messageEnd], entries.slice(0, 1))).toEqual([JSON.stringify(messageEnd)]);
    expect(findLost([toolEnd], entries.slice(0, 2))).toEqual([JSON.stringify(toolEnd)]);
    expect(findLost([{ ...toolEnd, output: "other" }], entries)).toHaveLength(1);
    expect(findLost([messageEnd, toolEnd], entries.slice(1))).toEqual(["the prompt"]);
    expect(findLost([messageEnd], [])).toHaveLength(1);
  });

  test("a run that had finished nothing has lost nothing", () => {
    expect(findLost([{ type: "session" }, { type: "message_delta" }], [])).toEqual([]);
  });
});

describe("runAndKill", () => {
  const run = (script: string, killAfterMs: number) =>
    runAndKill({
      argv: ["/bin/sh", "-c", script],
      cwd: tmpdir(),
      environment: { PATH: process.env.PATH ?? "" },
      killAfterMs,
    });

  test("returns the lines that were whole when the process was killed", async () => {
    const begin = performance.now();
    expect(await run(`echo '{"a":1}'; echo '{"a":2}'; printf '{"a":'; exec sleep 60`, 100)).toEqual([
      { a: 1 },
      { a: 2 },
    ]);
    expect(performance.now() - begin).toBeLessThan(5_000);
  });

  test("a process that ends before is fine", async () => {
    expect(await run(`echo '{"a":1}'`, 10_000)).toEqual([{ a: 1 }]);
    expect(await run("exit 1", 10_000)).toEqual([]);
  });
});
