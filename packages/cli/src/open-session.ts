import {
  appendInputHistory,
  type Effort,
  endAllProcesses,
  FileTracker,
  type GrantStore,
  type LoadedConfig,
  type LoadOptions,
  readGitBranch,
  SessionSandbox,
  SessionTempDir,
  type Workspace,
} from "@diligent/core/run";
import type { Recording } from "@diligent/core/scripted";
import type { AskPerson } from "./approval.ts";
import type { ApprovalMode, Resumption, RunCommand } from "./arguments/command.ts";
import type { ModelChange } from "./change-model.ts";
import type { CliIo } from "./cli-io.ts";
import { type ComposedSession, composeSession } from "./compose-session.ts";
import { loadConfig } from "./load-config.ts";
import { type Approvals, openApprovals } from "./open-approvals.ts";
import { reloadRules } from "./reload-rules.ts";
import { resolveDirectory } from "./resolve-directory.ts";
import type { HeldSession } from "./resume.ts";
import { SandboxGlance } from "./sandbox-glance.ts";
import type { UpdateLook } from "./update/update-look.ts";
import { writeLine } from "./write-line.ts";

/** A session to run prompts in. */
export interface OpenSession extends ComposedSession, Pick<Approvals, "approval" | "grants"> {
  /** Where it works, absolute and real. */
  cwd: string;
  /** What holds for this project. */
  loaded: LoadedConfig;
  /** The branch that is checked out, where there is one. */
  gitBranch: string | undefined;
  /** Whether commands run in a sandbox. */
  sandbox: SandboxGlance;
  /** See `reloadRules`. */
  reloadRules(): Promise<void>;
  /** How hard the model thinks, where it was said. */
  effort: Effort | undefined;
  /** What the user has changed since it was opened. */
  chosen: ModelChange;
  /** What the models' replies are kept in, where they are. */
  recording: Recording | undefined;
  /** Where commands run that the user types themselves: never in a box. */
  workspace: Workspace;
  /** Keeps a prompt in the input history, before there is anything else to find it by. */
  noteInput(text: string): void;
}

interface OpenOptions {
  approvalDefault: ApprovalMode;
  /** Left out where nobody is there to answer. */
  ask?: AskPerson;
  /** Told what is wrong with what was allowed for good; stderr when left out. */
  warn?(message: string): void;
  /** Left out where nobody is there to be told. */
  updates?: UpdateLook | undefined;
  /** What goes on from the session that this one takes the place of. */
  carried?: Carried;
}

/** What a session takes over from the one before it in the same process. */
export interface Carried {
  /** True: a new session, whatever is configured. */
  isNew?: boolean;
  /** What is gone on with, or copied. */
  held?: HeldSession | undefined;
  /** What the user has chosen; the configuration counts for the rest. */
  approvalMode?: ApprovalMode | undefined;
  chosen?: ModelChange;
  /** The model that answers, and the one that was configured then: it goes on while that is still the same. */
  model?: { id: string; configured: string | undefined };
  /** What was allowed for this session. */
  grants?: GrantStore | undefined;
  /** What the models' replies are kept in already. */
  recording?: Recording | undefined;
  /** A project that counts as trusted until the program ends. */
  trustedOnce?: LoadOptions["trustedOnce"];
}

/**
 * Opens a session as the command line asks for it, a new one or an earlier one. Processes that it starts end with the
 * program.
 * @throws UsageError when it cannot be opened as asked: nothing was sent then.
 */
