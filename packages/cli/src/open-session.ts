import { realpathSync, statSync } from "node:fs";
import { resolve } from "node:path";
import { type ApprovalContext, endAllProcesses, findProjectRoot, homeDirectory } from "@diligent/core";
import { type AskPerson, createApprove } from "./approval.ts";
import type { ApprovalMode, RunOptions } from "./arguments/command.ts";
import type { CliIo } from "./cli-io.ts";
import { type ComposedSession, composeSession } from "./config.ts";
import type { Notice } from "./output/run-output.ts";
import { readProjectModel } from "./project-model.ts";
import { UsageError } from "./usage-error.ts";

/** A session to run prompts in; `close` saves what there is and removes its temporary files. */
export interface OpenSession extends Pick<ComposedSession, "session" | "model"> {
  /** What the user should know before the first answer. */
  notices: Notice[];
  /** Where it works, absolute and real. */
  cwd: string;
  close(): void;
}

interface OpenOptions {
  approvalDefault: ApprovalMode;
  /** Left out where nobody is there to answer. */
  ask?: AskPerson;
}

/**
 * Opens a new session as the command line asks for it. Processes that it starts end with the program.
 * @throws UsageError when it cannot be opened as asked: nothing was sent then.
 */
export async function openSession(
  options: RunOptions,
  io: CliIo,
  { approvalDefault, ask }: OpenOptions,
): Promise<OpenSession> {
  const cwd = resolveDirectory(options.directory, io.cwd);
  const root = findProjectRoot(cwd, homeDirectory(io.environment));
  const project = readProjectModel(root);
  let composed: ComposedSession | undefined;
  const context: ApprovalContext = {
    root,
    cwd,
    get temporaryDirectory() {
      return composed?.temporaryDirectory.path();
    },
  };
  io.onExit(endAllProcesses);
  composed = await composeSession({
    cwd,
    environment: io.environment,
    modelId: options.model,
    projectModelId: project.modelId,
    maxTurns: options.maxTurns,
    maxCost: options.maxCost,
    appendSystemPrompt: options.appendSystemPrompt,
    persist: options.isSaved,
    approve: createApprove({ mode: options.approval ?? approvalDefault, context, ask }),
  });
  return { ...toOpenSession(composed), cwd, notices: [...project.notices, ...composed.notices] };
}

function toOpenSession({ session, model, temporaryDirectory }: ComposedSession) {
  return {
    session,
    model,
    close() {
      session.close();
      temporaryDirectory.remove();
    },
  };
}

/** @param directory as given with `-C`. */
function resolveDirectory(directory: string | undefined, cwd: string): string {
  try {
    const path = realpathSync(resolve(cwd, directory ?? "."));
    if (statSync(path).isDirectory()) return path;
  } catch {
    // Missing, or in a directory that may not be searched: the same to whoever named it.
  }
  const label = directory === undefined ? `the working directory ${cwd}` : `-C ${directory}`;
  throw new UsageError(`${label}: not a directory that can be used`);
}
