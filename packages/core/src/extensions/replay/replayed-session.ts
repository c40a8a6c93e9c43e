import { z } from "zod";
import { SpendingLimitError } from "../../agent/budget.ts";
import type { AgentLoopConfig, CallAdvice, ChangeTracker } from "../../agent/types.ts";
import { generateEntryId } from "../../infrastructure/runtime.ts";
import { PROVIDER_ERROR_TYPES, ProviderError } from "../../provider/errors.ts";
import {
  createProviderStream,
  type Effort,
  type Model,
  type ProviderEvent,
  type RunConditions,
  type StreamFunction,
} from "../../provider/types.ts";
import type { ContextOptions } from "../../session/compaction/context-window.ts";
import {
  type PromptCheck,
  type RunNote,
  SessionManager,
  type SessionManagerConfig,
} from "../../session/manager.ts";
import type { SessionFile } from "../../session/read-file.ts";
import type { ApprovalDecision, RunBudget } from "../../tool/types.ts";
import type { TodoItem, UserMessage } from "../../types.ts";
import { hashRequest } from "./event-hash.ts";
import { EVENT, fromJson, type RecordedOpening } from "./record-line.ts";
import { toReplayedTool } from "./replayed-tool.ts";
import { type RecordedDeed, type ReplayDifference, Replayer } from "./replayer.ts";

/** Where a replayed session is kept. */
interface ReplayPlace {
  /** A directory that is removed afterwards; absolute. */
  directory: string;
  /** The session as it was when it was opened; undefined for a new one. */
  file: SessionFile | undefined;
}

/** How the replay of one opening ended. */
export interface OpeningReplay {
  events: number;
  hash: string;
  /** Undefined if everything was equal. */
  difference: ReplayDifference | undefined;
}

/** Runs a session again as it was recorded in one opening. Nothing outside of `place` is read or changed. */
export async function replayOpening(recorded: RecordedOpening, place: ReplayPlace): Promise<OpeningReplay> {
  const replayed = new ReplayedSession(recorded, place);
  const difference = await replayed.run();
  return { ...replayed.summary, difference };
}

class ReplayedSession {
  private readonly replayer: Replayer;
  private readonly session: SessionManager;
  private readonly deeds: Readonly<Record<string, Deed>>;
  private readonly aborts = new Map<number, AbortController>();

  constructor(
    private readonly recorded: RecordedOpening,
    private readonly place: ReplayPlace,
  ) {
    this.replayer = new Replayer(recorded, (deed) => this.perform(deed));
    this.session = new SessionManager(this.toConfig());
    this.deeds = this.createDeeds();
  }

  get summary() {
    return this.replayer.summary;
  }

  async run(): Promise<ReplayDifference | undefined> {
    const { file } = this.place;
    const { leafId } = this.recorded.opening;
    if (file) await this.session.resume({ file });
    if (file && this.session.leafId !== leafId) this.session.branch(leafId);
    const difference = await this.replayer.run();
    // What has been abandoned ends, and nothing is compared any more.
    for (const abort of this.aborts.values()) abort.abort();
    this.session.close();
    return difference;
  }

  private toConfig(): SessionManagerConfig {
    const { replayer } = this;
    const { settings, cwd, origin, sessionId, openingId } = this.recorded.opening;
    const { model, effort, systemPrompt, tools, maxTurns, maxCost, maxRetries } = settings;
    const has = (name: string) => settings.functions.includes(name);
    const { directory } = this.place;
    const paths = {
      root: directory,
      sessions: directory,
      knowledge: directory,
      skills: directory,
      worktrees: directory,
    };
    return {
      ...{ cwd, paths, sessionId, origin, conditions: settings.conditions },
      lockLocation: { HOME: settings.home, XDG_STATE_HOME: directory },
      ids: {
        entryId: () => replayer.get("id", z.string(), generateEntryId()),
        openingId: () => openingId,
      },
      agentConfig: {
        ...{ model, effort, systemPrompt, maxTurns, maxCost, maxRetries },
        streamFunction: this.stream,
        tools: tools.map((tool) => toReplayedTool(tool, replayer)),
        ...this.toHooks(has),
      },
      context: this.toContext(has),
      nudgeInterval: settings.nudgeInterval,
      ...(has("takeNotes") && { takeNotes: () => replayer.get("takeNotes", z.array(z.string()), []) }),
      ...(has("checkPrompt") && {
        checkPrompt: () =>
          replayer.get("checksPrompt", z.boolean(), false)
            ? replayer.call("checkPrompt", fromJson<PromptCheck>())
            : undefined,
      }),
      ...(has("noteBeforeRun") && {
        noteBeforeRun: () =>
          replayer.get("notesBeforeRun", z.boolean(), false)
            ? replayer.call("noteBeforeRun", optional<RunNote>())
            : undefined,
      }),
      onEvent: (event) => replayer.emit(event),
    };
  }

