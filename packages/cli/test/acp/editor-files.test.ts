import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { AcpClient, type AcpMessage } from "../support/acp-client.ts";
import { runDiligent } from "../support/run-diligent.ts";
import { createTemporaryProject, type TemporaryProject } from "../support/temporary-project.ts";

let place: TemporaryProject;
let client: AcpClient;
/** The unsaved texts of the editor, by path. */
let unsaved: Map<string, string>;

beforeEach(() => {
  place = createTemporaryProject();
  unsaved = new Map();
});

afterEach(async () => {
  expect(await client.end()).toBe(0);
  place.remove();
});

const BOTH = { readTextFile: true, writeTextFile: true };
const call = (name: string, input: object) => ({ toolCalls: [{ name, input }] });
const patch = (...lines: string[]) =>
  call("apply_patch", { patch: ["*** Begin Patch", ...lines, "*** End Patch"].join("\n") });
const at = (name: string) => join(place.project, name);
const onDisk = (name: string) => readFileSync(at(name), "utf8");

/** An editor that has files open, reads the others from the disk, and saves what it writes. */
function answerAsEditor({ method, params }: AcpMessage): object | undefined {
  const { path, content } = Object(params);
  if (method === "fs/read_text_file") return { content: unsaved.get(path) ?? readFileSync(path, "utf8") };
  if (method !== "fs/write_text_file") return undefined;
  writeFileSync(path, content);
  unsaved.delete(path);
  return {};
}

async function start(turns: readonly object[], fs: object = BOTH): Promise<string> {
  place.write("script.json", { version: 1, turns: [...turns, { text: "Done." }] });
  place.configure({ sandbox: "off", model: `scripted/${at("script.json")}` });
  client = new AcpClient(place);
  client.answer = answerAsEditor;
  return client.open(place.project, { fs });
}

/** Runs a prompt, and returns status and output of its calls. */
async function run(sessionId: string): Promise<[status: unknown, output: string][]> {
  expect((await client.prompt(sessionId, "go")).result).toEqual({ stopReason: "end_turn" });
  return client
    .updates("tool_call_update")
    .filter(({ status }) => status !== undefined)
    .map(({ status, rawOutput }) => [status, String(Object(rawOutput).output)]);
}

const asked = (method: string) =>
  client.received.filter((message) => message.method === method).map(({ params }) => params);

