import type { AgentEvent, AgentLoopConfig } from "../agent/types.ts";
import type { EventStream } from "../event-stream.ts";
import type { Message, UserMessage } from "../types.ts";
import { type CompactionOutcome, type CompactOptions, ContextGuard } from "./context/context-guard.ts";
import type { ContextUsage } from "./context/context-usage.ts";
import { buildPathContext, type SessionContext } from "./context-builder.ts";
import { nameSession } from "./labels.ts";
import type { CreateSessionOptions, RunOptions, SessionManagerConfig } from "./manager-config.ts";
import { OpenBranches } from "./open-branches.ts";
import { createSession, flushSession, forkSession, type OpenSession, openSession } from "./open-session.ts";
import { findAndReadSession, listProjectSessions, type ResumeSessionOptions } from "./read-session.ts";
import type { SessionBranches } from "./session-branches.ts";
import { damagedLines } from "./session-notices.ts";
import { toSessionPlace } from "./session-place.ts";
import { SessionRun } from "./session-run.ts";
import { SteeringQueue } from "./steering-queue.ts";
import type { SessionInfo } from "./types.ts";

export type { ResumeSessionOptions, SessionManagerConfig };

/** One session: holds the conversation, runs the agent loop on it and saves every message as it is finished. */
export class SessionManager {
  private session: OpenSession;
  private guard: ContextGuard;
  private readonly steering = new SteeringQueue();
  /** Notices from between two runs, told in the next one. */
  private readonly untold: AgentEvent[] = [];
  /** The run that is going on. */
  private running: EventStream<AgentEvent, Message[]> | undefined;
  /** The compaction by hand that is going on. */
  private compacting: Promise<CompactionOutcome> | undefined;

  /** Begins with a new session; `resume` exchanges it for an earlier one. */
  constructor(private config: SessionManagerConfig) {
    this.session = createSession(this.place, { sessionId: config.sessionId });
    this.guard = this.createGuard();
  }

  /** Another one after `create` and `resume`. */
  get sessionId(): string {
    return this.session.header.id;
  }

  /** The entry that the next one follows; null in an empty session. */
  get leafId(): string | null {
    return this.session.log.leafId;
  }

  /** The session file, once everything so far is in it. */
  get sessionPath(): string | undefined {
    return this.session.writer?.path ?? undefined;
  }

  /** The conversation so far, as the next request begins, and the model it was held with. */
  get context(): SessionContext {
    return buildPathContext(this.session.log.path());
  }

  /** The same with all that was ever left of it. */
  get branches(): SessionBranches {
    return new OpenBranches({ opened: this.session, guard: this.guard, session: this });
  }

  /** What fills the model's window now, by cause. */
  describeContext(): Promise<ContextUsage> {
    return this.guard.describe();
  }

  /** Begins a new session. @throws Error while a run or a compaction is going on. */
  async create(options: CreateSessionOptions = {}): Promise<void> {
    this.exchange(createSession(this.place, options));
  }

  /**
   * Goes on in an earlier session: in the same file, behind its last message.
   * @returns false when there is none.
   * @throws SessionFileError when the file cannot be opened; it is not touched then. Error as `create` does.
   */
  async resume(options: ResumeSessionOptions): Promise<boolean> {
    const file = options.file ?? (await findAndReadSession(this.config.paths, options));
    if (!file) return false;
    this.exchange(openSession(this.place, file));
    if (file.skippedLines > 0) this.warn(damagedLines(file.skippedLines));
    return true;
  }

  /** The sessions of this project, the last changed first. */
  async list(): Promise<SessionInfo[]> {
    return listProjectSessions(this.config.paths);
  }

  /**
   * Adds the user's message and lets the agent answer; it waits for compactions. As `agentLoop`, it never fails by itself.
   * @throws Error while another run is going on.
   */
  run(userMessage: UserMessage, { signal }: RunOptions = {}): EventStream<AgentEvent, Message[]> {
    this.assertNoRun();
    const run = this.createRun();
    const start = () => run.start(signal);
    const begin = () => {
      run.addPrompt(userMessage);
      // Whoever asked for the compaction is told of its failure.
      if (this.compacting) void this.compacting.then(start, start);
      else start();
    };
    this.session.gate.pass(begin, { signal, emit: (notice) => run.stream.push(notice) });
    this.running = run.stream;
    return run.stream;
  }

