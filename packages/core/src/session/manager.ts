import { agentLoop } from "../agent/loop.ts";
import type { AgentEvent, AgentLoopConfig, NoticeLevel } from "../agent/types.ts";
import { EventStream } from "../event-stream.ts";
import { now } from "../infrastructure/clock.ts";
import type { DiligentPaths } from "../infrastructure/diligent-dir.ts";
import type { Message, UserMessage } from "../types.ts";
import { buildSessionContext, type SessionContext } from "./context-builder.ts";
import { listSessions } from "./list-sessions.ts";
import {
  createSession,
  type ForkOptions,
  forkSession,
  type NewSessionOptions,
  type OpenSession,
  openSession,
  type SessionPlace,
} from "./open-session.ts";
import { readSessionFile, type SessionFile } from "./read-session-file.ts";
import { findLastModelId } from "./session-tree.ts";
import type { SessionInfo } from "./types.ts";

export interface SessionManagerConfig {
  cwd: string;
  /** Where the project's sessions are; without it there are none, and nothing is written. */
  paths?: DiligentPaths | undefined;
  /** False: earlier sessions can be read, and nothing is written. */
  isSaved?: boolean | undefined;
  /** `signal`, `record`, `takeSteering`, `sessionId` and `now` are the manager's own. */
  agentConfig: AgentLoopConfig;
  /** For the session it begins with; made by `generateSessionId` when left out. */
  sessionId?: string | undefined;
}

export type CreateSessionOptions = NewSessionOptions;

export interface ResumeSessionOptions {
  sessionId?: string | undefined;
  mostRecent?: boolean | undefined;
  /** One that was read already. */
  file?: SessionFile | undefined;
}

export interface RunOptions {
  /** Aborting it ends the run; what there was is kept. */
  signal?: AbortSignal | undefined;
}

/** One session: holds the conversation, runs the agent loop on it and saves every message as it is finished. */
export class SessionManager {
  private session: OpenSession;
  private readonly steering: UserMessage[] = [];
  /** Notices from between two runs, told in the next one. */
  private readonly untold: AgentEvent[] = [];
  /** The run that is going on. */
  private running: EventStream<AgentEvent, Message[]> | undefined;

  /** Begins with a new session; `resume` exchanges it for an earlier one. */
  constructor(private readonly config: SessionManagerConfig) {
    this.session = createSession(this.place, { sessionId: config.sessionId });
  }

  get sessionId(): string {
    return this.session.header.id;
  }

  /** The session file, once everything so far is in it. */
  get sessionPath(): string | undefined {
    return this.session.writer?.isFlushed ? this.session.writer.path : undefined;
  }

  /** The conversation so far, as the next request begins, and the model it was held with. */
  get context(): SessionContext {
    return buildSessionContext(this.session.log.entries, this.session.log.leafId);
  }

  /** Begins a new session. */
  async create(options: CreateSessionOptions = {}): Promise<void> {
    this.exchange(createSession(this.place, options));
  }

  /**
   * Goes on in an earlier session: in the same file, behind its last message.
   * @returns false when there is none.
   * @throws SessionFileError when the file cannot be opened; it is not touched then.
   */
  async resume(options: ResumeSessionOptions): Promise<boolean> {
    const file = options.file ?? (await this.readSession(options));
    if (!file) return false;
    this.exchange(openSession(this.place, file));
    if (file.skippedLines > 0) this.warn("damaged_lines", damagedLines(file.skippedLines));
    return true;
  }

  /** The sessions of this project, the last changed first. */
  async list(): Promise<SessionInfo[]> {
    return this.config.paths ? listSessions(this.config.paths.sessions) : [];
  }

