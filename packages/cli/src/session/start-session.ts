import { existsSync } from "node:fs";
import {
  type AskPerson,
  type AskUser,
  createProjectHarness,
  describeDefaultModel,
  type Notice,
  type ProjectChoices,
  type ProjectHarness,
  type ProjectSession,
  type ProjectStart,
} from "@diligent/core/harness";
import { type LoadOptions, resolvePaths } from "@diligent/core/run";
import type { Resumption, RunCommand } from "../arguments/command.ts";
import { type FrontEndConfig, resolveConfig } from "../config.ts";
import type { CliIo } from "../io/io.ts";

/** A front end of the command line: its configuration, and where questions go. */
interface FrontEnd extends Omit<FrontEndConfig, "trustedOnce"> {
  /** Omitted if there is no user to ask. */
  ask?: AskPerson;
  /** For questions of the model; omitted if there is no user. */
  askUser?: AskUser | undefined;
  /** False if `ask` does not reach a person who watches the conversation; true by default. */
  isWatched?: boolean;
  /** State carried over from the session that this one replaces. */
  carried?: CarriedSession;
}

/** State that a session takes over from the previous one in the same process. */
export interface CarriedSession
  extends Pick<ProjectChoices, "approvalMode" | "commands" | "grants" | "isReplacing" | "recording"> {
  /** Replaces the session that the command line asks for. */
  start?: ProjectStart | undefined;
  /** The user's choices; everything else comes from the configuration. */
  chosen?: ProjectSession["chosen"];
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
): Promise<ProjectSession> {
  const { ask, askUser, carried = {} } = frontEnd;
  const isWatched = ask !== undefined && frontEnd.isWatched !== false;
  const { cwd, overrides } = resolveConfig(options, io, { ...frontEnd, trustedOnce: carried.trustedOnce });
  const harness = await createProjectHarness({ cwd, environment: io.environment, overrides });
  closeWithProgram(harness, io);
  const opened = await harness.openSession(carried.start ?? toStart(resumption, isWatched), {
    model: options.model ?? keptModel(carried, harness.loaded.config.model),
    effort: carried.chosen?.effort,
    approvalMode: carried.approvalMode,
    ask,
    askUser,
    // A user sees each retry and stops them with Esc.
    retryForMs: isWatched ? Number.POSITIVE_INFINITY : undefined,
    grants: carried.grants,
    recording: carried.recording,
    commands: carried.commands,
    isReplacing: carried.isReplacing,
  });
  opened.chosen = carried.chosen ?? {};
  opened.notices.push(...(await startNotices(opened, carried)));
  return opened;
}

function closeWithProgram(harness: ProjectHarness, io: Pick<CliIo, "onExit" | "onAnyExit">): void {
  io.onExit(() => {
    // However the program ends, a prompt without an answer is saved.
    harness.flush();
    return harness.endProcesses();
  });
  io.onAnyExit(() => harness.removeTemporaryFiles());
}

function toStart(resumption: Resumption | undefined, isAttended: boolean): ProjectStart {
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

async function startNotices(opened: ProjectSession, carried: CarriedSession): Promise<Notice[]> {
  const { earlier, loaded, model } = opened;
  const resumed = earlier?.info ? (await import("./resume.ts")).resumedNotices(opened) : [];
  // Later sessions of this process repeat no notices from the first one's start.
  if (carried.chosen !== undefined) return resumed;
  return [...resumed, ...defaultModelNotices(loaded, model.id), ...(await worktreeNotices(loaded))];
}

/** About worktrees whose sessions were killed. Most projects have none, and then nothing is loaded. */
async function worktreeNotices({ projectRoot }: ProjectSession["loaded"]): Promise<Notice[]> {
  const { worktrees } = resolvePaths(projectRoot);
  if (!existsSync(worktrees)) return [];
  const { findAbandonedWorktrees } = await import("@diligent/core/worktrees");
  return findAbandonedWorktrees(projectRoot).map((name) => ({
    level: "info",
    code: "abandoned_worktree",
    message: `The session in the worktree ${name} was killed. To continue there: diligent --worktree ${name} --continue`,
  }));
}

function defaultModelNotices(loaded: ProjectSession["loaded"], modelId: string): Notice[] {
  const reason = modelId === loaded.config.model ? describeDefaultModel(loaded) : undefined;
  if (reason === undefined) return [];
  const message = `Using ${modelId}, because ${reason}. Choose another model with -m or "model" in your configuration.`;
  return [{ level: "info", code: "default_model", message }];
}