  private toHooks(has: (name: string) => boolean): Partial<AgentLoopConfig> {
    const { replayer } = this;
    return {
      ...(has("approve") && {
        approve: (_, handle) =>
          replayer.call("approve", ANSWER, {
            digest: handle.toolCallId,
            callback(_name, given) {
              const [gate, about] = replayer.read(ANNOUNCEMENT, given, []);
              if (gate !== undefined) handle.announce(gate, about);
            },
          }),
      }),
      ...(has("beforeCall") && {
        beforeCall: ({ toolCallId: digest }) =>
          replayer.call("beforeCall", optional<CallAdvice>(), { digest }),
      }),
      ...(has("afterCall") && {
        afterCall: ({ toolCallId: digest }) => replayer.call("afterCall", z.string().optional(), { digest }),
      }),
      ...(has("reviewAnswer") && {
        reviewAnswer: () => replayer.call("reviewAnswer", z.string().optional()),
      }),
      ...(has("keepOutput") && {
        keepOutput: () => replayer.get("keepOutput", z.string().optional(), undefined),
      }),
      ...(has("changes") && { changes: this.toChanges(has("countChanges")) }),
    };
  }

  private toChanges(countsChanges: boolean): ChangeTracker {
    const { replayer } = this;
    return {
      beforeChanges: (change) =>
        replayer.call("beforeChanges", NOTHING, {
          callback(_name, given) {
            const notice = replayer.read(NOTICE, given, undefined);
            if (notice) change.notify(...notice);
          },
        }),
      afterChanges() {},
      ...(countsChanges && { countChanges: () => replayer.call("countChanges", z.number().optional()) }),
      settled: () => replayer.call("settled", NOTHING),
    };
  }

  private toContext(has: (name: string) => boolean): ContextOptions {
    const { replayer } = this;
    const { compaction, flushKnowledge } = this.recorded.opening.settings;
    return {
      ...{ compaction, flushKnowledge },
      ...(has("summarizer") && {
        summarizer: async () => ({
          ...(await replayer.call("summarizer", fromJson<{ model: Model }>())),
          streamFunction: this.stream,
        }),
      }),
      ...(has("buildSystemPrompt") && {
        buildSystemPrompt: () => replayer.call("buildSystemPrompt", z.string()),
      }),
      startCalibration: () => replayer.get("calibration", CALIBRATION, undefined),
    };
  }

  private readonly stream: StreamFunction = (model, context, options) => {
    const stream = createProviderStream();
    void this.replayer.call("stream", NOTHING, {
      digest: hashRequest(model, context, options),
      event: (given) => {
        const event = this.replayer.read(PROVIDER_EVENT, given, undefined);
        if (event) stream.push(event);
      },
    });
    return stream;
  };

  private perform({ name, given, number }: RecordedDeed): void {
    const deed = this.deeds[name];
    if (!deed) {
      this.replayer.read(z.never(), name, undefined);
      return;
    }
    // What fails was refused in the recorded session, too: it was busy, or there was no such entry.
    try {
      const done = deed(given, number);
      if (done instanceof Promise) done.catch(() => {});
    } catch {}
  }

  /** The signal of a recorded call that could be aborted. */
  private signalOf(number: number | undefined): AbortSignal | undefined {
    if (number === undefined) return undefined;
    const abort = new AbortController();
    this.aborts.set(number, abort);
    return abort.signal;
  }

  /** What can be done with the session, by the names in the record. */
  private createDeeds(): Readonly<Record<string, Deed>> {
    const { session, replayer } = this;
    const signalOf = (number: number | undefined) => this.signalOf(number);
    return {
      ...createNoteDeeds(session),
      run(given, number) {
        const { message, limits } = RUN.parse(given);
        return session
          .run(message, { signal: signalOf(number), budget: toBudget(limits, replayer) })
          .consume(() => {});
      },
      abort: (_, number) => this.aborts.get(number ?? 0)?.abort(),
      compact(given, number) {
        const { focus, emits } = COMPACTION.parse(given);
        return session.compact({ focus, signal: signalOf(number), ...(emits && { emit() {} }) });
      },
      useModel: (given) => {
        const { hasStream, ...change } = MODEL_CHANGE.parse(given);
        session.useModel({ ...change, ...(hasStream && { streamFunction: this.stream }) });
      },
      leave: (given, number) =>
        session.branches.leave(LEAVE.parse(given).id, { signal: signalOf(number), emit() {} }),
    };
  }
}

/** Does with the session what was done with it; a promise for what takes a while. */
type Deed = (given: unknown, number: number | undefined) => unknown;