describe("an editor that offers fs/*", () => {
  test("is asked for the text of a file, unsaved changes included, and writes the edit of it", async () => {
    place.write("a.txt", "one\n");
    const sessionId = await start([
      call("read", { file_path: "a.txt" }),
      call("edit", { file_path: "a.txt", old_string: "two", new_string: "three" }),
    ]);
    unsaved.set(at("a.txt"), "one\ntwo\n");
    const [read, edit] = await run(sessionId);
    expect(read?.[1]).toStartWith("1\tone\n2\ttwo");
    expect(read?.[1]).toContain("unsaved changes");
    expect(edit).toEqual(["completed", `Edited ${at("a.txt")} (line 2).`]);
    expect(asked("fs/write_text_file")).toEqual([{ sessionId, path: at("a.txt"), content: "one\nthree\n" }]);
    expect(onDisk("a.txt")).toBe("one\nthree\n");
  });

  test("creates a file with its directories, and undo removes it", async () => {
    const sessionId = await start([call("write", { file_path: "new/b.txt", content: "b\n" })]);
    expect((await run(sessionId))[0]?.[0]).toBe("completed");
    expect(asked("fs/write_text_file")).toMatchObject([{ path: at("new/b.txt"), content: "b\n" }]);
    expect(onDisk("new/b.txt")).toBe("b\n");
    await client.request("session/close", { sessionId });
    expect((await runDiligent(place, ["undo", "--yes"])).exitCode).toBe(0);
    expect(existsSync(at("new/b.txt"))).toBe(false);
  });

  test("may use line feeds for a file that has other line ends, which are kept on the disk", async () => {
    place.write("dos.txt", "one\r\ntwo\r\n");
    const sessionId = await start([
      call("read", { file_path: "dos.txt" }),
      call("edit", { file_path: "dos.txt", old_string: "typed", new_string: "written" }),
    ]);
    client.answer = (request) => {
      const { path, content } = Object(request.params);
      if (request.method !== "fs/write_text_file") return answerAsEditor(request);
      writeFileSync(path, content.replaceAll("\n", "\r\n"));
      return {};
    };
    unsaved.set(at("dos.txt"), "one\ntyped\n");
    const [, edit] = await run(sessionId);
    expect(edit?.[0]).toBe("completed");
    expect(asked("fs/write_text_file")).toMatchObject([{ content: "one\nwritten\n" }]);
    expect(onDisk("dos.txt")).toBe("one\r\nwritten\r\n");
  });

  test("is not asked about files outside of the project, and about those that are not text", async () => {
    writeFileSync(join(place.top, "outside.txt"), "outside\n");
    writeFileSync(at("data.bin"), Uint8Array.of(0, 1, 2));
    const sessionId = await start([
      call("read", { file_path: join(place.top, "outside.txt") }),
      call("read", { file_path: "data.bin" }),
    ]);
    await client.request("session/set_mode", { sessionId, modeId: "auto" });
    expect((await run(sessionId)).map(([status]) => status)).toEqual(["completed", "failed"]);
    expect(asked("fs/read_text_file")).toEqual([]);
  });

  test("gets no write that the user refuses, nor one that is based on an older text", async () => {
    place.write("a.txt", "one\n");
    place.write(".env", "A=1\n");
    const sessionId = await start([
      call("read", { file_path: "a.txt" }),
      call("write", { file_path: "a.txt", content: "mine\n" }),
      call("write", { file_path: "CLAUDE.md", content: "do more\n" }),
    ]);
    let reads = 0;
    client.answer = (request) => {
      if (request.method === "session/request_permission")
        return { outcome: { outcome: "selected", optionId: "reject" } };
      // The user types right after the file was read.
      if (request.method === "fs/read_text_file" && ++reads === 1) unsaved.set(at("a.txt"), "one\ntyped\n");
      return request.method === "fs/read_text_file" && reads === 1
        ? { content: "one\n" }
        : answerAsEditor(request);
    };
    const results = await run(sessionId);
    expect(results.map(([status]) => status)).toEqual(["completed", "failed", "failed"]);
    expect(results[1]?.[1]).toContain("has changed");
    expect(asked("session/request_permission")).toHaveLength(1);
    expect(asked("fs/write_text_file")).toEqual([]);
    expect([onDisk("a.txt"), existsSync(at("CLAUDE.md"))]).toEqual(["one\n", false]);
  });

  test.each([
    ["an error", undefined, "The editor could not read"],
    ["an answer without a text", {}, "has no text"],
    ["a number", { content: 7 }, "has no text"],
    ["a text with a NUL", { content: "a\0" }, "is not the text of a file"],
  ])("fails a read by %s, and the session continues", async (_, answer, complaint) => {
    place.write("a.txt", "one\n");
    const sessionId = await start([call("read", { file_path: "a.txt" })]);
    client.refuse = ({ method }) =>
      !answer && method === "fs/read_text_file" ? { code: -32603, message: "no" } : undefined;
    client.answer = () => answer;
    const [read] = await run(sessionId);
    expect(read?.[0]).toBe("failed");
    expect(read?.[1]).toContain(complaint);
  });

  test("that refuses a write leaves no file and no directory", async () => {
    const sessionId = await start([call("write", { file_path: "new/b.txt", content: "b\n" })]);
    client.refuse = ({ method }) =>
      method === "fs/write_text_file" ? { code: -32603, message: "read-only" } : undefined;
    const [write] = await run(sessionId);
    expect(write?.[0]).toBe("failed");
    expect(write?.[1]).toContain("The editor could not write");
    expect(existsSync(at("new"))).toBe(false);
  });

  test("writes the files of a patch, of which one has unsaved changes, and undo takes them back", async () => {
    place.write("a.txt", "one\n");
    place.write("old.txt", "moved\n");
    place.write("gone.txt", "gone\n");
    const sessionId = await start([
      patch(
        ...["*** Update File: a.txt", "@@", " one", "-typed", "+changed", "*** Add File: new/b.txt", "+b"],
        ...["*** Update File: old.txt", "*** Move to: moved.txt", "@@", "-moved", "+is here"],
        "*** Delete File: gone.txt",
      ),
    ]);
    unsaved.set(at("a.txt"), "one\ntyped\n");
    const [applied] = await run(sessionId);
    expect(applied).toEqual(["completed", expect.stringContaining("M a.txt (1 hunk)\nA new/b.txt")]);
    expect(
      asked("fs/write_text_file").map((params) => [Object(params).path, Object(params).content]),
    ).toEqual([
      [at("a.txt"), "one\nchanged\n"],
      [at("new/b.txt"), "b\n"],
      [at("moved.txt"), "is here\n"],
    ]);
    expect(["a.txt", "new/b.txt", "moved.txt"].map(onDisk)).toEqual(["one\nchanged\n", "b\n", "is here\n"]);
    expect(["old.txt", "gone.txt"].map((name) => existsSync(at(name)))).toEqual([false, false]);
    await client.request("session/close", { sessionId });
    expect((await runDiligent(place, ["undo", "--yes"])).exitCode).toBe(0);
    expect(["a.txt", "old.txt", "gone.txt"].map(onDisk)).toEqual(["one\n", "moved\n", "gone\n"]);
    expect(["new/b.txt", "moved.txt"].map((name) => existsSync(at(name)))).toEqual([false, false]);
  });

  test("that refuses one file of a patch gets the others back as they were", async () => {
    place.write("a.txt", "one\n");
    place.write("gone.txt", "gone\n");
    const sessionId = await start([
      patch(
        ...["*** Delete File: gone.txt", "*** Update File: a.txt", "@@", "-one", "+two"],
        ...["*** Add File: new/b.txt", "+b", "*** Add File: new/c.txt", "+c"],
      ),
    ]);
    client.refuse = ({ method, params }) =>
      method === "fs/write_text_file" && Object(params).path === at("new/c.txt")
        ? { code: -32603, message: "read-only" }
        : undefined;
    const [failed] = await run(sessionId);
    expect(failed).toEqual([
      "failed",
      expect.stringContaining("The patch was not applied: The editor could not"),
    ]);
    expect(["a.txt", "gone.txt"].map(onDisk)).toEqual(["one\n", "gone\n"]);
    expect(["new/b.txt", "new/c.txt"].map((name) => existsSync(at(name)))).toEqual([false, false]);
    const [, , last] = asked("fs/write_text_file").map((params) => Object(params).path);
    expect([last, asked("fs/write_text_file").at(-1)]).toEqual([
      at("new/c.txt"),
      { sessionId, path: at("a.txt"), content: "one\n" },
    ]);
  });

  test.each([
    ["removes", ["*** Delete File: a.txt"]],
    ["moves", ["*** Update File: a.txt", "*** Move to: b.txt", "@@", "-one", "+two"]],
  ])("that has unsaved changes of a file refuses a patch that %s it", async (_, lines) => {
    place.write("a.txt", "one\n");
    const sessionId = await start([patch(...lines, "*** Add File: c.txt", "+c")]);
    unsaved.set(at("a.txt"), "one\ntyped\n");
    const [failed] = await run(sessionId);
    expect(failed).toEqual(["failed", expect.stringContaining("has unsaved changes in the editor")]);
    expect([onDisk("a.txt"), existsSync(at("c.txt")), asked("fs/write_text_file")]).toEqual([
      "one\n",
      false,
      [],
    ]);
  });

  test("that answers without saving fails the call, and one that saves something else is reported", async () => {
    place.write("a.txt", "one\n");
    const sessionId = await start([
      call("read", { file_path: "a.txt" }),
      call("write", { file_path: "a.txt", content: "two\n" }),
      call("write", { file_path: "a.txt", content: "three\n" }),
    ]);
    let writes = 0;
    client.answer = (request) => {
      if (request.method !== "fs/write_text_file") return answerAsEditor(request);
      if (++writes === 2) writeFileSync(at("a.txt"), "three, formatted\n");
      return {};
    };
    const [, unchanged, formatted] = await run(sessionId);
    expect(unchanged?.[0]).toBe("failed");
    expect(unchanged?.[1]).toContain("did not save");
    expect(formatted).toEqual(["completed", expect.stringContaining("with other changes of its own")]);
  });

  test("that does not answer fails the call after its time, and cancel ends it at once", async () => {
    place.write("a.txt", "one\n");
    const read = call("read", { file_path: "a.txt" });
    const sessionId = await start([read, { text: "It hangs." }, read]);
    client.answer = () => undefined;
    const [first] = await run(sessionId);
    expect(first).toEqual(["failed", expect.stringContaining("no answer in 10 s")]);
    const second = client.prompt(sessionId, "again");
    await client.find(({ method, params }) => method === "fs/read_text_file" && params !== asked(method)[0]);
    client.send({ method: "session/cancel", params: { sessionId } });
    expect((await second).result).toEqual({ stopReason: "cancelled" });
  });

  test("offers reading only: a file with unsaved changes is not changed, others are changed on the disk", async () => {
    place.write("a.txt", "one\n");
    const edit = call("edit", { file_path: "a.txt", old_string: "one", new_string: "two" });
    const sessionId = await start([call("read", { file_path: "a.txt" }), edit, edit], { readTextFile: true });
    let reads = 0;
    client.answer = ({ method }) =>
      // For each call once, before and after the question of whether it may run.
      method === "fs/read_text_file" ? { content: ++reads < 3 ? "one\ntyped\n" : "one\n" } : undefined;
    const [, first, second] = await run(sessionId);
    expect(first).toEqual(["failed", expect.stringContaining("has unsaved changes in the editor")]);
    expect([second?.[0], onDisk("a.txt")]).toEqual(["completed", "two\n"]);
  });
});

test("an editor that does not offer fs/*, or in a wrong type, is not asked about files", async () => {
  place.write("a.txt", "one\n");
  const sessionId = await start([call("read", { file_path: "a.txt" })], {
    readTextFile: "yes",
    writeTextFile: 1,
  });
  expect((await run(sessionId))[0]?.[0]).toBe("completed");
  expect(asked("fs/read_text_file")).toEqual([]);
});
