import {
  appendInputHistory,
  type Effort,
  endAllProcesses,
  type GrantStore,
  type LoadedConfig,
  readGitBranch,
  SessionTempDir,
} from "@diligent/core/run";
import type { AskPerson } from "./approval.ts";
import type { ApprovalMode, Resumption, RunCommand } from "./arguments/command.ts";
import type { ModelChange } from "./change-model.ts";
import type { CliIo } from "./cli-io.ts";
import { type ComposedSession, composeSession } from "./config.ts";
import { loadConfig } from "./load-config.ts";
import { type Approvals, openApprovals } from "./open-approvals.ts";
import { resolveDirectory } from "./resolve-directory.ts";
import type { HeldSession } from "./resume.ts";

/** A session to run prompts in. */
export interface OpenSession extends ComposedSession, Pick<Approvals, "approval" | "grants"> {
  /** Where it works, absolute and real. */
  cwd: string;
  /** What holds for this project. */
  loaded: LoadedConfig;
  /** The branch that is checked out, where there is one. */
  gitBranch: string | undefined;
  /** How hard the model thinks, where it was said. */
  effort: Effort | undefined;
  /** What the user has changed since it was opened. */
  chosen: ModelChange;
  /** Keeps a prompt in the input history, before there is anything else to find it by. */
  noteInput(text: string): void;
}

interface OpenOptions {
  approvalDefault: ApprovalMode;
  /** Left out where nobody is there to answer. */
  ask?: AskPerson;
  /** Told what is wrong with what was allowed for good; stderr when left out. */
  warn?(message: string): void;
  /** What goes on from the session that this one takes the place of. */
  carried?: Carried;
}

export interface Carried {
  /** True: a new session, whatever is configured. */
  isNew?: boolean;
  /** What is gone on with, or copied. */
  held?: HeldSession | undefined;
  /** What the user has chosen; the configuration counts for the rest. */
  approvalMode?: ApprovalMode | undefined;
  chosen?: ModelChange;
  /** What was allowed for this session. */
  grants?: GrantStore | undefined;
}

/**
 * Opens a session as the command line asks for it, a new one or an earlier one. Processes that it starts end with the
 * program.
 * @throws UsageError when it cannot be opened as asked: nothing was sent then.
 */
export async function openSession(
  { options, resumption }: Pick<RunCommand, "options"> & { resumption?: Resumption | undefined },
  io: CliIo,
  { approvalDefault, ask, warn, carried = {} }: OpenOptions,
): Promise<OpenSession> {
  const cwd = resolveDirectory(options.directory, io.cwd);
  const loaded = await loadConfig(cwd, io.environment);
  const temporaryDirectory = new SessionTempDir();
  const { config, projectRoot } = loaded;
  const { approval, grants, approve } = openApprovals(
    {
      cwd,
      loaded,
      temporaryDirectory,
      initial: options.approval ?? config.approval ?? approvalDefault,
      mode: carried.approvalMode,
      grants: carried.grants,
      ask,
      warn,
    },
    io,
  );
  io.onExit(endAllProcesses);
  const sessionOptions = {
    cwd,
    environment: io.environment,
    loaded,
    modelId: options.model,
    maxTurns: options.maxTurns,
    maxCost: options.maxCost,
    appendSystemPrompt: options.appendSystemPrompt,
    persist: options.isSaved,
    isVerbose: options.isVerbose,
    resumption,
    // In print mode nobody is there to begin a new session instead.
    isAutomatic: ask !== undefined && !carried.isNew && config.session?.autoResume,
    held: carried.held,
    effort: carried.chosen?.effort,
    approvalMode: approval.mode,
    approve,
  };
  const composed = await composeSession(sessionOptions, temporaryDirectory);
  // However the program ends, a prompt that has no answer yet is kept.
  io.onExit(() => composed.session.flush());
  const noteInput = (text: string) => {
    if (options.isSaved) appendInputHistory(io.environment, { cwd, text });
  };
  const { chosen = {} } = carried;
  const opened: OpenSession = {
    ...composed,
    cwd,
    loaded,
    approval,
    grants,
    gitBranch: readGitBranch(projectRoot),
    effort: chosen.effort ?? config.effort,
    chosen,
    noteInput,
    async changeModel(change) {
      const model = await composed.changeModel(change);
      const { modelId = opened.chosen.modelId, effort = opened.chosen.effort } = change;
      opened.model = model ?? opened.model;
      opened.effort = change.effort ?? opened.effort;
      opened.chosen = { modelId, effort };
      return model;
    },
  };
  return opened;
}
