import { statSync } from "node:fs";
import { SharedBudget, SpendingLimitError } from "../../agent/budget.ts";
import type { Approve, ChangeTracker } from "../../agent/types.ts";
import { homeDirectory, now } from "../../infrastructure/runtime.ts";
import { createProviderStream, type ProviderEvent, type StreamFunction } from "../../provider/types.ts";
import type { LeaveOptions, SessionBranches } from "../../session/branches.ts";
import type { ContextOptions } from "../../session/compaction/context-window.ts";
import type { RunOptions, SessionManager, SessionManagerConfig } from "../../session/manager.ts";
import { RANDOM_IDS } from "../../session/open.ts";
import type { RunBudget } from "../../tool/types.ts";
import { hashEvent, hashRequest, withoutGrowing } from "./event-hash.ts";
import { Journal } from "./journal.ts";
import { RECORD_VERSION, type RecordedSettings } from "./record-line.ts";
import { describeTool, recordTool } from "./recorded-tool.ts";

/** Where the record of a session is kept. */
interface RecorderOptions {
  /** Absolute. */
  path: string;
  /** By default `MAX_RECORD_BYTES`. */
  maxBytes?: number | undefined;
}

/** How an opened session came about. */
interface RecordedStart {
  /** True for a copy of another session, which counts as a new one. */
  isFork: boolean;
}

/**
 * Records what a session is given from outside, in the order in which it happens, and a hash of each event that it
 * emits: enough to run the session again without a provider, tools or a user. It stands between the session and what
 * composes it, so that neither the session nor the loop knows of it.
 */
export class SessionRecorder {
  private journal: Journal | undefined;
  private openingId: string | undefined;
  private given: SessionManagerConfig | undefined;
  private readonly plainBudgets = new WeakMap<RunBudget, RunBudget>();
  /** True while a recorded call of the session runs: what it calls itself follows from it. */
  private isCalled = false;

  constructor(private readonly options: RecorderOptions) {}

  /** The configuration of a session whose answers from outside are recorded once it has begun. */
  wrap(config: SessionManagerConfig): SessionManagerConfig {
    this.given = config;
    const { agentConfig, context = {}, takeNotes, onEvent, noteBeforeRun, checkPrompt } = config;
    const { approve, beforeCall, afterCall, reviewAnswer, changes, keepOutput } = agentConfig;
    return {
      ...config,
      ids: {
        entryId: () => this.get("id", RANDOM_IDS.entryId()),
        openingId: () => {
          this.openingId = RANDOM_IDS.openingId();
          return this.openingId;
        },
      },
      agentConfig: {
        ...agentConfig,
        streamFunction: this.wrapStream(agentConfig.streamFunction),
        tools: agentConfig.tools.map((tool) =>
          recordTool(tool, {
            journal: () => this.journal,
            plainRun: (run) => ({
              budget: this.plainBudgets.get(run.budget) ?? run.budget,
              countChanges: async () => changes?.countChanges?.(),
            }),
          }),
        ),
        ...(approve && { approve: this.wrapApprove(approve) }),
        ...(beforeCall && {
          beforeCall: (call, signal) =>
            this.call("beforeCall", () => beforeCall(call, signal), call.toolCallId),
        }),
        ...(afterCall && {
          afterCall: (call, signal) => this.call("afterCall", () => afterCall(call, signal), call.toolCallId),
        }),
        ...(reviewAnswer && {
          reviewAnswer: (...given) => this.call("reviewAnswer", () => reviewAnswer(...given)),
        }),
        ...(keepOutput && { keepOutput: (...given) => this.get("keepOutput", keepOutput(...given)) }),
        ...(changes && { changes: this.wrapChanges(changes) }),
      },
      context: this.wrapContext(context),
      ...(takeNotes && { takeNotes: () => this.get("takeNotes", takeNotes()) }),
      ...(checkPrompt && {
        checkPrompt: (...given) => {
          const check = checkPrompt(...given);
          this.get("checksPrompt", check !== undefined);
          return check && this.call("checkPrompt", () => check);
        },
      }),
      ...(noteBeforeRun && {
        noteBeforeRun: () => {
          const note = noteBeforeRun();
          this.get("notesBeforeRun", note !== undefined);
          return note && this.call("noteBeforeRun", () => note);
        },
      }),
      onEvent: (event) => {
        const { journal, given } = this;
        if (journal?.isOpen) {
          const redacted = given?.agentConfig.redactor?.redact(event) ?? event;
          journal.write({ t: "out", e: event.type, h: hashEvent(redacted) });
        }
        onEvent?.(event);
      },
    };
  }

