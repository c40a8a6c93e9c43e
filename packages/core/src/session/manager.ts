import type { AgentEvent, AgentLoopConfig, Redactor } from "../agent/types.ts";
import type { EventStream } from "../event-stream.ts";
import { type DiligentPaths, makeDiligentDir } from "../infrastructure/diligent-dir.ts";
import { type Environment, homeDirectory } from "../infrastructure/runtime.ts";
import type { RunConditions } from "../provider/types.ts";
import type { Message, TodoItem, UserMessage } from "../types.ts";
import { OpenBranches, type SessionBranches } from "./branches.ts";
import { ContextManager, runConfigFor } from "./compaction/context-manager.ts";
import type { ContextUsage } from "./compaction/context-status.ts";
import type { CompactOptions, ContextOptions } from "./compaction/context-window.ts";
import type { CompactionPreview } from "./compaction/preview.ts";
import { buildPathContext, hidesEntries, type SessionContext } from "./context-builder.ts";
import { appendCustomEntry, customEntriesOn, nameSession, readCustomEntries, saveEffort } from "./log.ts";
import {
  continueSession,
  createSession,
  findAndReadSession,
  flushSession,
  forkSession,
  type LiveSession,
  listProjectSessions,
  type NewSessionOptions,
  type ResumeSessionOptions,
  type SessionIds,
  type SessionLocation,
} from "./open.ts";
import type { RecalledEntry, RecallMatches, RecallQuery } from "./recall.ts";
import { SessionRun, SteeringQueue } from "./run.ts";
import { findTodos, saveTodos } from "./todos.ts";
import type {
  CompactionOutcome,
  CompactionUndoOutcome,
  CustomEntry,
  EntryBase,
  PinnedMessages,
  PinOutcome,
  RequestEntry,
  SessionHeader,
  SessionInfo,
  TaskLinkEntry,
} from "./types.ts";

export type { ResumeSessionOptions };

/** One session: holds the conversation, runs the agent loop on it and saves every finished message. */
export class SessionManager {
  private session: LiveSession;
  private guard: ContextManager;
  private readonly steering = new SteeringQueue();
  /** Notices between two runs, which the next run reports. */
  private readonly pendingNotices: AgentEvent[] = [];
  /** The active run. */
  private running: EventStream<AgentEvent, Message[]> | undefined;
  /** True while a prompt waits for `SessionManagerConfig.checkPrompt`. */
  private isCheckingPrompt = false;
  /** The active compaction on request. */
  private compacting: Promise<CompactionOutcome> | undefined;

  /** Starts with a new session; `resume` replaces it by an earlier one. */
  constructor(private config: SessionManagerConfig) {
    this.session = createSession(this.location, { sessionId: config.sessionId, ...config.origin });
    this.guard = this.createContextManager();
  }

  /** Changes with `create` and `resume`. */
  get sessionId(): string {
    return this.session.header.id;
  }

  /** The parent of the next entry; null in an empty session. */
  get leafId(): string | null {
    return this.session.log.leafId;
  }

  /** The session file, once everything so far is in it. */
  get sessionPath(): string | undefined {
    return this.session.writer?.path ?? undefined;
  }

  /** The context of the next request, and the model used last. */
  get context(): SessionContext {
    return buildPathContext(this.session.log.path());
  }

  /** The limits of each run; in a replay, those of the recorded run. */
  get runLimits(): Pick<AgentLoopConfig, "maxTurns" | "maxCost"> {
    const { maxTurns, maxCost } = runConfigFor(this.config.agentConfig, this.config.conditions);
    return { maxTurns, maxCost };
  }

  /** The system prompt of the next request. */
  get systemPrompt(): string {
    return this.guard.systemPrompt;
  }

  /** The whole session, including all other branches. */
  get branches(): SessionBranches {
    return new OpenBranches({ opened: this.session, guard: this.guard, session: this });
  }

  /** True once a part of the conversation was pruned or summarized, so that `recall` may find it. */
  get hasHiddenEntries(): boolean {
    return hidesEntries(this.session.log.conversation());
  }

  /** Searches the messages that are shortened or missing in the context. */
  async searchHidden(query: RecallQuery): Promise<RecallMatches> {
    const { searchHiddenEntries } = await import("./recall.ts");
    return searchHiddenEntries(this.session.log.path(), query);
  }

