import { expect, spyOn, test } from "bun:test";
import { ensureDiligentDir } from "../../src/infrastructure/diligent-dir.ts";
import { JsonlWriter } from "../../src/infrastructure/fs/jsonl-writer.ts";
import { createScriptedStream, scriptedModel } from "../../src/provider/scripted.ts";
import { ContextManager } from "../../src/session/compaction/context-manager.ts";
import { archiveSession, labelSessionEntry, renameSession } from "../../src/session/edit-session.ts";
import { listSessions } from "../../src/session/list.ts";
import { SessionLog } from "../../src/session/log.ts";
import { createSession } from "../../src/session/open.ts";
import { SessionRun, SteeringQueue } from "../../src/session/run.ts";
import { DeferredWriter } from "../../src/session/writer.ts";
import { noteTool, user } from "../support/agent-run.ts";
import { makeTempDir } from "../support/temp-dir.ts";

test("each turn is handed to the disk when it ends, and the disk has the whole file before the run ends", async () => {
  const project = makeTempDir();
  const { sessions } = await ensureDiligentDir(project);
  const happened: string[] = [];
  /** A real writer that says when the disk is asked for. */
  class WatchedWriter extends DeferredWriter {
    override syncInBackground(): void {
      happened.push("sync of a turn");
      super.syncInBackground();
    }
    override sync(): void {
      super.sync();
      if (happened.at(-1) !== "sync of the run") happened.push("sync of the run");
    }
  }
  const { header, gate } = createSession({ cwd: project, sessionsDir: sessions });
  const writer = new WatchedWriter(sessions, project, { header });
  const log = new SessionLog(writer);
  const toolCalls = [{ name: "note", input: { text: "x" } }];
  const script = { version: 1 as const, turns: [{ toolCalls }, { toolCalls }, { text: "done" }] };
  const agentConfig = {
    model: scriptedModel("test.json", script),
    systemPrompt: "Test.",
    tools: [noteTool({ readOnly: true })],
    streamFunction: createScriptedStream(script),
  };
  const run = new SessionRun({
    session: { header, log, writer, gate, openingId: undefined },
    guard: new ContextManager(log, agentConfig),
    agentConfig,
    steering: new SteeringQueue(),
    pendingNotices: [],
    onEnd: () => {},
  });
  run.addPrompt(user("go"));
  run.start(undefined);
  for await (const { type } of run.stream)
    if (type === "turn_end" || type === "agent_end") happened.push(type);
  writer.close();
  const turn = ["sync of a turn", "turn_end"];
  expect(happened).toEqual([...turn, ...turn, ...turn, "sync of the run", "agent_end"]);
});

test("the writer of a session hands its file to the disk, at once and in the background", async () => {
  const project = makeTempDir();
  const { sessions } = await ensureDiligentDir(project);
  const { header } = createSession({ cwd: project, sessionsDir: sessions });
  const atOnce = spyOn(JsonlWriter.prototype, "sync");
  const later = spyOn(JsonlWriter.prototype, "syncInBackground");
  try {
    const writer = new DeferredWriter(sessions, project, { header });
    writer.flush();
    writer.syncInBackground();
    expect([atOnce.mock.calls.length, later.mock.calls.length]).toEqual([0, 1]);
    writer.sync();
    expect([atOnce.mock.calls.length, later.mock.calls.length]).toEqual([1, 1]);
    writer.close();
  } finally {
    atOnce.mockRestore();
    later.mockRestore();
  }
});

test("a name, a label and the archive of a session are on the disk when they are reported as saved", async () => {
  const project = makeTempDir();
  const { sessions } = await ensureDiligentDir(project);
  const { header } = createSession({ cwd: project, sessionsDir: sessions });
  const writer = new DeferredWriter(sessions, project, { header });
  const log = new SessionLog(writer);
  const { id } = log.append((location) => ({ type: "message", ...location, message: user("go") }));
  writer.flush();
  writer.close();
  const [info] = await listSessions(sessions);
  if (!info) throw new Error("there is no session");
  const sync = spyOn(DeferredWriter.prototype, "sync");
  try {
    renameSession(info, "a name");
    expect(sync).toHaveBeenCalledTimes(1);
    labelSessionEntry(info, id, "here");
    expect(sync).toHaveBeenCalledTimes(2);
    archiveSession(info, true);
    expect(sync).toHaveBeenCalledTimes(3);
  } finally {
    sync.mockRestore();
  }
});