  /**
   * Records from now on; nothing has happened in the session yet. A record that cannot be written is reported in the
   * session.
   */
  begin(session: SessionManager, { isFork }: RecordedStart): void {
    const { given } = this;
    if (!given) throw new Error("The session has no recorded configuration.");
    const { path, maxBytes } = this.options;
    const report = (message: string) =>
      session.report({ type: "notice", level: "warning", code: "record", message });
    try {
      const redactor = given.agentConfig.redactor ?? { redact: (value) => value, redactPart: (text) => text };
      this.journal = new Journal({ path, maxBytes, redactor, onStop: report });
    } catch (error) {
      report(`This session is not recorded: ${error instanceof Error ? error.message : String(error)}`);
      return;
    }
    this.journal.write({
      t: "open",
      version: RECORD_VERSION,
      sessionId: session.sessionId,
      at: new Date(now()).toISOString(),
      cwd: given.cwd,
      sessionBytes: sizeOf(session.sessionPath),
      leafId: session.leafId,
      ...(!isFork && { openingId: this.openingId }),
      origin: given.origin,
      settings: toSettings(given, session.systemPrompt),
    });
    this.observe(session);
  }

  private get<T>(name: string, value: T): T {
    return this.journal?.get(name, value) ?? value;
  }

  private call<T>(name: string, work: () => Promise<T>, digest?: string): Promise<T> {
    return this.journal?.isOpen ? this.journal.call(name, work, digest) : work();
  }

  private wrapStream(streamFunction: StreamFunction): StreamFunction {
    return (model, context, options) => {
      const { journal } = this;
      const inner = streamFunction(model, context, options);
      if (!journal?.isOpen) return inner;
      const n = journal.nextCall();
      const redacted = this.given?.agentConfig.redactor?.redact(context) ?? context;
      journal.write({ t: "call", n, f: "stream", k: hashRequest(model, redacted, options) });
      const stream = createProviderStream();
      const deliver = (event: ProviderEvent) => {
        journal.write({ t: "ev", n, v: toRecordedEvent(event) });
        stream.push(event);
      };
      // A failure is an event, too.
      inner.consume(deliver).catch(() => {});
      return stream;
    };
  }

  private wrapApprove(approve: Approve): Approve {
    return (request, handle) => {
      const { journal } = this;
      if (!journal?.isOpen) return approve(request, handle);
      const answer = (n: number) =>
        approve(request, {
          ...handle,
          announce(...given) {
            journal.write({ t: "cb", n, f: "announce", a: given });
            return handle.announce(...given);
          },
        });
      return journal.call("approve", answer, handle.toolCallId);
    };
  }

  private wrapChanges(changes: ChangeTracker): ChangeTracker {
    const { countChanges } = changes;
    return {
      beforeChanges: (change) => {
        const { journal } = this;
        if (!journal?.isOpen) return changes.beforeChanges(change);
        return journal.call("beforeChanges", (n) =>
          changes.beforeChanges({
            ...change,
            notify(...given) {
              journal.write({ t: "cb", n, f: "notify", a: given });
              change.notify(...given);
            },
          }),
        );
      },
      afterChanges: () => changes.afterChanges(),
      ...(countChanges && {
        countChanges: () => this.call("countChanges", () => countChanges.call(changes)),
      }),
      settled: () => this.call("settled", () => changes.settled()),
    };
  }