  /** A complete message of this session by its entry id; undefined if there is none. */
  async recall(entryId: string): Promise<RecalledEntry | undefined> {
    const { readEntry } = await import("./recall.ts");
    const { log } = this.session;
    return readEntry(log.path(), entryId) ?? readEntry(log.entries, entryId);
  }

  /** The current context usage by category. */
  describeContext(): Promise<ContextUsage> {
    return this.guard.describe();
  }

  /** Starts a new session. @throws Error while a run or a compaction is active. */
  async create(options: NewSessionOptions = {}): Promise<void> {
    this.exchange(createSession(this.location, options));
  }

  /**
   * Resumes an earlier session in the same file, after its last message.
   * @returns false when there is none.
   * @throws SessionFileError when the file cannot be opened; it is not changed then. Error like `create`.
   */
  async resume(options: ResumeSessionOptions): Promise<boolean> {
    const file = options.file ?? (await findAndReadSession(this.config.paths, options));
    if (!file) return false;
    this.exchange(continueSession(this.location, file));
    if (file.skippedLines > 0) this.report(damagedLines(file.skippedLines));
    return true;
  }

  /** The sessions of this project, the last changed first. */
  async list(): Promise<SessionInfo[]> {
    return listProjectSessions(this.config.paths, { redactor: this.config.agentConfig.redactor });
  }

  /**
   * Adds the user's message and runs the agent; it waits for compactions. Like `agentLoop`, it never rejects.
   * @throws Error while another run is active.
   */
  run(userMessage: UserMessage, { signal, budget }: RunOptions = {}): EventStream<AgentEvent, Message[]> {
    this.assertNoRun();
    const run = this.createRun();
    if (this.config.onEvent) run.stream.subscribe(this.config.onEvent);
    const start = () => run.start(signal, budget);
    const begin = () => {
      const check = this.config.checkPrompt?.(userMessage, signal);
      if (check === undefined) return beginWith({});
      this.isCheckingPrompt = true;
      void check.then(({ refusal, context }) => {
        this.isCheckingPrompt = false;
        if (refusal === undefined) beginWith({ context });
        else run.refuse(new Error(refusal));
      });
    };
    const beginWith = ({ context }: { context?: string | undefined }) => {
      run.addPrompt(userMessage);
      if (context !== undefined) this.steering.add(context, { isNote: true });
      const noting = this.addRunNote();
      // The caller of the compaction receives its failure.
      const earlier = [this.compacting, noting].filter((work) => work !== undefined);
      if (earlier.length > 0) void Promise.allSettled(earlier).then(start);
      else start();
    };
    this.session.gate.pass(begin, { signal, emit: (notice) => run.stream.push(notice) });
    this.running = run.stream;
    return run.stream;
  }

  /** Call it before a change, such as another model. @throws Error while a run or a compaction is active. */
  assertIdle(): void {
    this.assertNoRun();
    if (this.compacting) throw new Error("This session is busy: wait until its compaction has ended.");
  }

  /**
   * Switches the model, or its options, from the next run on. A new model replaces the conditions too.
   * @throws Error while the session is busy.
   */
  useModel({
    conditions,
    ...change
  }: Partial<Pick<AgentLoopConfig, "model" | "streamFunction" | "effort">> &
    Pick<SessionManagerConfig, "conditions">): void {
    this.assertIdle();
    const { systemPrompt } = this.guard;
    const agentConfig = { ...this.config.agentConfig, ...change, systemPrompt };
    this.config = { ...this.config, agentConfig, ...(change.model && { conditions }) };
    this.guard = this.createContextManager();
    // An empty session records it with its first prompt.
    if (this.session.log.entries.length === 0) return;
    saveEffort(this.session.log, this.config.agentConfig.effort);
    this.flush();
  }

  /**
   * Summarizes the older part of the conversation now. Concurrent calls share one compaction. @throws Error while a
   * run is active: it compacts automatically.
   */
  compact(options: CompactOptions = {}): Promise<CompactionOutcome> {
    this.assertNoRun();
    const emit = (event: AgentEvent) => {
      this.config.onEvent?.(event);
      options.emit?.(event);
    };
    const compact = () => this.guard.compact({ ...options, emit });
    this.compacting ??= this.session.gate.compact(compact, options).finally(() => {
      this.compacting = undefined;
      this.flush();
      if (options.emit) for (const notice of this.pendingNotices.splice(0)) options.emit(notice);
    });
    return this.compacting;
  }