  /** Adds the user's message and lets the agent answer. One run at a time. */
  run(userMessage: UserMessage, { signal }: RunOptions = {}): EventStream<AgentEvent, Message[]> {
    if (this.running) throw new Error("This session is busy: steer() adds to the run that is going on.");
    const stream = new EventStream<AgentEvent, Message[]>(
      (event) => event.type === "agent_end",
      (event) => (event.type === "agent_end" ? event.messages : []),
    );
    this.running = stream;
    this.noteModel();
    this.keep(userMessage);
    const loop = agentLoop(this.context.messages, {
      ...this.config.agentConfig,
      signal,
      sessionId: this.sessionId,
      now,
      record: (message) => this.keep(message),
      takeSteering: () => this.steering.splice(0),
    });
    void loop.consume((event) => this.forward(event, stream));
    return stream;
  }

  /** Sends a message into the run that is going on; it joins before the next model request. */
  steer(text: string): void {
    this.steering.push({ role: "user", content: text, timestamp: now() });
  }

  /** A new session with a copy of this conversation, up to an entry where one is named. It is saved at once. */
  async fork(
    atEntryId?: string,
    { sessionId }: Pick<ForkOptions, "sessionId"> = {},
  ): Promise<SessionManager> {
    const forked = new SessionManager(this.config);
    forked.exchange(forkSession(forked.place, this.session, { atEntryId, sessionId }));
    return forked;
  }

  /** Goes on from an earlier entry (null: from the beginning): the next prompt grows a new branch there. */
  branch(entryId: string | null): void {
    this.session.log.moveTo(entryId);
  }

  /** Gives the session a name for lists; without one the first prompt serves again. */
  rename(name: string | undefined): void {
    this.session.log.annotate((place) => ({
      type: "session_info",
      ...place,
      ...(name !== undefined && { name }),
    }));
    this.flush();
  }

  /** Puts on disk what there is, a prompt without an answer included. */
  flush(): void {
    const { log, writer } = this.session;
    if (log.entries.length === 0) return;
    writer?.flush();
    writer?.sync();
  }

  close(): void {
    this.flush();
    this.session.writer?.close();
  }

  private async readSession({
    sessionId,
    mostRecent,
  }: ResumeSessionOptions): Promise<SessionFile | undefined> {
    const sessions = await this.list();
    const found = sessions.find(({ id }) => (sessionId === undefined ? mostRecent : id === sessionId));
    return found && readSessionFile(found.path);
  }

  private get place(): SessionPlace {
    return {
      cwd: this.config.cwd,
      sessionsDir: this.config.isSaved === false ? undefined : this.config.paths?.sessions,
      onFailure: (error) =>
        this.warn("not_saved", `This session is not being saved: ${error.message}. It goes on in memory.`),
      onForeignWrite: () => this.warn("shared_session", SHARED_SESSION, "info"),
    };
  }

  private exchange(session: OpenSession): void {
    if (this.running) throw new Error("This session is busy: it can be exchanged when the run has ended.");
    this.close();
    this.session = session;
  }

  private forward(event: AgentEvent, stream: EventStream<AgentEvent, Message[]>): void {
    if (event.type === "turn_end") this.session.writer?.sync();
    if (event.type === "agent_end") {
      this.flush();
      this.running = undefined;
    }
    stream.push(event);
    if (event.type === "agent_start") for (const notice of this.untold.splice(0)) stream.push(notice);
  }

  private keep(message: Message): void {
    this.session.log.append((place) => ({ type: "message", ...place, message }));
  }

  /** A change of model is part of the conversation: the one it goes on with may not be the one it was held with. */
  private noteModel(): void {
    const { id, provider } = this.config.agentConfig.model;
    const lastModelId = findLastModelId(this.session.log.path());
    if (lastModelId === undefined || lastModelId === id) return;
    this.session.log.append((place) => ({ type: "model_change", ...place, provider, modelId: id }));
  }

  private warn(code: string, message: string, level: NoticeLevel = "warning"): void {
    const notice: AgentEvent = { type: "notice", level, code, message };
    if (this.running) this.running.push(notice);
    else this.untold.push(notice);
  }
}

const SHARED_SESSION =
  "Another process is writing to this session too. Both conversations are kept: they are branches of the same session.";

function damagedLines(count: number): string {
  const lines = count === 1 ? "One line" : `${count} lines`;
  return `${lines} of this session's file could not be read and ${count === 1 ? "is" : "are"} passed over. The file is left as it is.`;
}
