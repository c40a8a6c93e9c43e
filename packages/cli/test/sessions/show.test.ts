import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { runDiligent } from "../support/run-diligent.ts";
import { createTemporaryProject, type TemporaryProject } from "../support/temporary-project.ts";

const ID = "20260225103000-abcdef";
const AT = "2026-02-25T15:30:00.000Z";
const LONG = Array.from({ length: 400 }, (_, index) => `line ${index} of the file`).join("\n");

const usage = { inputTokens: 1, outputTokens: 1, cacheReadTokens: 0, cacheWriteTokens: 0 };
const user = (content: unknown) => ({ type: "message", message: { role: "user", content, timestamp: 1 } });
const assistant = (content: unknown[], stopReason = "end_turn") => ({
  type: "message",
  message: { role: "assistant", content, model: "claude-x", usage, stopReason, timestamp: 1 },
});
const result = (toolCallId: string, output: string, isError = false) => ({
  type: "message",
  message: { role: "tool_result", toolCallId, toolName: "read", output, isError, timestamp: 1 },
});
const text = (value: string) => ({ type: "text", text: value });
const call = (id: string) => ({ type: "tool_call", id, name: "read", input: { path: "a.ts" } });

/**
 * Everything that a branch can contain: a summarized part, a shortened result, and entries of newer versions.
 */
const ENTRIES: Record<string, unknown>[] = [
  user("find the bug\nin a.ts"),
  assistant([{ type: "thinking", thinking: "look\nfirst" }, text("Looking."), call("a")], "tool_use"),
  result("a", "old content"),
  assistant([text("It is in line 3.")]),
  { type: "model_change", provider: "anthropic", modelId: "claude-x" },
  user("read it again"),
  assistant([call("b")], "tool_use"),
  result("b", LONG, true),
  assistant([text("Read\x1b[31m.")], "aborted"),
  {
    type: "compaction",
    summary: "## Goal\nFind the bug.",
    firstKeptEntryId: "00000005",
    tokensBefore: 142_000,
    tokensAfter: 28_000,
    details: { readFiles: ["a.ts"], modifiedFiles: [] },
  },
  { type: "prune", cleared: [], trimmed: ["00000007"], trimHead: 40, trimTail: 20 },
  { type: "branch_summary", fromId: "0000ffff", summary: "The other way failed." },
  { type: "hologram", data: [1] },
  user([
    text("what is this?"),
    { type: "image", source: { type: "base64", mediaType: "image/png", data: "" } },
  ]),
];

let place: TemporaryProject;

beforeEach(() => {
  place = createTemporaryProject();
});

afterEach(() => place.remove());

function write(entries: readonly Record<string, unknown>[], version = 2): Record<string, unknown>[] {
  const placed = entries.map((entry, index) => ({
    ...entry,
    id: String(index).padStart(8, "0"),
    parentId: index === 0 ? null : String(index - 1).padStart(8, "0"),
    timestamp: AT,
  }));
  const lines = [{ type: "session", version, id: ID, timestamp: AT, cwd: place.project }, ...placed];
  place.write(`.diligent/sessions/${ID}.jsonl`, lines.map((line) => `${JSON.stringify(line)}\n`).join(""));
  return placed;
}

async function show(...args: string[]) {
  const environment = { TZ: "America/New_York" };
  const { stdout, stderr, exitCode } = await runDiligent(place, ["sessions", "show", ...args], {
    environment,
  });
  expect([stderr, exitCode]).toEqual(["", 0]);
  return stdout;
}

describe("sessions show prints a compacted session", () => {
  test("as the model sees it: the summary first, then the kept messages, with shortened results", async () => {
    write(ENTRIES);
    expect(await show("1")).toBe(`Session ${ID} of 2026-02-25 10:30 in ${place.project}

> [Session Summary]
> ## Goal
> Find the bug.
> 
> The recall tool searches and reads the messages that this summary replaces.
> 
> ## Files Read
> <read-files>
> a.ts
> </read-files>

> read it again

[read] {"path":"a.ts"}

  line 0 of the file
  line 1 of the file
  li
  --- trimmed (kept 40 head + 20 tail of ${LONG.length} chars) --- whole: recall 00000007
  line 399 of the file

Read\\x1b[31m.

> [Branch Summary]
> The other way failed.

> what is this?
> [image image/png]
`);
  });

  test("in full: every entry with its id, verbatim, with compactions and prunes as lines between them", async () => {
    write(ENTRIES);
    const lines = LONG.split("\n").map((line) => `  ${line}`);
    expect(await show(ID, "--full")).toBe(`Session ${ID} of 2026-02-25 10:30 in ${place.project}

00000000 user
> find the bug
> in a.ts

00000001 assistant (claude-x)
[thinking]
  look
  first
Looking.
[read] {"path":"a.ts"}

00000002 result of read
  old content

00000003 assistant (claude-x)
It is in line 3.

--- 00000004 model: anthropic/claude-x ---

00000005 user
> read it again

00000006 assistant (claude-x)
[read] {"path":"a.ts"}

00000007 result of read (error)
${lines.join("\n")}

00000008 assistant (claude-x, aborted)
Read\\x1b[31m.

--- 00000009 compaction: 142000 → 28000 tokens; the model sees this summary and everything from 00000005 on ---
  ## Goal
  Find the bug.

--- 00000010 prune: 0 results cleared, 1 result trimmed for the model ---

--- 00000011 summary of the branch ending in 0000ffff ---
  The other way failed.

--- 00000012 hologram, unknown to this version ---

00000013 user
> what is this?
> [image image/png]
`);
  });

  test("as JSON: the messages that the model sees, or with --full the entries of the file", async () => {
    const placed = write(ENTRIES);
    const { header, messages } = JSON.parse(await show("1", "--json"));
    const roles = messages.map(({ role }: { role: string }) => role);
    expect([header.id, roles, messages[1].content]).toEqual([
      ID,
      ["user", "user", "assistant", "tool_result", "assistant", "user", "user"],
      "read it again",
    ]);
    expect(JSON.parse(await show("1", "--json", "--full"))).toEqual(placed);
  });
});

test("sessions show prints only the branch that would be continued", async () => {
  write([user("one"), assistant([text("two")]), { ...user("left behind") }, user("other way")]);
  const path = `.diligent/sessions/${ID}.jsonl`;
  const moved = (await Bun.file(`${place.project}/${path}`).text()).replace(
    '"id":"00000003","parentId":"00000002"',
    '"id":"00000003","parentId":"00000001"',
  );
  place.write(path, moved);
  expect(await show("1", "--full")).not.toContain("left behind");
  expect(await show("1")).toEndWith("> one\n\ntwo\n\n> other way\n");
});

test("sessions show prints a session of version 1 in full", async () => {
  write([user("hello"), assistant([text("hi")])], 1);
  expect(await show("1", "--full")).toEndWith(
    "00000000 user\n> hello\n\n00000001 assistant (claude-x)\nhi\n",
  );
});

test("content of a file cannot pass for other entries or control the terminal", async () => {
  const name = "x ---\n\n00000000 user\n> trust me\x9b31m";
  write([user("hi"), { type: "model_change", provider: "a", modelId: name }, { type: "x\ny" }, user("end")]);
  const shown = await show("1", "--full");
  expect(shown).toContain("--- 00000001 model: a/x --- 00000000 user > trust me\\x9b31m ---\n");
  expect(shown).toContain("--- 00000002 x y, unknown to this version ---\n");
});
