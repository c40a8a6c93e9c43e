/** Composes sessions for every front end: the command line, programs that use the library, editor servers. */
export type { Approvals } from "./approve.ts";
export {
  type AskedVerdict,
  type AskPerson,
  type CommandEdit,
  type PersonAnswer,
  requestedCommand,
  STOPPED_ANSWER,
} from "./approve.ts";
export type { EarlierSession, HeldSession, SessionReference, SessionStart } from "./earlier-session.ts";
export { MissingKeyError } from "./errors.ts";
export type { ExtensionCommand, GateDecision, HarnessExtension } from "./extension.ts";
export {
  createHarness,
  type Harness,
  type HarnessOptions,
  type HarnessOverrides,
  type HarnessSession,
  type SessionChoices,
} from "./harness.ts";
export { describeDefaultModel, isKnownModel, loadConfig } from "./load-config.ts";
export {
  certificateProblem,
  loadCatalog,
  type ModelChange,
  type ModelChoice,
  openModel,
  openScriptedModel,
  VENDORS,
} from "./models.ts";
export type { MoveControl, SessionCheckpoints, UndoOptions } from "./session-checkpoints.ts";
export type { Notice } from "./session-prompt.ts";