  /** For what is prepared before it takes effect, such as another model. @throws Error when a run or a compaction is going on. */
  assertIdle(): void {
    this.assertNoRun();
    if (this.compacting) throw new Error("This session is busy: wait until its compaction has ended.");
  }

  /** Lets another model answer from the next run on, or the same in another way. @throws Error while the session is busy. */
  useModel(change: Partial<Pick<AgentLoopConfig, "model" | "streamFunction" | "effort">>): void {
    this.assertIdle();
    const { systemPrompt } = this.guard;
    this.config = { ...this.config, agentConfig: { ...this.config.agentConfig, ...change, systemPrompt } };
    this.guard = this.createGuard();
  }

  /**
   * Summarises the older part of the conversation now. Two at once are one.
   * @throws Error when a run is going on: that one compacts by itself.
   */
  compact(options: CompactOptions = {}): Promise<CompactionOutcome> {
    this.assertNoRun();
    const compact = () => this.guard.compact(options);
    this.compacting ??= this.session.gate.compact(compact, options).finally(() => {
      this.compacting = undefined;
      this.flush();
      if (options.emit) for (const notice of this.untold.splice(0)) options.emit(notice);
    });
    return this.compacting;
  }

  /**
   * Sends a message into the run that is going on, or else into the next one; it joins before a model request.
   * @returns the `id` of the `steering` event that tells of it.
   */
  steer(content: UserMessage["content"]): string {
    return this.steering.add(content);
  }

  /** Takes back what was sent into the run and has not joined it yet. @returns its texts, oldest first. */
  takeBack(which: "last" | "all"): string[] {
    return this.steering.takeBack(which);
  }

  /** Tells the model something that asks for no answer: in the run that is going on, else with the next prompt. */
  async tell(content: UserMessage["content"]): Promise<void> {
    const { addNote } = await import("./add-note.ts");
    await addNote(content, { ...this.session, steering: this.steering, isRunning: () => !!this.running });
  }

  /**
   * A new session with a copy of this conversation, up to an entry where one is named. It is saved at once, under an id of
   * its own when none is given.
   * @throws Error when there is no such entry.
   */
  async fork(
    atEntryId?: string,
    { sessionId }: Pick<CreateSessionOptions, "sessionId"> = {},
  ): Promise<SessionManager> {
    const forked = new SessionManager(this.config);
    forked.exchange(forkSession(forked.place, this.session, { atEntryId, sessionId }));
    forked.untold.push(...this.untold.splice(0));
    return forked;
  }

  /**
   * Goes on from an earlier entry (null: from the beginning): the next prompt grows a new branch there.
   * @throws Error when there is no such entry, or a run or a compaction is going on.
   */
  branch(entryId: string | null): void {
    this.assertIdle();
    this.session.log.moveTo(entryId);
  }

  /** Gives the session a name for lists; without one, or a blank one, the first prompt serves again. */
  rename(name?: string): void {
    nameSession(this.session.log, name);
    this.flush();
  }

  /** Puts on disk what there is, a prompt without an answer included. */
  flush(): void {
    flushSession(this.session);
  }

  /** Puts on disk what there is and lets go of the file; to be called last, when no run is going on. */
  close(): void {
    this.flush();
    this.session.writer?.close();
  }

  private get place() {
    return toSessionPlace(this.config, (notice) => this.warn(notice));
  }

  private exchange(session: OpenSession): void {
    this.assertIdle();
    this.close();
    this.session = session;
    this.guard = this.createGuard();
  }

  private createGuard(): ContextGuard {
    const context = { ...this.config.context, gate: this.session.gate };
    return new ContextGuard(this.session.log, this.config.agentConfig, context);
  }

  private createRun(): SessionRun {
    const { session, guard, steering, untold } = this;
    const onEnd = () => {
      this.running = undefined;
    };
    return new SessionRun({ session, guard, agentConfig: this.config.agentConfig, steering, untold, onEnd });
  }

  private assertNoRun(): void {
    if (this.running) throw new Error("This session is busy: wait until the run has ended.");
  }

  private warn(notice: AgentEvent): void {
    (this.running ?? this.untold).push(notice);
  }
}
