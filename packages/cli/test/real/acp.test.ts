import { afterEach, beforeEach, expect, test } from "bun:test";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { client, methods, ndJsonStream, PROTOCOL_VERSION } from "@agentclientprotocol/sdk";
import Ajv2020 from "ajv/dist/2020.js";
import { bareEnvironment, PROGRAM } from "../support/run-diligent.ts";
import { createTemporaryProject, type TemporaryProject } from "../support/temporary-project.ts";

let place: TemporaryProject;

beforeEach(() => {
  place = createTemporaryProject({ sandbox: "off" });
});

afterEach(() => place.remove());

/** The schema that the maker of the protocol publishes. */
function compileSchema() {
  const path = Bun.resolveSync("@agentclientprotocol/sdk/schema/v1/schema.json", import.meta.dir);
  const schema = JSON.parse(readFileSync(path, "utf8"));
  const ajv = new Ajv2020({ strict: false, validateFormats: false, logger: false });
  return ajv.addSchema(schema, "acp");
}

type Line = { id?: unknown; method?: string; params?: unknown; result?: unknown };

/** Of each request and notification: the definitions of its parameters and its result. */
const DEFINITIONS: Readonly<Record<string, readonly [params: string, result?: string]>> = {
  initialize: ["InitializeRequest", "InitializeResponse"],
  "session/new": ["NewSessionRequest", "NewSessionResponse"],
  "session/load": ["LoadSessionRequest", "LoadSessionResponse"],
  "session/list": ["ListSessionsRequest", "ListSessionsResponse"],
  "session/close": ["CloseSessionRequest", "CloseSessionResponse"],
  authenticate: ["AuthenticateRequest", "AuthenticateResponse"],
  "session/resume": ["ResumeSessionRequest", "ResumeSessionResponse"],
  "session/delete": ["DeleteSessionRequest", "DeleteSessionResponse"],
  "fs/read_text_file": ["ReadTextFileRequest"],
  "fs/write_text_file": ["WriteTextFileRequest"],
  "elicitation/create": ["CreateElicitationRequest"],
  "session/set_mode": ["SetSessionModeRequest", "SetSessionModeResponse"],
  "session/set_config_option": ["SetSessionConfigOptionRequest", "SetSessionConfigOptionResponse"],
  "session/prompt": ["PromptRequest", "PromptResponse"],
  "session/update": ["SessionNotification"],
  "session/request_permission": ["RequestPermissionRequest"],
};

/** What the program sends to the client by itself. */
const FROM_AGENT: ReadonlySet<string> = new Set([
  ...["fs/read_text_file", "fs/write_text_file", "elicitation/create"],
  ...["session/update", "session/request_permission"],
]);

function readLines(text: string): Line[] {
  return text
    .split("\n")
    .filter(Boolean)
    .map((line) => JSON.parse(line));
}

/** The lines that do not match the schema; `sent` has the requests that they answer. */
function findInvalid(lines: readonly Line[], sent: readonly Line[]): { line: Line; problem: unknown }[] {
  const schema = compileSchema();
  return lines.flatMap((line): { line: Line; problem: unknown }[] => {
    const request =
      line.method === undefined ? sent.find(({ id, method }) => method && id === line.id) : line;
    const [params, result] = DEFINITIONS[request?.method ?? ""] ?? [];
    const definition = line.method === undefined ? result : params;
    const validate = schema.getSchema(`acp#/$defs/${definition}`);
    if (!validate) return [{ line, problem: "unknown" }];
    return validate(line.method === undefined ? line.result : line.params)
      ? []
      : [{ line, problem: validate.errors }];
  });
}

