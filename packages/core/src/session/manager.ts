import { agentLoop } from "../agent/loop.ts";
import type { AgentEvent, AgentLoopConfig } from "../agent/types.ts";
import { EventStream } from "../event-stream.ts";
import { now } from "../infrastructure/clock.ts";
import { type DiligentPaths, makeDiligentDir } from "../infrastructure/diligent-dir.ts";
import type { Message, UserMessage } from "../types.ts";
import { messageText } from "../types.ts";
import { buildSessionContext, type SessionContext } from "./context-builder.ts";
import { findSessionFile, listSessions } from "./list-sessions.ts";
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
import { damagedLines, notSaved, RESTORED_SESSION, SHARED_SESSION } from "./session-notices.ts";
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
    return this.session.writer?.path ?? undefined;
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
    if (file.skippedLines > 0) this.warn(damagedLines(file.skippedLines));
    return true;
  }

  /** The sessions of this project, the last changed first. */
  async list(): Promise<SessionInfo[]> {
    return this.config.paths ? listSessions(this.config.paths.sessions) : [];
  }

  /** Adds the user's message and lets the agent answer. One run at a time. */
  run(userMessage: UserMessage, { signal }: RunOptions = {}): EventStream<AgentEvent, Message[]> {
    this.assertIdle();
    const stream = new EventStream<AgentEvent, Message[]>(
      (event) => event.type === "agent_end",
      (event) => (event.type === "agent_end" ? event.messages : []),
    );
    this.noteModel();
    this.keep(userMessage);
    this.running = stream;
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

  /**
   * A new session with a copy of this conversation, up to an entry where one is named. It is saved at once.
   * @throws Error when there is no such entry.
   */
  async fork(
    atEntryId?: string,
    { sessionId }: Pick<ForkOptions, "sessionId"> = {},
  ): Promise<SessionManager> {
    const forked = new SessionManager(this.config);
    forked.exchange(forkSession(forked.place, this.session, { atEntryId, sessionId }));
    forked.untold.push(...this.untold.splice(0));
    return forked;
  }

  /**
   * Goes on from an earlier entry (null: from the beginning): the next prompt grows a new branch there.
   * @throws Error when there is no such entry, or a run is going on.
   */
  branch(entryId: string | null): void {
    this.assertIdle();
    this.session.log.moveTo(entryId);
  }

  /** Gives the session a name for lists; without one, or a blank one, the first prompt serves again. */
  rename(name?: string): void {
    const given = name?.trim() ? { name } : {};
    this.session.log.annotate((place) => ({ type: "session_info", ...place, ...given }));
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
    const { paths } = this.config;
    if (!paths || (sessionId === undefined && !mostRecent)) return undefined;
    const path = await findSessionFile(paths.sessions, sessionId);
    return path === undefined ? undefined : readSessionFile(path);
  }

  private get place(): SessionPlace {
    const { cwd, isSaved = true, paths } = this.config;
    return {
      cwd,
      sessionsDir: isSaved ? paths?.sessions : undefined,
      onFailure: (error) => this.warn(notSaved(error)),
      onForeignWrite: () => this.warn(SHARED_SESSION),
      onRestored: () => this.warn(RESTORED_SESSION),
      restoreDirectory: () => paths && makeDiligentDir(paths),
    };
  }

  private exchange(session: OpenSession): void {
    this.assertIdle();
    this.close();
    this.session = session;
  }

  private assertIdle(): void {
    if (this.running) throw new Error("This session is busy: wait until the run has ended.");
  }

  private forward(event: AgentEvent, stream: EventStream<AgentEvent, Message[]>): void {
    if (event.type === "turn_end") this.session.writer?.sync();
    if (event.type !== "agent_end") stream.push(event);
    else this.endRun(event, stream);
    if (event.type === "agent_start") for (const notice of this.untold.splice(0)) stream.push(notice);
  }

  /** What was said too late for this run is not lost: the next one begins with it. */
  private endRun(
    event: Extract<AgentEvent, { type: "agent_end" }>,
    stream: EventStream<AgentEvent, Message[]>,
  ) {
    const late = this.steering.splice(0);
    for (const message of late) {
      this.keep(message);
      stream.push({ type: "steering", text: messageText(message) });
    }
    this.flush();
    this.running = undefined;
    stream.push({ ...event, messages: [...event.messages, ...late] });
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

  private warn(notice: AgentEvent): void {
    if (this.running) this.running.push(notice);
    else this.untold.push(notice);
  }
}
