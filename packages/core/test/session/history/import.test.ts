import { describe, expect, test } from "bun:test";
import {
  appendFileSync,
  mkdirSync,
  readFileSync,
  renameSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { resolvePaths } from "../../../src/infrastructure/diligent-dir.ts";
import { readRecords } from "../../../src/session/history/foreign/json-lines.ts";
import { findForeignSessions, listForeignSessions } from "../../../src/session/history/foreign/locations.ts";
import { FOREIGN_AGENTS, type ForeignAgent } from "../../../src/session/history/foreign/types.ts";
import { importSessions, isOfProject } from "../../../src/session/history/import.ts";
import { readConversation } from "../../../src/session/open.ts";
import { readSessionFile } from "../../../src/session/read-file.ts";
import type { Message } from "../../../src/types.ts";
import { countImported, countSource } from "../../support/count-foreign.ts";
import {
  type ForeignPlace,
  PIXEL,
  writeClaudeCode,
  writeCodex,
  writeGemini,
  writeOpencode,
  writePi,
} from "../../support/foreign-fixtures.ts";
import { makeTempDir } from "../../support/temp-dir.ts";
import { describeTree } from "../../support/tree-bytes.ts";

function createPlace(): ForeignPlace {
  const top = makeTempDir();
  const place = { home: join(top, "home"), project: join(top, "project") };
  mkdirSync(join(place.project, ".git"), { recursive: true });
  mkdirSync(place.home);
  return place;
}

/** Writes the fixture of an agent; the database of opencode is closed with the test. */
function writeFixture(agent: ForeignAgent, place: ForeignPlace): string {
  switch (agent) {
    case "claude-code":
      return writeClaudeCode(place);
    case "codex":
      return writeCodex(place);
    case "pi":
      return writePi(place);
    case "opencode":
      return writeOpencode(place).path;
    case "gemini":
      return writeGemini(place);
  }
}

async function importAll(agent: ForeignAgent, { home, project }: ForeignPlace, path?: string) {
  const { locations, problems } =
    path === undefined
      ? await listForeignSessions(agent, { HOME: home })
      : await findForeignSessions(agent, path);
  const outcome = await importSessions(locations, { paths: resolvePaths(project) });
  return { ...outcome, problems: [...problems, ...outcome.problems] };
}

const fileOf = ({ project }: ForeignPlace, id = "") => join(resolvePaths(project).sessions, `${id}.jsonl`);

/** A message on one line: what it says, calls, and answers. */
function outline(message: Message): string {
  if (message.role === "tool_result")
    return `${message.isError ? (message.outcome ?? "error") : "result"} of ${message.toolName}: ${message.output.slice(0, 30)}`;
  if (typeof message.content === "string") return `user: ${message.content}`;
  const parts = message.content.map((block) => {
    if (block.type === "text") return block.text;
    return block.type === "tool_call"
      ? `${block.name}${JSON.stringify(block.input).slice(0, 40)}`
      : `<${block.type}>`;
  });
  return `${message.role}: ${parts.join(" ")}`;
}

const LATER: Readonly<Record<ForeignAgent, readonly string[]>> = {
  "claude-code": [
    "user: [Session Summary]\nWe fixed the parser so far.",
    "user: See the screenshot <image>",
    "assistant: The quote is missing.",
    "user: Now write the file",
    'assistant: Write{"file_path":"out.txt","content":"x"}',
    "interrupted of Write: The tool call was interrupted ",
  ],
  codex: [
    "user: [Session Summary]\nWe fixed the parser so far.\n\n<user-messages>",
    "user: Now write the file",
    "assistant: shell{}",
    "interrupted of shell: The tool call was interrupted ",
  ],
  pi: [
    "user: [Session Summary]\nWe fixed the parser so far.",
    "user: See the screenshot <image>",
    "assistant: The quote is missing.",
    "user: !ls The user ran this command in their own shell, not through you. Exit code: 0. Its output:\n\na b",
    'assistant: write{"path":"out.txt"}',
    "interrupted of write: The tool call was interrupted ",
  ],
  opencode: [
    "user: [Session Summary]\nWe fixed the parser so far.",
    "user: See the screenshot <image>",
    "assistant: The quote is missing.",
    'assistant: write{"filePath":"out.txt"}',
    "interrupted of write: The tool call was interrupted ",
  ],
  gemini: [
    "user: Why does the parser fail?",
    'assistant: <thinking> read_file{"file_path":"src/parser.ts"} run_shell_command{"command":"bun test parser"}',
    "result of read_file: export const parser = 1;",
    "failed of run_shell_command: 1 fail",
    "user: See the screenshot <image>",
    "assistant: <thinking> The quote is missing.",
    "assistant: <thinking> write_file{}",
    "interrupted of write_file: The tool call was interrupted ",
  ],
};

describe.each(FOREIGN_AGENTS)("a session of %s", (agent) => {
  test("is imported with the context that the agent would send, and nothing of the agent changes", async () => {
    const place = createPlace();
    writeFixture(agent, place);
    const before = describeTree(place.home).filter((line) => !line.includes(".db-shm "));
    const { imported, problems } = await importAll(agent, place);
    expect(problems).toEqual([]);
    const after = describeTree(place.home).filter((line) => !line.includes(".db-shm "));
    expect(after).toEqual(before);
    const { header, entries } = readSessionFile(fileOf(place, imported[0]?.id));
    expect(header).toMatchObject({ cwd: place.project, source: { agent } });
    const { messages } = readConversation({ entries });
    const outlines = messages.map(outline);
    expect(outlines.slice(1)).toEqual(LATER[agent].slice(1));
    expect(outlines[0]).toStartWith(LATER[agent][0]?.split("\n\n")[0] ?? "");
    const saved = JSON.stringify(entries);
    expect(saved).toContain(PIXEL);
    expect(saved).not.toMatch(/the system prompt|abandoned|taken back|sk-do-not-read/);
  });

  test("keeps usage, the model, the thinking and the name, and counts what it skips", async () => {
    const place = createPlace();
    writeFixture(agent, place);
    const [session] = (await importAll(agent, place)).imported;
    const { entries } = readSessionFile(fileOf(place, session?.id));
    const messages = entries.flatMap((entry) => (entry.type === "message" ? [entry.message] : []));
    expect(session).toMatchObject({ messages: messages.length, toolCalls: 3, change: "new" });
    const [first] = messages.filter(({ role }) => role === "assistant");
    const usage =
      agent === "codex" || agent === "gemini"
        ? {
            inputTokens: 40,
            outputTokens: agent === "codex" ? 7 : 25,
            cacheReadTokens: 60,
            cacheWriteTokens: 0,
          }
        : {
            inputTokens: 10,
            outputTokens: agent === "opencode" ? 25 : 20,
            cacheReadTokens: 30,
            cacheWriteTokens: 40,
          };
    expect(first).toMatchObject({ usage });
    expect(JSON.stringify(first)).toContain("Look");
    expect(entries.find(({ type }) => type === "model_change")).toMatchObject({
      modelId: expect.any(String),
    });
    if (agent !== "codex" && agent !== "gemini")
      expect(entries).toContainEqual(expect.objectContaining({ type: "session_info", name: "parser work" }));
    if (agent !== "opencode") expect(session?.skipped).toMatchObject({ torn_line: 1 });
    else expect(session?.skipped).toMatchObject({ reverted: 1, "step-start": 1 });
  });

  test("is the same when it is imported again", async () => {
    const place = createPlace();
    writeFixture(agent, place);
    const first = await importAll(agent, place);
    const text = readFileSync(fileOf(place, first.imported[0]?.id), "utf8");
    const second = await importAll(agent, place);
    expect(second.imported.map(({ id, change }) => ({ id, change }))).toEqual(
      first.imported.map(({ id }) => ({ id, change: "unchanged" as const })),
    );
    expect(readFileSync(fileOf(place, first.imported[0]?.id), "utf8")).toBe(text);
  });
});

const LINES = ["claude-code", "codex", "pi", "gemini"] as const;

test.each(LINES)("no message and no call of %s is lost, counted line by line", async (agent) => {
  const place = createPlace();
  const path = writeFixture(agent, place);
  const [session] = (await importAll(agent, place, path)).imported;
  expect(countImported(fileOf(place, session?.id))).toEqual(countSource(agent, path));
});

test.each(LINES)(
  "a file of %s that was cut at any byte is imported as far as it can be read",
  async (agent) => {
    const place = createPlace();
    const path = writeFixture(agent, place);
    const { length } = readFileSync(path);
    for (let size = length - 1; size > 0; size -= Math.ceil(length / 40)) {
      truncateSync(path, size);
      const { problems } = await importAll(agent, place, path);
      expect(problems).toEqual([]);
    }
  },
);

describe("importSessions", () => {
  test("adds what a session has gained, and a branch where it has changed", async () => {
    const place = createPlace();
    const path = writeCodex(place);
    const text = readFileSync(path, "utf8");
    const [first] = (await importAll("codex", place)).imported;
    const said = (words: string) =>
      `\n${JSON.stringify({ timestamp: "2026-05-01T11:00:00Z", type: "response_item", payload: { type: "message", role: "user", content: [{ type: "input_text", text: words }] } })}\n`;
    appendFileSync(path, said("one more"));
    const [grown] = (await importAll("codex", place)).imported;
    expect(grown).toMatchObject({ id: first?.id, change: "updated", messages: (first?.messages ?? 0) + 1 });
    writeFileSync(path, text + said("something else"));
    await importAll("codex", place);
    const { entries } = readSessionFile(fileOf(place, first?.id));
    const texts = readConversation({ entries }).messages.map(outline);
    expect(texts.at(-1)).toBe("user: something else");
    expect(texts).not.toContain("user: one more");
    expect(JSON.stringify(entries)).toContain("one more");
  });

  test("takes back what the other agent has taken back since, once, and continues from there", async () => {
    const said = (place: ForeignPlace, id = "") =>
      readConversation({ entries: readSessionFile(fileOf(place, id)).entries }).messages.map(outline);
    const note = "In gemini, there are messages that are not part of this conversation.";
    const place = createPlace();
    const path = writeGemini(place);
    const [first] = (await importAll("gemini", place)).imported;
    const before = said(place, first?.id);
    appendFileSync(path, `\n${JSON.stringify({ $rewindTo: "z6" })}\n`);
    const again = async () => (await importAll("gemini", place)).imported[0]?.change;
    expect(await again()).toBe("updated");
    const taken = said(place, first?.id);
    expect(taken).toEqual([...before.slice(0, 4), `user: [Branch Summary]\n${note}`]);
    expect(await again()).toBe("unchanged");
    const asked = { id: "zz", timestamp: "2026-05-01T12:00:00Z", type: "user", content: [{ text: "Other" }] };
    appendFileSync(path, `${JSON.stringify(asked)}\n`);
    expect(await again()).toBe("updated");
    expect(said(place, first?.id)).toEqual([...before.slice(0, 4), "user: Other"]);

    const other = createPlace();
    const { database } = writeOpencode(other);
    const [session] = (await importAll("opencode", other)).imported;
    database.run("UPDATE session SET revert = ?", [JSON.stringify({ messageID: "msg_3" })]);
    const reverted = (await importAll("opencode", other)).imported;
    database.close();
    expect(reverted.map(({ change }) => change)).toEqual(["updated"]);
    const shown = said(other, session?.id).join("\n");
    expect(shown).toContain("Why does the parser fail?");
    expect(shown).not.toContain("The quote is missing.");
  });

  test("imports the sub-agents of a session as sessions of their own, linked with its call", async () => {
    const place = createPlace();
    writeClaudeCode(place);
    const { imported } = await importAll("claude-code", place);
    expect(imported).toHaveLength(2);
    const [parent, child] = imported.map(({ id }) => readSessionFile(fileOf(place, id)));
    expect(child?.header).toMatchObject({ parentSession: parent?.header.id, agent: "explorer" });
    expect(parent?.entries).toContainEqual(
      expect.objectContaining({ type: "task_link", toolCallId: "t1", sessionId: child?.header.id }),
    );
  });

  test("takes the sessions of the project only", async () => {
    const place = createPlace();
    for (const agent of FOREIGN_AGENTS) {
      writeFixture(agent, place);
      const { locations } = await listForeignSessions(agent, { HOME: place.home });
      expect(locations.map((location) => isOfProject(location, place.project))).toEqual([true]);
      expect(locations.map((location) => isOfProject(location, "/elsewhere"))).toEqual([false]);
    }
  });

  test("reads the older storage of opencode and its exported file", async () => {
    const place = createPlace();
    const storage = join(place.home, ".local", "share", "opencode", "storage");
    const write = (path: string, value: object) => {
      mkdirSync(dirname(join(storage, path)), { recursive: true });
      writeFileSync(join(storage, path), JSON.stringify(value));
    };
    const info = {
      id: "ses_a",
      directory: place.project,
      title: "old",
      time: { created: 1_760_000_000_000 },
    };
    const user = { id: "msg_1", role: "user", time: { created: 1_760_000_000_000 } };
    const part = { id: "prt_1", type: "text", text: "An old question" };
    write("session/p/ses_a.json", info);
    write("message/ses_a/msg_1.json", user);
    write("part/msg_1/prt_1.json", part);
    const exported = join(place.home, "exported.json");
    writeFileSync(
      exported,
      JSON.stringify({ info: { ...info, id: "ses_b" }, messages: [{ info: user, parts: [part] }] }),
    );
    expect((await importAll("opencode", place)).imported).toMatchObject([{ messages: 1 }]);
    expect((await importAll("opencode", place, exported)).imported).toMatchObject([{ messages: 1 }]);
  });

  test("reads no more lines of a file than the limit, which is counted, and nothing that is appended meanwhile", async () => {
    const place = createPlace();
    const path = join(place.home, "long.jsonl");
    const line = (number: number) =>
      `${JSON.stringify({ type: "user", uuid: `u${number}`, message: { role: "user", content: `text ${number}` } })}\n`;
    writeFileSync(path, Array.from({ length: 30 }, (_, number) => line(number)).join(""));
    const counted: string[] = [];
    const counter = { skip: (kind: string) => void counted.push(kind) };
    const read = async (maxRecords: number) => {
      let records = 0;
      for await (const _ of readRecords(path, { counter, limits: { maxLineBytes: 10_000, maxRecords } })) {
        appendFileSync(path, line(100));
        records++;
      }
      return records;
    };
    expect([await read(10), counted.splice(0)]).toEqual([10, ["beyond_limit"]]);
    expect([await read(1_000), counted]).toEqual([40, []]);
  });

  test("survives hostile lines: nested deeply, repeated ids, cycles, other types, wrong clocks", async () => {
    const place = createPlace();
    const deep = `${"[".repeat(100_000)}${"]".repeat(100_000)}`;
    const line = (uuid: unknown, parentUuid: unknown, text: unknown) =>
      JSON.stringify({
        type: "user",
        uuid,
        parentUuid,
        timestamp: "9999-99-99",
        message: { role: "user", content: text },
      });
    const call = `{"type":"assistant","uuid":"c","parentUuid":"b","timestamp":-5,"message":{"id":"m","content":[{"type":"tool_use","id":"t","name":"X","input":{"a":${deep}}}]}}`;
    const lines = [
      line("a", "b", "one"),
      line("b", "a", "two"),
      line("b", "a", "twice"),
      line(5, {}, 7),
      call,
      deep,
      "null",
      "\u0000\u0001",
    ];
    const path = join(place.home, "hostile.jsonl");
    writeFileSync(path, lines.map((each) => `${each}\n`).join(""));
    for (const agent of FOREIGN_AGENTS) {
      const { problems } = await importAll(agent, place, path);
      expect(problems).toEqual([]);
    }
    writeFileSync(path, crypto.getRandomValues(new Uint8Array(65_536)));
    for (const agent of FOREIGN_AGENTS) expect((await importAll(agent, place, path)).imported).toEqual([]);
  });

  test("follows no links, so that a loop of them ends, and reports a database that is none", async () => {
    const place = createPlace();
    const path = writeClaudeCode(place);
    symlinkSync(join(place.home, ".claude"), join(dirname(path), "loop"));
    symlinkSync(path, join(dirname(path), "again.jsonl"));
    expect((await listForeignSessions("claude-code", { HOME: place.home })).locations).toHaveLength(1);
    const database = join(place.home, "opencode.db");
    renameSync(path, database);
    const { imported, problems } = await importAll("opencode", place, database);
    expect(imported).toEqual([]);
    expect(problems[0]).toContain(`${database} cannot be read`);
  });

  test("reads a database while another program writes to it", async () => {
    const place = createPlace();
    const { database } = writeOpencode(place);
    database.run("BEGIN IMMEDIATE");
    database.run("DELETE FROM part");
    expect((await importAll("opencode", place)).imported).toMatchObject([{ toolCalls: 3 }]);
    database.run("ROLLBACK");
    database.close();
  });
});