  private wrapContext(context: ContextOptions): ContextOptions {
    const { summarizer, buildSystemPrompt } = context;
    return {
      ...context,
      ...(summarizer && {
        summarizer: async () => {
          let streamFunction: StreamFunction | undefined;
          const { model } = await this.call("summarizer", async () => {
            const opened = await summarizer();
            streamFunction = opened.streamFunction;
            return { model: opened.model };
          });
          if (!streamFunction) throw new Error("No model for summaries was opened.");
          return { model, streamFunction: this.wrapStream(streamFunction) };
        },
      }),
      ...(buildSystemPrompt && {
        buildSystemPrompt: () => this.call("buildSystemPrompt", () => buildSystemPrompt()),
      }),
      startCalibration: (saved) => this.get("calibration", saved),
    };
  }

  /** The use of a budget that may be shared with other sessions. */
  private wrapBudget(budget: RunBudget): RunBudget {
    const { call, set, get } = {
      call: this.call.bind(this),
      get: this.get.bind(this),
      set: <T>(key: string, value: T) => this.journal?.set(key, value) ?? value,
    };
    const wrapped: RunBudget = {
      limits: budget.limits,
      get isOverCost() {
        return set("isOverCost", budget.isOverCost);
      },
      takeTurn: () => get("takeTurn", budget.takeTurn()),
      addCost: (cost) => budget.addCost(cost),
      admit: async (...given) => {
        let release = () => {};
        await call("admit", async () => {
          release = await budget.admit(...given);
        });
        return () => release();
      },
    };
    this.plainBudgets.set(wrapped, budget);
    return wrapped;
  }

  /** Records every call of the session that changes what it does next. */
  private observe(session: SessionManager): void {
    const { run, compact, useModel, report, close, branch, steer, takeBack, notify, create, resume } =
      session;
    session.run = (message, { signal, budget = new SharedBudget(session.runLimits) }: RunOptions = {}) =>
      this.record(
        "run",
        { message, limits: budget.limits },
        () => run.call(session, message, { signal, budget: this.wrapBudget(budget) }),
        signal,
      );
    session.compact = (options = {}) => {
      const { focus, signal, emit } = options;
      const facts = { focus, emits: emit !== undefined };
      return this.record("compact", facts, () => compact.call(session, options), signal);
    };
    session.useModel = (change) => {
      const { streamFunction, ...facts } = change;
      const own = streamFunction && { streamFunction: this.wrapStream(streamFunction) };
      const given = { ...facts, hasStream: own !== undefined };
      return this.record("useModel", given, () => useModel.call(session, { ...change, ...own }));
    };
    session.report = (event) =>
      this.record("report", withoutGrowing(event), () => report.call(session, event));
    session.branch = (entryId) => this.record("branch", entryId, () => branch.call(session, entryId));
    session.steer = (content) => this.record("steer", content, () => steer.call(session, content));
    session.takeBack = (which) => this.record("takeBack", which, () => takeBack.call(session, which));
    session.notify = (content) => this.record("notify", content, () => notify.call(session, content));
    this.observeNotes(session);
    this.observeBranches(session);
    session.close = () => {
      close.call(session);
      this.journal?.close();
    };
    session.create = (options) => {
      this.journal?.stop(REPLACED);
      return create.call(session, options);
    };
    session.resume = (options) => {
      this.journal?.stop(REPLACED);
      return resume.call(session, options);
    };
  }

  /** The calls that add entries beside the conversation, or open its window. */
  private observeNotes(session: SessionManager): void {
    const { rename, appendCustom, setTodos, linkTask, noteHook, noteRequest, noteRuleViolation } = session;
    const { pin, unpin, undoCompaction, describeContext, previewCompaction } = session;
    session.rename = (name) => this.record("rename", name, () => rename.call(session, name));
    session.appendCustom = (customType, data) =>
      this.record("appendCustom", { customType, data }, () => appendCustom.call(session, customType, data));
    session.setTodos = (todos) => this.record("setTodos", todos, () => setTodos.call(session, todos));
    session.linkTask = (link) => this.record("linkTask", link, () => linkTask.call(session, link));
    session.noteHook = (hook) => this.record("noteHook", hook, () => noteHook.call(session, hook));
    session.noteRequest = (request) =>
      this.record("noteRequest", request, () => noteRequest.call(session, request));
    session.noteRuleViolation = (violation) =>
      this.record("noteRuleViolation", violation, () => noteRuleViolation.call(session, violation));
    session.pin = (id) => this.record("pin", id, () => pin.call(session, id));
    session.unpin = (id) => this.record("unpin", id, () => unpin.call(session, id));
    session.undoCompaction = () => this.record("undoCompaction", null, () => undoCompaction.call(session));
    session.describeContext = () => this.record("describeContext", null, () => describeContext.call(session));
    session.previewCompaction = () =>
      this.record("previewCompaction", null, () => previewCompaction.call(session));
  }