/** Those that take nothing but values. */
function createNoteDeeds(session: SessionManager): Readonly<Record<string, Deed>> {
  return {
    report: (given) => session.report(EVENT.parse(given)),
    branch: (given) => session.branch(z.string().nullable().parse(given)),
    steer: (given) => session.steer(CONTENT.parse(given)),
    takeBack: (given) => session.takeBack(z.enum(["last", "all"]).parse(given)),
    notify: (given) => session.notify(CONTENT.parse(given)),
    rename: (given) => session.rename(z.string().nullable().parse(given) ?? undefined),
    appendCustom(given) {
      const { customType, data } = CUSTOM.parse(given);
      return session.appendCustom(customType, data);
    },
    setTodos: (given) => session.setTodos(fromJson<TodoItem[]>(Array.isArray).parse(given)),
    linkTask: (given) => session.linkTask(fromJson<Given<"linkTask">>().parse(given)),
    noteHook: (given) => session.noteHook(fromJson<Given<"noteHook">>().parse(given)),
    noteRequest: (given) => session.noteRequest(fromJson<Given<"noteRequest">>().parse(given)),
    noteRuleViolation: (given) =>
      session.noteRuleViolation(fromJson<Given<"noteRuleViolation">>().parse(given)),
    pin: (given) => session.pin(z.string().parse(given)),
    unpin: (given) => session.unpin(z.string().parse(given)),
    undoCompaction: () => session.undoCompaction(),
    describeContext: () => session.describeContext(),
    previewCompaction: () => session.previewCompaction(),
    label(given) {
      const { id, text } = LABEL.parse(given);
      session.branches.label(id, text);
    },
  };
}

type Given<Name extends "linkTask" | "noteHook" | "noteRequest" | "noteRuleViolation"> = Parameters<
  SessionManager[Name]
>[0];

/** The budget of the recorded run, which may have been shared with other sessions. */
function toBudget(limits: RunBudget["limits"], replayer: Replayer): RunBudget {
  return {
    limits,
    get isOverCost() {
      return replayer.state("isOverCost", z.boolean(), false);
    },
    takeTurn: () => replayer.get("takeTurn", z.boolean(), false),
    addCost() {},
    async admit() {
      await replayer.call("admit", NOTHING);
      return () => {};
    },
  };
}

/** A value that may be missing: JSON has no undefined. */
function optional<T>() {
  return fromJson<T>().optional();
}

const NOTHING = z.unknown().transform(() => undefined);
const CONTENT = fromJson<UserMessage["content"]>(
  (value) => typeof value === "string" || Array.isArray(value),
);
const RUN = z.object({
  message: fromJson<UserMessage>(),
  limits: z.object({ maxTurns: z.number().optional(), maxCost: z.number().optional() }),
});
const COMPACTION = z.object({ focus: z.string().optional(), emits: z.boolean() });
const MODEL_CHANGE = z.object({
  model: fromJson<Model>().exactOptional(),
  effort: fromJson<Effort>((value) => typeof value === "string").exactOptional(),
  conditions: fromJson<RunConditions>().exactOptional(),
  hasStream: z.boolean(),
});
const CUSTOM = z.object({ customType: z.string(), data: z.unknown() });
const LABEL = z.object({ id: z.string(), text: z.string() });
const LEAVE = z.object({ id: z.string().nullable() });
const CALIBRATION = z.object({ ratio: z.number(), samples: z.number() }).optional();
const ANSWER = z.union([z.enum(["once", "always", "reject"]), fromJson<ApprovalDecision>()]);
type Announcement = Parameters<Parameters<NonNullable<AgentLoopConfig["approve"]>>[1]["announce"]>;
const ANNOUNCEMENT = fromJson<Announcement>(Array.isArray);
type ChangeNotice = Parameters<Parameters<ChangeTracker["beforeChanges"]>[0]["notify"]>;
const NOTICE = fromJson<ChangeNotice>(Array.isArray);

const FAILURE = z
  .object({
    message: z.string(),
    errorType: z.enum(PROVIDER_ERROR_TYPES),
    retryAfterMs: z.number().optional(),
    statusCode: z.number().optional(),
    contextWindow: z.number().optional(),
    requestTokens: z.number().optional(),
    isLimit: z.literal(true).optional(),
  })
  .transform(({ message, errorType, isLimit, ...options }) =>
    isLimit ? new SpendingLimitError(message) : new ProviderError(message, errorType, options),
  );

const PROVIDER_EVENT = z.union([
  z.object({ type: z.literal("error"), error: FAILURE }),
  z.object({ type: z.literal("retry"), attempt: z.number(), delayMs: z.number(), error: FAILURE }),
  fromJson<Exclude<ProviderEvent, { type: "error" | "retry" }>>(),
]);