  /** What `compact` would summarize and keep now; undefined if there is nothing to summarize. Nothing is changed. */
  previewCompaction(): Promise<CompactionPreview | undefined> {
    return this.guard.preview();
  }

  /**
   * Restores the context from before the last compaction, so that the next request begins as if it had not been made;
   * prompts and answers since then follow it. Calling it again undoes the compaction before that one.
   * @throws Error while a run or a compaction is active.
   */
  async undoCompaction(): Promise<CompactionUndoOutcome> {
    this.assertIdle();
    const outcome = await this.guard.undoCompaction(() => this.assertIdle());
    this.flush();
    return outcome;
  }

  /**
   * Sends a message into the active run, or else the next one; it joins before a model request. @returns the `id`
   * of its `steering` event.
   */
  steer(content: UserMessage["content"]): string {
    return this.steering.add(content);
  }

  /**
   * Withdraws messages that were sent into the run and have not joined it yet. @returns their texts, oldest first.
   */
  takeBack(which: "last" | "all"): string[] {
    return this.steering.takeBack(which);
  }

  /** Adds a note for the model that needs no answer: in the active run, else with the next prompt. */
  async notify(content: UserMessage["content"]): Promise<void> {
    const { addNote } = await import("./edit-session.ts");
    await addNote(content, { ...this.session, steering: this.steering, isRunning: () => !!this.running });
  }

  /**
   * A new session with a copy of this conversation, up to the given entry, if any. It is saved at once, under a new
   * id unless one is given.
   * @throws Error when there is no such entry.
   */
  async fork(
    atEntryId?: string,
    { sessionId }: Pick<NewSessionOptions, "sessionId"> = {},
  ): Promise<SessionManager> {
    const forked = new SessionManager(this.config);
    forked.exchange(forkSession(forked.location, this.session, { atEntryId, sessionId }));
    forked.pendingNotices.push(...this.pendingNotices.splice(0));
    return forked;
  }

  /**
   * Continues from an earlier entry (null: from the beginning): the next prompt starts a new branch there. @throws
   * Error if there is no such entry, or while a run or a compaction is active.
   */
  branch(entryId: string | null): void {
    this.assertIdle();
    this.session.log.moveTo(entryId);
  }

  /** The messages of this conversation that are pinned. */
  async listPins(): Promise<PinnedMessages> {
    const { listPins } = await import("./compaction/pins.ts");
    return listPins(this.session.log, this.guard.maxPinTokens);
  }

  /**
   * Pins a message or a tool result, so that summaries of the part that contains it repeat it verbatim. It takes effect
   * at the next compaction; the file keeps it for later openings.
   * @throws Error when this conversation has no message with this id, or when it has no text.
   */
  async pin(entryId: string): Promise<PinOutcome> {
    const { pinMessage } = await import("./compaction/pins.ts");
    const outcome = pinMessage(this.session.log, entryId, this.guard.maxPinTokens);
    if (!this.running) this.flush();
    return outcome;
  }

  /** Unpins a message; a summary that repeats it stays as it is until the next one. */
  async unpin(entryId: string): Promise<void> {
    const { unpinMessage } = await import("./compaction/pins.ts");
    unpinMessage(this.session.log, entryId);
    if (!this.running) this.flush();
  }

  /** Names the session for lists; without a name, or with a blank one, its first prompt is shown instead. */
  rename(name?: string): void {
    nameSession(this.session.log, name);
    this.flush();
  }

  /**
   * Saves a program's own data in the session, for `customEntries`; models never see it.
   * @param data any JSON value; stored as JSON, so a `Date` becomes a string.
   * @returns the entry's id.
   * @throws Error for an empty type, and for a value that JSON cannot represent.
   */
  appendCustom(customType: string, data: unknown): string {
    const id = appendCustomEntry(this.session.log, customType, data);
    if (!this.running) this.flush();
    return id;
  }

  /** The custom entries of the conversation's branch, oldest first; those of one type if it is given. */
  customEntries(customType?: string): CustomEntry[] {
    const { log } = this.session;
    return readCustomEntries(customEntriesOn(log.path(), log.entries), customType);
  }

  /** The model's checklist in this conversation; empty if there is none. */
  get todos(): readonly TodoItem[] {
    return findTodos(this.session.log);
  }

  /** Replaces the checklist, in the session and for those who watch the run. */
  setTodos(todos: readonly TodoItem[]): void {
    const entry = saveTodos(this.session.log, todos);
    this.report({ type: "todo", todos: entry.todos });
  }

