import {
  type AskPerson,
  createHarness,
  describeDefaultModel,
  type Harness,
  type HarnessOverrides,
  type HarnessSession,
  type Notice,
  type SessionChoices,
  type SessionStart,
} from "@diligent/core/harness";
import type { LoadOptions } from "@diligent/core/run";
import type { ApprovalMode, Resumption, RunCommand } from "../arguments/command.ts";
import { type CliIo, writeLine } from "../io/io.ts";
import type { UpdateCheck } from "../update/update-check.ts";
import { resolveDirectory } from "./project-directory.ts";
import { SESSION_FORMATTER } from "./session-formatter.ts";

/** A front end of the command line: where questions and warnings go. */
interface FrontEnd {
  approvalDefault: ApprovalMode;
  /** Omitted if there is no user to ask. */
  ask?: AskPerson;
  /** Receives warnings that are not part of the conversation; default: stderr. */
  warn?(message: string): void;
  /** Omitted if there is no user to notify. */
  updates?: UpdateCheck | undefined;
  /** State carried over from the session that this one replaces. */
  carried?: CarriedSession;
}

/** State that a session takes over from the previous one in the same process. */
export interface CarriedSession extends Pick<SessionChoices, "approvalMode" | "grants" | "recording"> {
  /** Replaces the session that the command line asks for. */
  start?: SessionStart | undefined;
  /** The user's choices; everything else comes from the configuration. */
  chosen?: HarnessSession["chosen"];
  /**
   * The current model, and the model configured when it was chosen: it is kept while the configured one stays
   * the same.
   */
  model?: { id: string; configured: string | undefined };
  /** A project that is trusted until the program ends. */
  trustedOnce?: LoadOptions["trustedOnce"];
}

/**
 * Opens the session that the command line asks for, a new or an earlier one. Processes that it starts end
 * with the program.
 * @throws UsageError if it cannot be opened as requested; nothing was sent then.
 */
export async function startSession(
  { options, resumption }: Pick<RunCommand, "options"> & { resumption?: Resumption | undefined },
  io: CliIo,
  frontEnd: FrontEnd,
): Promise<HarnessSession> {
  const { ask, carried = {} } = frontEnd;
  const cwd = resolveDirectory(options.directory, io.cwd);
  const overrides = toOverrides(options, io, frontEnd);
  const harness = await createHarness({ cwd, environment: io.environment, overrides });
  closeWithProgram(harness, io);
  const opened = await harness.openSession(carried.start ?? toStart(resumption, ask !== undefined), {
    model: options.model ?? keptModel(carried, harness.loaded.config.model),
    effort: carried.chosen?.effort,
    approvalMode: carried.approvalMode,
    ask,
    grants: carried.grants,
    recording: carried.recording,
  });
  opened.chosen = carried.chosen ?? {};
  opened.notices.push(...(await startNotices(opened, carried)));
  return opened;
}

function toOverrides(
  options: RunCommand["options"],
  io: CliIo,
  { approvalDefault, updates, carried, ...frontEnd }: FrontEnd,
): HarnessOverrides {
  const warn = frontEnd.warn ?? ((message: string) => writeLine(io.stderr, message));
  return {
    maxTurns: options.maxTurns,
    maxCost: options.maxCost,
    appendSystemPrompt: options.appendSystemPrompt,
    persist: options.isSaved,
    isVerbose: options.isVerbose,
    approvalMode: options.approval,
    defaultApprovalMode: approvalDefault,
    record: options.record,
    trustedOnce: carried?.trustedOnce,
    unrecordedPrompt: io.ownPrompt,
    formatter: SESSION_FORMATTER,
    wrapStream:
      updates && ((stream, { config, note }) => updates.watchStream(stream, { url: config.updateUrl, note })),
    warn: (message, topic) => (topic === "sandbox" ? void warnEscaped(message, warn) : warn(message)),
  };
}

/** Shows a message that contains a command's output in full, on one line, with every character visible. */
async function warnEscaped(message: string, warn: (message: string) => void): Promise<void> {
  const { escapeLine } = await import("../approval/escaped-text.ts");
  warn(escapeLine(message));
}

function closeWithProgram(harness: Harness, io: Pick<CliIo, "onExit" | "onAnyExit">): void {
  io.onExit(() => {
    // However the program ends, a prompt without an answer is saved.
    harness.flush();
    return harness.endProcesses();
  });
  io.onAnyExit(() => harness.removeTemporaryFiles());
}

function toStart(resumption: Resumption | undefined, isAttended: boolean): SessionStart {
  // Without a user, nobody could start a new session instead.
  if (!resumption) return isAttended ? { automatic: true } : { fresh: true };
  if (resumption.opensList) return { fresh: true };
  const reference = resumption.reference ?? { latest: true as const };
  return resumption.how === "fork" ? { fork: reference } : { resume: reference };
}

/** The model to keep; undefined if the configured model has changed since it was chosen. */
function keptModel({ model }: CarriedSession, configured: string | undefined): string | undefined {
  return model?.configured === configured ? model?.id : undefined;
}

async function startNotices(opened: HarnessSession, carried: CarriedSession): Promise<Notice[]> {
  const { earlier, loaded, model } = opened;
  const resumed = earlier?.info ? (await import("./resume.ts")).resumedNotices(opened) : [];
  // Later sessions of this process repeat no notices from the first one's start.
  return carried.chosen === undefined ? [...resumed, ...defaultModelNotices(loaded, model.id)] : resumed;
}

function defaultModelNotices(loaded: HarnessSession["loaded"], modelId: string): Notice[] {
  const reason = modelId === loaded.config.model ? describeDefaultModel(loaded) : undefined;
  if (reason === undefined) return [];
  const message = `Using ${modelId}, because ${reason}. Choose another model with -m or "model" in your configuration.`;
  return [{ level: "info", code: "default_model", message }];
}
