import {
  type ApprovalContext,
  appendInputHistory,
  endAllProcesses,
  GrantStore,
  homeDirectory,
  SessionTempDir,
} from "@diligent/core/run";
import { type AskPerson, createApprove } from "./approval.ts";
import type { ApprovalMode, RunCommand } from "./arguments/command.ts";
import type { CliIo } from "./cli-io.ts";
import { type ComposedSession, composeSession } from "./config.ts";
import { loadConfig } from "./load-config.ts";
import { resolveDirectory } from "./resolve-directory.ts";
import { writeLine } from "./write-line.ts";

/** A session to run prompts in. */
export interface OpenSession extends ComposedSession {
  /** Where it works, absolute and real. */
  cwd: string;
  /** Keeps a prompt in the input history, before there is anything else to find it by. */
  noteInput(text: string): void;
}

interface OpenOptions {
  approvalDefault: ApprovalMode;
  /** Left out where nobody is there to answer. */
  ask?: AskPerson;
}

/**
 * Opens a session as the command line asks for it, a new one or an earlier one. Processes that it starts end with the
 * program.
 * @throws UsageError when it cannot be opened as asked: nothing was sent then.
 */
export async function openSession(
  { options, resumption }: Pick<RunCommand, "options" | "resumption">,
  io: CliIo,
  { approvalDefault, ask }: OpenOptions,
): Promise<OpenSession> {
  const cwd = resolveDirectory(options.directory, io.cwd);
  const loaded = await loadConfig(cwd, io.environment);
  const temporaryDirectory = new SessionTempDir();
  const { config, projectRoot: root } = loaded;
  const mode = options.approval ?? config.approval ?? approvalDefault;
  const context: ApprovalContext = {
    root,
    cwd,
    mode,
    rules: config.permissions,
    home: homeDirectory(io.environment),
    environment: io.environment,
    get temporaryDirectory() {
      return temporaryDirectory.existing;
    },
  };
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
    isAutomatic: ask !== undefined && loaded.config.session?.autoResume,
    approvalMode: mode,
    approve: createApprove({
      context,
      grants: new GrantStore({ environment: io.environment, root }),
      ask,
      warn: (message) => writeLine(io.stderr, message),
    }),
  };
  const composed = await composeSession(sessionOptions, temporaryDirectory);
  // However the program ends, a prompt that has no answer yet is kept.
  io.onExit(() => composed.session.flush());
  const noteInput = (text: string) => {
    if (options.isSaved) appendInputHistory(io.environment, { cwd, text });
  };
  return { ...composed, cwd, noteInput };
}