export async function openSession(
  { options, resumption }: Pick<RunCommand, "options"> & { resumption?: Resumption | undefined },
  io: CliIo,
  { approvalDefault, ask, warn, updates, carried = {} }: OpenOptions,
): Promise<OpenSession> {
  const cwd = resolveDirectory(options.directory, io.cwd);
  const loaded = await loadConfig(cwd, io.environment, { trustedOnce: carried.trustedOnce });
  const temporaryDirectory = new SessionTempDir();
  const { config } = loaded;
  const tell = warn ?? ((message: string) => writeLine(io.stderr, message));
  const { sandbox, glance } = openSandbox(loaded, { environment: io.environment, temporaryDirectory, tell });
  // Before the project's instructions are read: they could be what a killed session's commands made.
  await sandbox.tidyUp();
  let checkpoints: ComposedSession["checkpoints"] | undefined;
  const { approval, grants, approve } = openApprovals(
    {
      cwd,
      loaded,
      temporaryDirectory,
      sandbox,
      canUndo: () => checkpoints?.canUndoEverything ?? true,
      makeUndoReady: () => checkpoints?.preparation.makeReady(),
      initial: options.approval ?? config.approval ?? approvalDefault,
      mode: carried.approvalMode,
      grants: carried.grants,
      ask,
      warn,
    },
    io,
  );
  io.onExit(() => endAllProcesses().then(() => sandbox.close()));
  io.onAnyExit(() => temporaryDirectory.remove());
  const recording = carried.recording ?? (await openRecordingFor(options, { cwd, warn: tell }));
  const sessionOptions = {
    ...toSessionWishes(options),
    ...toCarriedWishes(carried, { asked: options.model, configured: config.model }),
    cwd,
    environment: io.environment,
    loaded,
    recording,
    updates,
    resumption,
    // In print mode nobody is there to begin a new session instead.
    isAutomatic: ask !== undefined && !carried.isNew && config.session?.autoResume,
    sandbox,
    approvalMode: approval.mode,
    approve,
  };
  const composed = await composeSession(sessionOptions, temporaryDirectory);
  checkpoints = composed.checkpoints;
  // However the program ends, a prompt that has no answer yet is kept.
  io.onExit(() => composed.session.flush());
  const parts = { cwd, loaded, approval, grants, sandbox: glance, recording };
  return toOpenSession(composed, parts, {
    carried,
    temporaryDirectory,
    isSaved: options.isSaved,
    environment: io.environment,
  });
}

interface OpenedParts extends Pick<OpenSession, "cwd" | "loaded" | "approval" | "grants" | "sandbox"> {
  recording: Recording | undefined;
}

interface Surroundings extends Pick<CliIo, "environment"> {
  carried: Carried;
  temporaryDirectory: SessionTempDir;
  isSaved: boolean;
}

function toOpenSession(
  composed: ComposedSession,
  parts: OpenedParts,
  { carried: { chosen = {}, trustedOnce }, temporaryDirectory, isSaved, environment }: Surroundings,
): OpenSession {
  const { cwd, loaded } = parts;
  const { config, projectRoot: root } = loaded;
  const opened: OpenSession = {
    ...composed,
    ...parts,
    reloadRules: () => reloadRules(opened, { environment, trustedOnce }),
    gitBranch: readGitBranch(root),
    effort: chosen.effort ?? config.effort,
    chosen,
    workspace: {
      cwd,
      root,
      environment,
      inheritEnvironment: config.inheritEnvironment,
      sessionId: composed.session.sessionId,
      files: new FileTracker(),
      outputDirectory: () => temporaryDirectory.path(),
    },
    noteInput(text) {
      if (isSaved) appendInputHistory(environment, { cwd, text });
    },
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

/** What goes on from the session before, and the model that is asked for in place of its own. */
function toCarriedWishes(
  carried: Carried,
  { asked, configured }: { asked: string | undefined; configured: string | undefined },
) {
  return {
    modelId: asked ?? keptModel(carried, configured),
    held: carried.held,
    effort: carried.chosen?.effort,
  };
}

/** The model that goes on; undefined where another one is configured now than when it was chosen. */
function keptModel({ model }: Carried, configured: string | undefined): string | undefined {
  return model?.configured === configured ? model?.id : undefined;
}

/** What the command line says of a session, its model aside. */
function toSessionWishes(options: RunCommand["options"]) {
  return {
    maxTurns: options.maxTurns,
    maxCost: options.maxCost,
    appendSystemPrompt: options.appendSystemPrompt,
    persist: options.isSaved,
    isVerbose: options.isVerbose,
  };
}

interface SandboxParts {
  environment: CliIo["environment"];
  temporaryDirectory: SessionTempDir;
  tell(message: string): void;
}

function openSandbox(
  { config, projectRoot }: LoadedConfig,
  { environment, temporaryDirectory, tell }: SandboxParts,
): { sandbox: SessionSandbox; glance: SandboxGlance } {
  const sandbox = new SessionSandbox({
    setting: config.sandbox ?? "auto",
    environment,
    root: projectRoot,
    writable: config.sandboxWritable,
    directory: () => temporaryDirectory.path(),
    tell(message) {
      void tellJudged(message, tell);
      void glance.check();
    },
  });
  const glance = new SandboxGlance(sandbox);
  return { sandbox, glance };
}

/** What a command named is shown as something to be judged: whole, on one line. */
async function tellJudged(message: string, tell: (message: string) => void): Promise<void> {
  const { formatJudgedLine } = await import("./judged-text.ts");
  tell(formatJudgedLine(message));
}

async function openRecordingFor(
  { record }: Pick<RunCommand["options"], "record">,
  place: { cwd: string; warn(message: string): void },
): Promise<Recording | undefined> {
  if (record === undefined) return undefined;
  return (await import("./open-recording.ts")).openRecording(record, place);
}