  /** Links a call with the session of the sub-agent that works on it. */
  linkTask(link: Pick<TaskLinkEntry, "toolCallId" | "sessionId" | "agent">): void {
    this.session.log.annotate((location) => ({ type: "task_link", ...location, ...link }));
  }

  /** The thinking level of the next run, if one was chosen. */
  get effort(): AgentLoopConfig["effort"] {
    return this.config.agentConfig.effort;
  }

  /** Keeps that a hook has run, and tells those who watch the run. */
  noteHook(run: Omit<Extract<AgentEvent, { type: "hook" }>, "type">): void {
    const { event, command, durationMs, outcome } = run;
    // Without any entry there is no session yet, and a hook alone makes none.
    if (this.session.log.entries.length > 0)
      this.session.log.annotate((location) => ({
        type: "hook",
        ...location,
        ...{ event, command, durationMs, outcome },
      }));
    // Before a run has begun, its first event is still to come.
    if (this.isCheckingPrompt) this.pendingNotices.push({ type: "hook", ...run });
    else this.report({ type: "hook", ...run });
  }

  /** Keeps what a request has cost. */
  noteRequest(request: Omit<RequestEntry, keyof EntryBase | "type">): void {
    this.session.log.annotate((location) => ({ type: "request", ...location, ...request }));
  }

  /** Keeps that a rule has refused something, and tells those who watch the run. */
  noteRuleViolation(violation: Omit<Extract<AgentEvent, { type: "rule_violation" }>, "type">): void {
    this.session.log.annotate((location) => ({ type: "rule_violation", ...location, ...violation }));
    this.report({ type: "rule_violation", ...violation });
  }

  /** True while a run is active. */
  get isRunning(): boolean {
    return this.running !== undefined;
  }

  /** Adds an event to those of the active run, or of the next one. */
  report(event: AgentEvent): void {
    (this.running ?? this.pendingNotices).push(event);
  }

  /** Writes everything to disk, including a prompt without an answer. */
  flush(): void {
    flushSession(this.session);
  }

  /** Writes everything to disk and closes the file; call this last, when no run is active. */
  close(): void {
    this.flush();
    this.session.writer?.close();
  }

  private get location() {
    return toSessionLocation(this.config, (notice) => this.report(notice));
  }

  private exchange(session: LiveSession): void {
    this.assertIdle();
    this.close();
    this.session = session;
    this.guard = this.createContextManager();
  }

  private createContextManager(): ContextManager {
    const { conditions, cwd, lockLocation } = this.config;
    const fileBase = { cwd, home: lockLocation && homeDirectory(lockLocation) };
    const context = { ...this.config.context, conditions, gate: this.session.gate, fileBase };
    return new ContextManager(this.session.log, this.config.agentConfig, context);
  }

  private createRun(): SessionRun {
    const { session, guard, steering, pendingNotices } = this;
    const onEnd = () => {
      this.running = undefined;
    };
    const { agentConfig, conditions, nudgeInterval, takeNotes } = this.config;
    return new SessionRun({
      ...{
        session,
        guard,
        agentConfig,
        conditions,
        nudgeInterval,
        takeNotes,
        steering,
        pendingNotices,
        onEnd,
      },
    });
  }

  /** The note joins the run after the prompt; undefined if there is none. */
  private addRunNote(): Promise<void> | undefined {
    return this.config.noteBeforeRun?.()?.then((note) => {
      if (!note) return;
      this.steering.add(note.text, { isNote: true });
      this.pendingNotices.push({
        type: "notice",
        level: "info",
        code: "instructions_changed",
        message: note.notice,
      });
    });
  }

  private assertNoRun(): void {
    if (this.running) throw new Error("This session is busy: wait until the run has ended.");
  }
}

export type { NewSessionOptions as CreateSessionOptions };

