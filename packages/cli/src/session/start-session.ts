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
import { SESSION_WORDING } from "./session-wording.ts";

/** What a front end of the command line gives: where questions and warnings go. */
interface FrontEnd {
  approvalDefault: ApprovalMode;
  /** Omitted when there is no one to ask. */
  ask?: AskPerson;
  /** Called with what is wrong beside the conversation; stderr when left out. */
  warn?(message: string): void;
  /** Left out where nobody is there to be told. */
  updates?: UpdateCheck | undefined;
  /** What continues from the session that this one replaces. */
  carried?: CarriedSession;
}

/** What a session takes over from the one before it in the same process. */
export interface CarriedSession extends Pick<SessionChoices, "approvalMode" | "grants" | "recording"> {
  /** In place of what the command line asks for. */
  start?: SessionStart | undefined;
  /** What the user has chosen; the configuration counts for the rest. */
  chosen?: HarnessSession["chosen"];
  /** The model that answers, and the one that was configured then: it stays while that is still the same. */
  model?: { id: string; configured: string | undefined };
  /** A project that counts as trusted until the program ends. */
  trustedOnce?: LoadOptions["trustedOnce"];
}

/**
 * Opens a session as the command line asks for it, a new one or an earlier one. Processes that it starts end with the
 * program.
 * @throws UsageError when it cannot be opened as asked: nothing was sent then.
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
    wording: SESSION_WORDING,
    wrapStream:
      updates && ((stream, { config, note }) => updates.beside(stream, { url: config.updateUrl, note })),
    warn: (message, topic) => (topic === "sandbox" ? void warnEscaped(message, warn) : warn(message)),
  };
}

/** A message that names what a command named is shown whole, on one line, with every character visible. */
async function warnEscaped(message: string, warn: (message: string) => void): Promise<void> {
  const { escapeLine } = await import("../approval/escaped-text.ts");
  warn(escapeLine(message));
}

function closeWithProgram(harness: Harness, io: Pick<CliIo, "onExit" | "onAnyExit">): void {
  io.onExit(() => {
    // However the program ends, a prompt that has no answer yet is kept.
    harness.flush();
    return harness.endProcesses();
  });
  io.onAnyExit(() => harness.removeTemporaryFiles());
}

function toStart(resumption: Resumption | undefined, isAttended: boolean): SessionStart {
  // Where nobody is there, nobody could begin a new session instead.
  if (!resumption) return isAttended ? { automatic: true } : { fresh: true };
  if (resumption.opensList) return { fresh: true };
  const reference = resumption.reference ?? { latest: true as const };
  return resumption.how === "fork" ? { fork: reference } : { resume: reference };
}

/** The model that stays; undefined where another one is configured now than when it was chosen. */
function keptModel({ model }: CarriedSession, configured: string | undefined): string | undefined {
  return model?.configured === configured ? model?.id : undefined;
}

async function startNotices(opened: HarnessSession, carried: CarriedSession): Promise<Notice[]> {
  const { earlier, loaded, model } = opened;
  const resumed = earlier?.info ? (await import("./resume.ts")).resumedNotices(opened) : [];
  // Later sessions of this process continue with what the user was told at its start.
  return carried.chosen === undefined ? [...resumed, ...defaultModelNotices(loaded, model.id)] : resumed;
}

function defaultModelNotices(loaded: HarnessSession["loaded"], modelId: string): Notice[] {
  const reason = modelId === loaded.config.model ? describeDefaultModel(loaded) : undefined;
  if (reason === undefined) return [];
  const message = `${modelId} answers, because ${reason}. "model" in your configuration or -m chooses another.`;
  return [{ level: "info", code: "default_model", message }];
}
