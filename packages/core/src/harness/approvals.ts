import type { Approve } from "../agent/types.ts";
import { GrantStore } from "../approval/grant-store.ts";
import type { ApprovalContext, ApprovalMode } from "../approval/types.ts";
import type { LoadedConfig } from "../config/loader.ts";
import type { PermissionRule } from "../config/schema.ts";
import type { SessionTempDir } from "../infrastructure/fs/state-files.ts";
import { type Environment, homeDirectory } from "../infrastructure/runtime.ts";
import { SecretRedactor } from "../infrastructure/text/secret-redactor.ts";
import type { SessionSandbox } from "../sandbox/session-sandbox.ts";
import { type AskPerson, createApprove } from "./approve.ts";
import type { HarnessExtension } from "./extension.ts";

/** How a session asks for approval. */
export interface Approvals {
  /** The current approval settings, and those when the session was opened. */
  approval: {
    mode: ApprovalMode;
    readonly initial: ApprovalMode;
    /** The mode when the model's tools were chosen. */
    readonly atOpening: ApprovalMode;
    /** In order of precedence; replaced when they change. */
    rules: readonly PermissionRule[];
  };
  /** Stored grants. */
  grants: GrantStore;
  approve: Approve;
}

/** What a session's policy is made of, and who can be asked. */
interface ApprovalsOptions {
  cwd: string;
  loaded: LoadedConfig;
  temporaryDirectory: SessionTempDir;
  /** How commands run. */
  sandbox: SessionSandbox;
  /** False if changes by commands cannot be undone. */
  canUndo(): boolean;
  /** Awaited before a command is evaluated: `canUndo` is accurate afterwards. */
  makeUndoReady?(): Promise<void> | undefined;
  /** The configured settings. */
  initial: ApprovalMode;
  /** The settings the user switched to. */
  mode?: ApprovalMode | undefined;
  /** Existing grants; read from the user's file if omitted. */
  grants?: GrantStore | undefined;
  ask?: AskPerson | undefined;
  extensions?: readonly HarnessExtension[] | undefined;
  environment: Environment;
  /** Called with what is wrong with the answers that were kept. */
  warn?: ((message: string) => void) | undefined;
}

/** Mode and rules are read for each request: changes in `approval` apply immediately. */
export function openApprovals(options: ApprovalsOptions): Approvals {
  const { cwd, environment, loaded, temporaryDirectory, sandbox, initial, ask, warn, extensions } = options;
  const { config, projectRoot: root } = loaded;
  const mode = options.mode ?? initial;
  const approval = { mode, initial, atOpening: mode, rules: config.permissions ?? [] };
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
    sandboxState: sandbox.isWanted ? () => sandbox.sandboxState() : undefined,
    get canUndo() {
      return options.canUndo();
    },
    get temporaryDirectory() {
      return temporaryDirectory.existing;
    },
  };
  const redactor = new SecretRedactor(loaded.secrets);
  const decide = createApprove({ context, grants, redactor, extensions, ask, warn });
  const approve: Approve = async (request, asking) => {
    if (sandbox.isWanted && request.permission === "execute") await options.makeUndoReady?.();
    return decide(request, asking);
  };
  return { approval, grants, approve };
}