/** The configuration of a session and its storage; paths are absolute and real. */
export interface SessionManagerConfig {
  cwd: string;
  /** The directory of the project's sessions; without it there are none, and nothing is written. */
  paths?: DiligentPaths | undefined;
  /** False: earlier sessions can be read, and nothing is written. */
  isSaved?: boolean | undefined;
  /**
   * The environment whose user state directory holds the locks with which processes wait for each other's compactions
   * of a session; without it they do not wait.
   */
  lockLocation?: Environment | undefined;
  /** `signal`, `record`, `remind`, `takeSteering`, `sessionId`, `runId` and `now` are set by the manager. */
  agentConfig: AgentLoopConfig;
  /** In a recorded run and its replays: settings that replace the configured ones. */
  conditions?: RunConditions | undefined;
  /** The id of its first session; by default from `generateSessionId`. */
  sessionId?: string | undefined;
  /** Where its ids come from; random ones by default. */
  ids?: SessionIds | undefined;
  /** Where its first session comes from, if it is that of a sub-agent. */
  origin?: Pick<SessionHeader, "parentSession" | "parentEntry" | "agent"> | undefined;
  /** How the session stays within the model's window; `compaction.enabled: false` disables summaries, not pruning. */
  context?: ContextOptions | undefined;
  /** Model replies without `add_knowledge` after which the model is reminded of it; never by default. */
  nudgeInterval?: number | undefined;
  /** See `AgentLoopConfig`. */
  takeNotes?: (() => string[]) | undefined;
  /** Called with each prompt before it is saved or sent; undefined if nothing has to be waited for. Never rejects. */
  checkPrompt?:
    | ((message: UserMessage, signal?: AbortSignal) => Promise<PromptCheck> | undefined)
    | undefined;
  /** Called at each prompt; undefined, preferably at once, if there is nothing to note. */
  noteBeforeRun?: (() => Promise<RunNote | undefined> | undefined) | undefined;
  /** Receives every event of every run, in order, in addition to the consumer of the run. */
  onEvent?: ((event: AgentEvent) => void) | undefined;
}

/** A note for the model after a prompt, and what the user is told about it. */
export interface RunNote {
  text: string;
  notice: string;
}

/** What is to be done with a prompt. */
export interface PromptCheck {
  /** It is neither saved nor sent: why, a sentence for the user. */
  refusal?: string | undefined;
  /** A note for the model after it. */
  context?: string | undefined;
}

/** Options of one run. */
export interface RunOptions {
  /** Aborting it ends the run; the reply received so far is kept. */
  signal?: AbortSignal | undefined;
  /** Shared with other runs; one of its own when left out. */
  budget?: AgentLoopConfig["budget"];
}

interface LocationSettings {
  cwd: string;
  paths?: DiligentPaths | undefined;
  isSaved?: boolean | undefined;
  lockLocation?: Environment | undefined;
  ids?: SessionIds | undefined;
  agentConfig: { redactor?: Redactor | undefined };
}

/** Opens and stores sessions; problems become notices. */
function toSessionLocation(
  { cwd, ids, isSaved = true, lockLocation, paths, agentConfig: { redactor } }: LocationSettings,
  warn: (notice: AgentEvent) => void,
): SessionLocation {
  return {
    cwd,
    ids,
    lockLocation,
    redactor,
    sessionsDir: isSaved ? paths?.sessions : undefined,
    onFailure: (error) => warn(notSaved(error)),
    onForeignWrite: () => warn(SHARED_SESSION),
    onRestored: () => warn(RESTORED_SESSION),
    restoreDirectory: () => paths && makeDiligentDir(paths),
  };
}

type Notice = Extract<AgentEvent, { type: "notice" }>;

/** Shown once, when another process has added messages to the file of an open session. */
const SHARED_SESSION: Notice = {
  type: "notice",
  level: "info",
  code: "shared_session",
  message:
    "Another process is writing to this session too. Both conversations are kept: they are branches of the same session.",
};

/** Shown when the file of an open session was deleted or emptied and its entries are written again. */
const RESTORED_SESSION: Notice = {
  type: "notice",
  level: "warning",
  code: "restored_session",
  message: "This session's file was removed while the session was open; it has been recreated.",
};

/** Shown when an entry could not be written; `message` has no final full stop. */
function notSaved({ message }: Error): Notice {
  return {
    type: "notice",
    level: "warning",
    code: "not_saved",
    message: `This session is not being saved: ${message}. It continues in memory, and saving will be retried.`,
  };
}

/** Shown when a session is opened and this many lines (one or more) were skipped. */
export function damagedLines(count: number): Notice {
  const lines = count === 1 ? "One line" : `${count} lines`;
  const are = count === 1 ? "is" : "are";
  return {
    type: "notice",
    level: "warning",
    code: "damaged_lines",
    message: `${lines} of this session's file could not be read completely and ${are} skipped. The file is unchanged.`,
  };
}
