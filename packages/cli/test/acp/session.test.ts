import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { AcpClient, type AcpMessage } from "../support/acp-client.ts";
import { runDiligent } from "../support/run-diligent.ts";
import { createTemporaryProject, type TemporaryProject } from "../support/temporary-project.ts";

let place: TemporaryProject;
let client: AcpClient;

beforeEach(() => {
  place = createTemporaryProject();
});

afterEach(async () => {
  expect(await client.end()).toBe(0);
  place.remove();
});

async function start(...turns: object[]): Promise<string> {
  place.write("script.json", { version: 1, turns });
  place.configure({ sandbox: "off", model: `scripted/${join(place.project, "script.json")}` });
  client = new AcpClient(place);
  return client.open(place.project);
}

const call = (name: string, input: object) => ({ toolCalls: [{ name, input }] });
const touch = call("bash", { command: "touch made" });
const isPermission = ({ method }: AcpMessage) => method === "session/request_permission";
const select = (optionId: string) => (request: AcpMessage) =>
  isPermission(request) ? { outcome: { outcome: "selected", optionId } } : undefined;

describe("diligent acp", () => {
  test("answers initialize with what it can do, and with a method to sign in", async () => {
    await start({ text: "x" });
    expect(await client.initialize()).toMatchObject({
      protocolVersion: 1,
      agentInfo: { name: "diligent" },
      agentCapabilities: {
        loadSession: true,
        promptCapabilities: { image: true, audio: false, embeddedContext: true },
        sessionCapabilities: { list: {}, resume: {}, close: {}, delete: {}, additionalDirectories: {} },
      },
      authMethods: [{ id: "login" }],
    });
    expect(await client.request("authenticate", { methodId: "login" })).toEqual({});
  });

  test("streams thoughts, the answer, calls with their kind and place, the plan and the usage", async () => {
    place.write("lines.txt", "1\n2\n3\n");
    const sessionId = await start(
      { thinking: "Hm.", ...call("read", { file_path: "lines.txt", offset: 2 }) },
      call("write", { file_path: "new.txt", content: "new\n" }),
      call("edit", { file_path: "new.txt", old_string: "new", new_string: "newer" }),
      call("todo", { todos: [{ content: "test", status: "in_progress" }] }),
      { text: "Done." },
    );
    expect((await client.prompt(sessionId, "go")).result).toEqual({ stopReason: "end_turn" });
    const path = join(place.project, "new.txt");
    expect(client.updates("tool_call")).toMatchObject([
      { kind: "read", locations: [{ path: join(place.project, "lines.txt"), line: 2 }] },
      { kind: "edit", content: [{ type: "diff", path, oldText: null, newText: "new\n" }] },
      { kind: "edit", content: [{ type: "diff", path, oldText: "new", newText: "newer" }] },
      { kind: "think" },
    ]);
    const ends = client.updates("tool_call_update").filter(({ status }) => status !== undefined);
    expect(ends.map(({ status }) => status)).toEqual(["completed", "completed", "completed", "completed"]);
    expect(client.updates("plan")).toEqual([
      { sessionUpdate: "plan", entries: [{ content: "test", status: "in_progress", priority: "medium" }] },
    ]);
    const textOf = (kind: string) =>
      client
        .updates(kind)
        .map(({ content }) => Object(content).text)
        .join("");
    expect([textOf("agent_thought_chunk"), textOf("agent_message_chunk")]).toEqual(["Hm.", "Done."]);
    expect(client.updates("usage_update").at(-1)).toMatchObject({
      used: expect.any(Number),
      size: expect.any(Number),
    });
    expect(client.updates("available_commands_update")).toHaveLength(1);
  });

  test("shows what a write replaces, and the files and changes of a patch", async () => {
    place.write("old.txt", "old\n");
    const patch = "*** Begin Patch\n*** Update File: old.txt\n@@\n-new\n+newer\n*** End Patch";
    const sessionId = await start(
      call("read", { file_path: "old.txt" }),
      call("write", { file_path: "old.txt", content: "new\n" }),
      call("apply_patch", { patch }),
      { text: "Done." },
    );
    expect((await client.prompt(sessionId, "go")).result).toEqual({ stopReason: "end_turn" });
    const path = join(place.project, "old.txt");
    expect(client.updates("tool_call").slice(1)).toMatchObject([
      { kind: "edit", content: [{ type: "diff", path, oldText: "old\n", newText: "new\n" }] },
      { kind: "edit", locations: [{ path }] },
    ]);
    const patched = client.updates("tool_call_update").findLast(({ status }) => status === "completed");
    expect(patched?.content).toEqual([
      { type: "content", content: { type: "text", text: expect.stringContaining("-new\n+newer") } },
    ]);
  });

  test("asks for permission with the call, and a failed command is failed", async () => {
    const sessionId = await start(touch, call("bash", { command: "exit 3" }), { text: "ok" });
    client.answer = select("once");
    expect((await client.prompt(sessionId, "go")).result).toEqual({ stopReason: "end_turn" });
    const [asked] = client.received.filter(isPermission);
    expect(asked?.params).toMatchObject({
      sessionId,
      toolCall: { toolCallId: "call_1", kind: "execute", title: expect.stringContaining("touch made") },
      options: [{ kind: "allow_once" }, { kind: "allow_always" }, { kind: "reject_once" }],
    });
    expect(existsSync(join(place.project, "made"))).toBe(true);
    expect(client.updates("tool_call_update").at(-1)).toMatchObject({
      toolCallId: "call_2",
      status: "failed",
    });
  });

  test("a rejected call is not run, and always covers the next one", async () => {
    const sessionId = await start(touch, { text: "no" }, touch, touch, { text: "yes" });
    client.answer = select("reject");
    await client.prompt(sessionId, "first");
    expect(existsSync(join(place.project, "made"))).toBe(false);
    client.answer = select("always");
    await client.prompt(sessionId, "second");
    expect(client.received.filter(isPermission)).toHaveLength(2);
  });

  test("cancel answers a running prompt once with cancelled, and the session lives", async () => {
    const sessionId = await start(call("bash", { command: "sleep 60" }), { text: "after" });
    const prompt = client.prompt(sessionId, "go");
    await client.find(({ params }) => Object(params?.update).sessionUpdate === "tool_call");
    client.send({ method: "session/cancel", params: { sessionId } });
    expect((await prompt).result).toEqual({ stopReason: "cancelled" });
    client.send({ method: "session/cancel", params: { sessionId } });
    expect((await client.prompt(sessionId, "again")).result).toEqual({ stopReason: "end_turn" });
    expect(client.received.filter(({ result }) => result?.stopReason === "cancelled")).toHaveLength(1);
  });

  test("cancel ends a permission request that the editor leaves open", async () => {
    const sessionId = await start(touch, { text: "after" });
    const prompt = client.prompt(sessionId, "go");
    await client.find(isPermission);
    client.send({ method: "session/cancel", params: { sessionId } });
    expect((await prompt).result).toEqual({ stopReason: "cancelled" });
    expect(existsSync(join(place.project, "made"))).toBe(false);
  });

  test("modes, model and thinking level are options, and the mode auto asks nothing", async () => {
    const sessionId = await start(touch, { text: "ok" });
    const set = (configId: string, value: string) =>
      client.ask("session/set_config_option", { sessionId, configId, value });
    expect(await client.request("session/set_mode", { sessionId, modeId: "auto" })).toEqual({});
    expect((await set("thought_level", "high")).result?.configOptions).toMatchObject([
      { id: "mode", category: "mode", currentValue: "auto" },
      { id: "model", category: "model" },
      { id: "thought_level", category: "thought_level", currentValue: "high" },
    ]);
    const wrong = [
      await set("model", "no-such-model"),
      await set("thought_level", "7"),
      await set("mode", "x"),
      await set("x", "x"),
    ];
    expect(wrong.map(({ error }) => error?.code)).toEqual([-32602, -32602, -32602, -32602]);
    await client.prompt(sessionId, "go");
    expect([client.received.filter(isPermission), existsSync(join(place.project, "made"))]).toEqual([
      [],
      true,
    ]);
  });

  test("takes images, resources and links", async () => {
    const sessionId = await start({ text: "seen" });
    const data =
      "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
    const prompt = [
      { type: "text", text: "look" },
      { type: "image", data, mimeType: "image/png" },
      { type: "resource_link", name: "a b", uri: `file://${place.project}/a%20b.txt` },
      { type: "resource", resource: { uri: "file:///x.md", text: "inside" } },
    ];
    expect(await client.request("session/prompt", { sessionId, prompt })).toEqual({ stopReason: "end_turn" });
    const saved = readFileSync(join(place.project, ".diligent/sessions", `${sessionId}.jsonl`), "utf8");
    expect(saved).toContain(`[a b](${place.project}/a b.txt)`);
    expect(saved).toContain("/x.md:\\n\\ninside");
    const audio = { sessionId, prompt: [{ type: "audio", data: "", mimeType: "audio/wav" }] };
    expect((await client.ask("session/prompt", audio)).error?.code).toBe(-32602);
  });
});

