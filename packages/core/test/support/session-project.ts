import { readdirSync } from "node:fs";
import { join } from "node:path";
import { type DiligentPaths, ensureDiligentDir } from "../../src/infrastructure/diligent-dir.ts";
import type { Script } from "../../src/provider/scripted/script.ts";
import { createScriptedStream, scriptedModel } from "../../src/provider/scripted.ts";
import type { Model, StreamContext, StreamFunction } from "../../src/provider/types.ts";
import { SessionManager, type SessionManagerConfig } from "../../src/session/manager.ts";
import type { Tool } from "../../src/tool/types.ts";
import type { Message } from "../../src/types.ts";
import { noteTool, type TurnScript } from "./agent-run.ts";
import { readJsonLines } from "./session-files.ts";
import { makeTempDir } from "./temp-dir.ts";

/** A project whose model is played from turns that a test sets; every request it gets is kept. */
export interface SessionProject {
  project: string;
  paths: DiligentPaths;
  /** The messages of each request. */
  requests: (readonly Message[])[];
  /** The system prompt of each request. */
  systemPrompts: string[];
  model: Model;
  /** Another model that says this and nothing else. */
  playing(...turns: TurnScript[]): StreamFunction;
  /** What the model says from now on. */
  play(...turns: TurnScript[]): void;
  manager(
    options?: Partial<SessionManagerConfig> & {
      model?: Partial<Model>;
      systemPrompt?: string;
      tools?: readonly Tool[];
    },
  ): SessionManager;
  /** The lines of the session file with this id, or of the only one. */
  lines(sessionId?: string): Record<string, unknown>[];
}

export async function createSessionProject(...turns: TurnScript[]): Promise<SessionProject> {
  const project = makeTempDir();
  const paths = await ensureDiligentDir(project);
  const requests: (readonly Message[])[] = [];
  const toStream = (played: TurnScript[]) =>
    createScriptedStream({ version: 1, turns: played }, { startAtTurn: 0 });
  let stream = toStream(turns);
  const script: Script = { version: 1, turns };
  const systemPrompts: string[] = [];
  return {
    project,
    paths,
    requests,
    systemPrompts,
    model: scriptedModel("test.json", script),
    playing: (...played) => toStream(played),
    play(...next) {
      stream = toStream(next);
    },
    manager({ model, systemPrompt = "Test.", tools = [noteTool({ readOnly: true })], ...options } = {}) {
      return new SessionManager({
        cwd: project,
        paths,
        agentConfig: {
          model: { ...scriptedModel("test.json", script), ...model },
          systemPrompt,
          tools,
          streamFunction: (asked, context: StreamContext, streamOptions) => {
            requests.push([...context.messages]);
            systemPrompts.push(context.systemPrompt);
            return stream(asked, context, streamOptions);
          },
        },
        ...options,
      });
    },
    lines(sessionId) {
      const [only = ""] = readdirSync(paths.sessions).filter((name) => name.endsWith(".jsonl"));
      const name = sessionId === undefined ? only : `${sessionId}.jsonl`;
      return readJsonLines(join(paths.sessions, name)).map((line) =>
        typeof line === "object" && line !== null ? { ...line } : { torn: line },
      );
    },
  };
}

/** Calls of the tool that every such project has. */
export function note(...texts: string[]): TurnScript {
  return { toolCalls: texts.map((text) => ({ name: "note", input: { text } })) };
}