test("the official client runs a session, and every line is valid by the protocol's schema", async () => {
  const call = (name: string, input: object) => ({ toolCalls: [{ name, input }] });
  const turns = [
    { thinking: "Hm.", ...call("write", { file_path: "a.txt", content: "a\n" }) },
    call("edit", { file_path: "a.txt", old_string: "a", new_string: "b" }),
    call("bash", { command: "cp a.txt made.txt" }),
    call("bash", { command: "exit 3" }),
    call("grep", { pattern: "b" }),
    call("todo", { todos: [{ content: "test", status: "completed" }] }),
    call("ask_user", {
      questions: [{ question: "Which?", options: [{ label: "This" }, { label: "That" }] }],
    }),
    { text: "Done." },
    { text: "slow", delayMs: 60_000 },
  ];
  place.write("script.json", { version: 1, turns });
  place.configure({ sandbox: "off", model: `scripted/${join(place.project, "script.json")}` });
  const child = Bun.spawn([PROGRAM, "acp"], {
    cwd: place.project,
    env: bareEnvironment(place),
    stdin: "pipe",
    stdout: "pipe",
    stderr: "inherit",
  });
  const [forClient, forSchema] = child.stdout.tee();
  const sent: Line[] = [];
  const output = new WritableStream<Uint8Array>({
    write(chunk) {
      sent.push(JSON.parse(new TextDecoder().decode(chunk)));
      child.stdin.write(chunk);
      child.stdin.flush();
    },
  });
  const received = new Response(forSchema).text();
  const written: string[] = [];
  let asked = 0;
  let updates = 0;
  const app = client({ name: "test" })
    .onRequest(methods.client.session.requestPermission, ({ params }) => {
      asked += 1;
      const optionId = params.options[0]?.optionId ?? "";
      return { outcome: { outcome: "selected", optionId } };
    })
    .onRequest(methods.client.fs.readTextFile, ({ params }) => ({
      content: readFileSync(params.path, "utf8"),
    }))
    .onRequest(methods.client.fs.writeTextFile, ({ params }) => {
      written.push(params.path);
      writeFileSync(params.path, params.content);
      return {};
    })
    .onRequest(methods.client.elicitation.create, () => ({ action: "accept", content: { answer1: "That" } }))
    .onNotification(methods.client.session.update, () => {
      updates += 1;
    });
  const { agent, closed } = app.connect(ndJsonStream(output, forClient));
  const { session } = methods.agent;
  await agent.request(methods.agent.initialize, {
    protocolVersion: PROTOCOL_VERSION,
    clientCapabilities: { fs: { readTextFile: true, writeTextFile: true }, elicitation: { form: {} } },
  });
  await agent.request(methods.agent.authenticate, { methodId: "login" });
  const cwd = place.project;
  const { sessionId } = await agent.request(session.new, { cwd, mcpServers: [] });
  const ask = (text: string) =>
    agent.request(session.prompt, { sessionId, prompt: [{ type: "text", text }] });
  expect(await ask("go")).toEqual({ stopReason: "end_turn" });
  expect([asked, existsSync(join(cwd, "made.txt"))]).toEqual([2, true]);
  expect([written, readFileSync(join(cwd, "a.txt"), "utf8")]).toEqual([
    [join(cwd, "a.txt"), join(cwd, "a.txt")],
    "b\n",
  ]);
  const slow = ask("slow");
  await agent.notify(session.cancel, { sessionId });
  expect(await slow).toEqual({ stopReason: "cancelled" });
  await agent.request(session.setMode, { sessionId, modeId: "plan" });
  await agent.request(session.setConfigOption, { sessionId, configId: "thought_level", value: "low" });
  expect((await agent.request(session.list, { cwd })).sessions).toHaveLength(1);
  const before = updates;
  await agent.request(session.load, { sessionId, cwd, mcpServers: [] });
  expect(updates - before).toBeGreaterThan(10);
  await agent.request(session.close, { sessionId });
  await agent.request(session.resume, { sessionId, cwd });
  await agent.request(session.delete, { sessionId });
  expect((await agent.request(session.list, { cwd })).sessions).toEqual([]);
  child.stdin.end();
  expect(await child.exited).toBe(0);
  await closed;

  const lines = readLines(await received);
  expect(findInvalid(lines, sent)).toEqual([]);
  expect(lines.length).toBeGreaterThan(30);
});

test("a client that others have written runs a prompt, and every line is valid by the protocol's schema", async () => {
  place.write("client/package.json", { private: true });
  const client = join(place.project, "client");
  const added = Bun.spawnSync([process.execPath, "add", "--exact", "--ignore-scripts", "acpx@0.19.1"], {
    cwd: client,
    stdout: "ignore",
    stderr: "pipe",
  });
  if (added.exitCode !== 0) throw new Error(`The package cannot be installed: ${added.stderr}`);
  const patch = "*** Begin Patch\n*** Add File: patched.txt\n+by patch\n*** End Patch";
  const turns = [
    { toolCalls: [{ name: "bash", input: { command: "echo hi > made.txt" } }] },
    { toolCalls: [{ name: "apply_patch", input: { patch } }] },
    { text: "Done." },
  ];
  place.write("script.json", { version: 1, turns });
  place.configure({ sandbox: "off", model: `scripted/${join(place.project, "script.json")}` });
  const agent = join(place.project, "agent.sh");
  const recorded = join(place.top, "lines");
  writeFileSync(agent, `#!/bin/sh\n"${PROGRAM}" acp | tee "${recorded}"\n`, { mode: 0o755 });
  const program = [process.execPath, join(client, "node_modules", ".bin", "acpx")];
  const options = ["--agent", agent, "--approve-all", "--cwd", place.project, "--format", "json"];
  const run = Bun.spawnSync([...program, ...options, "exec", "go"], {
    cwd: place.project,
    env: bareEnvironment(place),
    stderr: "pipe",
    timeout: 60_000,
  });
  expect([run.exitCode, run.stderr.toString()]).toEqual([0, expect.any(String)]);
  const read = (name: string) => readFileSync(join(place.project, name), "utf8");
  expect([read("made.txt"), read("patched.txt")]).toEqual(["hi\n", "by patch\n"]);
  const lines = readLines(readFileSync(recorded, "utf8"));
  expect(lines.flatMap(({ method }) => method ?? [])).toContain("fs/write_text_file");
  // The client prints the lines of both sides; answers of ours are like their requests.
  const sent = readLines(run.stdout.toString()).filter(({ method }) => method && !FROM_AGENT.has(method));
  expect(findInvalid(lines, sent)).toEqual([]);
}, 180_000);