describe("a session of an editor", () => {
  test("uses the servers that the editor hands over, with their variables", async () => {
    await start(call("mcp__own__echo", { text: "hello" }), { text: "done" });
    const server = join(import.meta.dir, "../../../core/test/support/mcp-server.ts");
    const own = { name: "own", command: process.execPath, args: [server], env: [{ name: "X", value: "1" }] };
    const { sessionId } = await client.request("session/new", { cwd: place.project, mcpServers: [own] });
    client.answer = select("once");
    expect((await client.prompt(String(sessionId), "go")).result).toEqual({ stopReason: "end_turn" });
    const [ended] = client.updates("tool_call_update").filter(({ status }) => status !== undefined);
    expect(ended).toMatchObject({
      status: "completed",
      rawOutput: { output: expect.stringContaining("hello") },
    });
  });

  test("continues in the terminal, and back", async () => {
    const sessionId = await start({ text: "first" }, { text: "second" }, { text: "third" });
    await client.prompt(sessionId, "one");
    await client.request("session/close", { sessionId });
    const { stdout } = await runDiligent(place, ["-p", "two", "--continue", sessionId]);
    expect(stdout).toBe("second\n");
    const before = client.received.length;
    const opening = { sessionId, cwd: place.project, mcpServers: [] };
    await client.request("session/load", opening);
    const loaded = client.received.findLastIndex(({ result }) => result?.modes !== undefined);
    const replayed = client.received.slice(before, loaded + 1);
    expect(
      replayed.map(({ params, result }) => (result ? "answer" : Object(params?.update).sessionUpdate)),
    ).toEqual([
      ...["user_message_chunk", "agent_message_chunk", "user_message_chunk", "agent_message_chunk"],
      "answer",
    ]);
    expect((await client.prompt(sessionId, "three")).result).toEqual({ stopReason: "end_turn" });
    expect(client.updates("agent_message_chunk").at(-1)).toMatchObject({ content: { text: "third" } });
  });

  test("is listed, resumed without a replay, and deleted with its file", async () => {
    const sessionId = await start({ text: "first" }, { text: "second" });
    await client.prompt(sessionId, "one");
    const { sessions } = await client.request("session/list", { cwd: place.project });
    expect(sessions).toMatchObject([{ sessionId, cwd: place.project, title: "one" }]);
    await client.request("session/close", { sessionId });
    const before = client.updates("user_message_chunk").length;
    await client.request("session/resume", { sessionId, cwd: place.project });
    expect(client.updates("user_message_chunk")).toHaveLength(before);
    await client.request("session/delete", { sessionId });
    expect(existsSync(join(place.project, ".diligent/sessions", `${sessionId}.jsonl`))).toBe(false);
    const gone = await client.ask("session/load", { sessionId, cwd: place.project, mcpServers: [] });
    expect(gone.error?.code).toBe(-32002);
  });
});