  private observeBranches(session: SessionManager): void {
    const recorded = (branches: SessionBranches): SessionBranches => {
      const { label, leave } = branches;
      branches.label = (id, text) => this.record("label", { id, text }, () => label.call(branches, id, text));
      branches.leave = (id, options: LeaveOptions = {}) =>
        this.record("leave", { id }, () => leave.call(branches, id, options), options.signal);
      return branches;
    };
    const descriptor = Object.getOwnPropertyDescriptor(Object.getPrototypeOf(session), "branches");
    Object.defineProperty(session, "branches", { get: () => recorded(descriptor?.get?.call(session)) });
  }

  private record<T>(name: string, a: unknown, work: () => T, signal?: AbortSignal): T {
    const { journal } = this;
    if (!journal?.isOpen || this.isCalled) return work();
    const n = signal && journal.nextCall();
    journal.write({ t: "do", f: name, a: a ?? null, ...(n !== undefined && { n }) });
    const onAbort = () => journal.write({ t: "do", f: "abort", n });
    if (signal?.aborted) onAbort();
    else signal?.addEventListener("abort", onAbort, { once: true });
    this.isCalled = true;
    try {
      return work();
    } finally {
      this.isCalled = false;
    }
  }
}

/** The bytes of a session's file; 0 for a new session, which has none. */
function sizeOf(path: string | undefined): number {
  return path === undefined ? 0 : (statSync(path, { throwIfNoEntry: false })?.size ?? 0);
}

const REPLACED = "another session took its place";

/** A failure as data. */
function toRecordedEvent(event: ProviderEvent): object {
  if (event.type !== "error" && event.type !== "retry") return event;
  const { message, errorType, retryAfterMs, statusCode, contextWindow, requestTokens } = event.error;
  const isLimit = event.error instanceof SpendingLimitError;
  const facts = { message, errorType, retryAfterMs, statusCode, contextWindow, requestTokens };
  return { ...event, error: { ...facts, ...(isLimit && { isLimit }) } };
}

function toSettings(config: SessionManagerConfig, systemPrompt: string): RecordedSettings {
  const { agentConfig, context = {}, conditions, nudgeInterval, lockLocation } = config;
  const { model, effort, tools, maxTurns, maxCost, maxRetries } = agentConfig;
  const { compaction, flushKnowledge } = context;
  const given: Record<string, unknown> = {
    approve: agentConfig.approve,
    beforeCall: agentConfig.beforeCall,
    afterCall: agentConfig.afterCall,
    reviewAnswer: agentConfig.reviewAnswer,
    keepOutput: agentConfig.keepOutput,
    changes: agentConfig.changes,
    countChanges: agentConfig.changes?.countChanges,
    summarizer: context.summarizer,
    buildSystemPrompt: context.buildSystemPrompt,
    takeNotes: config.takeNotes,
    checkPrompt: config.checkPrompt,
    noteBeforeRun: config.noteBeforeRun,
  };
  return {
    ...{ model, effort, systemPrompt, tools: tools.map(describeTool) },
    ...{ maxTurns, maxCost, maxRetries, conditions, compaction, flushKnowledge, nudgeInterval },
    functions: Object.keys(given).filter((name) => given[name] !== undefined),
    home: lockLocation && homeDirectory(lockLocation),
  };
}
