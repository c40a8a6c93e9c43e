import {
  type ApprovalContext,
  type ApprovalMode,
  type Approve,
  GrantStore,
  homeDirectory,
  type LoadedConfig,
  type PermissionRule,
  type SessionSandbox,
  type SessionTempDir,
} from "@diligent/core/run";
import { type AskPerson, createApprove } from "./approval.ts";
import type { CliIo } from "./cli-io.ts";
import { writeLine } from "./write-line.ts";

/** How a session asks for consent. */
export interface Approvals {
  /** How requests are treated from now on, and how they were when the session was opened. */
  approval: {
    mode: ApprovalMode;
    readonly initial: ApprovalMode;
    /** In the order in which they count; exchanged when they are changed. */
    rules: readonly PermissionRule[];
  };
  /** What was allowed for good. */
  grants: GrantStore;
  approve: Approve;
}

/** What the policy of a session is made of, and who is there to be asked. */
export interface ApprovalsOptions {
  cwd: string;
  loaded: LoadedConfig;
  temporaryDirectory: SessionTempDir;
  /** How commands run. */
  sandbox: SessionSandbox;
  /** False where what commands change cannot be taken back. */
  canUndo(): boolean;
  /** Waited for before a command is judged: then `canUndo` knows better. */
  makeUndoReady?(): Promise<void> | undefined;
  /** What is configured. */
  initial: ApprovalMode;
  /** What the user has changed it to. */
  mode?: ApprovalMode | undefined;
  /** What was allowed already; from the user's file when left out. */
  grants?: GrantStore | undefined;
  ask?: AskPerson | undefined;
  /** Told what is wrong with what was allowed for good; stderr when left out. */
  warn?: ((message: string) => void) | undefined;
}

/** Mode and rules are read at each request: what is changed in `approval` counts from then on. */
export function openApprovals(
  options: ApprovalsOptions,
  io: Pick<CliIo, "environment" | "stderr">,
): Approvals {
  const { cwd, loaded, temporaryDirectory, sandbox, initial, ask } = options;
  const { environment } = io;
  const { config, projectRoot: root } = loaded;
  const approval = { mode: options.mode ?? initial, initial, rules: config.permissions ?? [] };
  const grants = options.grants ?? new GrantStore({ environment, root });
  const context: ApprovalContext = {
    root,
    cwd,
    get mode() {
      return approval.mode;
    },
    get rules() {
      return approval.rules;
    },
    home: homeDirectory(environment),
    environment,
    commandBox: sandbox.isWanted ? () => sandbox.commandBox() : undefined,
    get canUndo() {
      return options.canUndo();
    },
    get temporaryDirectory() {
      return temporaryDirectory.existing;
    },
  };
  const warn = options.warn ?? ((message: string) => writeLine(io.stderr, message));
  const decide = createApprove({ context, grants, ask, warn });
  const approve: Approve = async (request, asking) => {
    if (sandbox.isWanted && request.permission === "execute") await options.makeUndoReady?.();
    return decide(request, asking);
  };
  return { approval, grants, approve };
}
