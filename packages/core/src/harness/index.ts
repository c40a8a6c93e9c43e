/** Composes sessions for every front end: the command line, programs that use the library, editor servers. */

export type { AskUser } from "../tools/ask-user.ts";
export type { EditorFiles } from "../tools/workspace.ts";
export type { UserQuestion } from "../types.ts";
export { type Approvals, requestedCommand, STOPPED_ANSWER } from "./approve.ts";
export type { EarlierSession, HeldSession, ProjectReference, ProjectStart } from "./earlier-session.ts";
export { MissingKeyError } from "./errors.ts";
export { type ExpandedLine, findCommand, findName } from "./expand-prompt.ts";
export {
  createProjectHarness,
  type ProjectChoices,
  type ProjectHarness,
  type ProjectOverrides,
  type ProjectSession,
} from "./harness.ts";
export { describeDefaultModel, isKnownModel, loadConfig } from "./load-config.ts";
export {
  certificateProblem,
  listAddedModels,
  loadCatalog,
  openModel,
  openScriptedModel,
  VENDORS,
} from "./models.ts";
export { hasPlan } from "./plan-mode.ts";
export type { MoveControl, SessionCheckpoints, UndoOptions } from "./session-checkpoints.ts";
export type {
  AskedVerdict,
  AskPerson,
  CommandEdit,
  ExtensionCommand,
  ModelChange,
  ModelChoice,
  Notice,
  PersonAnswer,
} from "./types.ts";
