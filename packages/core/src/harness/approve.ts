import type { ApprovalHandle, Approve } from "../agent/types.ts";
import type { GrantChoice } from "../approval/grant-choices.ts";
import { GrantStore } from "../approval/grant-store.ts";
import type { Grant } from "../approval/grants.ts";
import { decideApproval, isHostLimit } from "../approval/policy.ts";
import type { ToolLists } from "../approval/tool-lists.ts";
import {
  type ApprovalContext,
  type ApprovalMode,
  type ApprovalVerdict,
  strictest,
} from "../approval/types.ts";
import type { LoadedConfig } from "../config/loader.ts";
import type { PermissionRule } from "../config/schema.ts";
import type { SessionTempDir } from "../infrastructure/fs/state-files.ts";
import type { ProtectedAccess } from "../infrastructure/process/shell-wrapper.ts";
import { type Environment, homeDirectory } from "../infrastructure/runtime.ts";
import type { SecretRedactor } from "../infrastructure/text/secret-redactor.ts";
import type { SessionSandbox } from "../sandbox/session-sandbox.ts";
import type {
  ApprovalDecision,
  ApprovalRequest,
  ApprovalResponse,
  NeededApproval,
  RevisedCall,
} from "../tool/types.ts";
import { describeError } from "./errors.ts";
import type {
  AskedVerdict,
  AskPerson,
  CommandEdit,
  GateDecision,
  HarnessExtension,
  PersonAnswer,
} from "./types.ts";

/** Returned instead of an answer when the run is stopped. */
export const STOPPED_ANSWER: PersonAnswer = {
  response: "reject",
  message: "The user stopped the run.",
  endTurn: true,
};

/** The policy, and the user to ask when the policy does not decide. */
export interface ApproveOptions {
  /** Read for each request; the grants come from `grants`. */
  context: ApprovalContext;
  /** Stored grants, and where new ones are saved. */
  grants: GrantStore;
  /** Finds the secrets in grants, which are not saved then. */
  redactor?: Pick<SecretRedactor, "redact" | "placeholdersIn" | "valueOf"> | undefined;
  /** Adds rules for single tools. */
  toolLists?: ToolLists | undefined;
  /** Their gates can make a verdict stricter. */
  extensions?: readonly HarnessExtension[] | undefined;
  /** Left out when no user is present. */
  ask?: AskPerson | undefined;
  /** Called when grants cannot be saved or saved ones cannot be used. */
  warn?: ((message: string) => void) | undefined;
}

/**
 * The approval function of a session for the loop: allowed requests pass, denied ones are refused, and the user is
 * asked about the rest, one question at a time. A question that an earlier answer covers is not asked.
 */
export function createApprove(options: ApproveOptions): Approve {
  let lastQuestion: Promise<unknown> = Promise.resolve();
  let endedTurns = 0;
  let isProblemReported = false;
  return async (request, handle) => {
    const { ask, warn } = options;
    const { repeats } = handle;
    if (repeats !== undefined && ask === undefined) return "reject";
    const verdict =
      repeats === undefined
        ? withAdvice(await decide(request, options), handle, options)
        : askToContinue(repeats);
    if (verdict.action === "allow") return pass(verdict);
    const answered = repeats === undefined ? await consult(verdict, handle, options) : undefined;
    if (answered) return answered;
    const problem = isProblemReported ? undefined : await options.grants.problem();
    isProblemReported = true;
    if (problem !== undefined) warn?.(problem);
    if (verdict.action === "deny" || ask === undefined) {
      const isUnattended = ask === undefined && (verdict.wouldAsk === true || verdict.action === "ask");
      const needed = isUnattended ? await findNeeded(request, verdict, options) : undefined;
      handle.announce(verdict.gate, { mode: options.context.mode ?? "ask", needed });
      return refuse(verdict, { isAttended: ask !== undefined, needed });
    }
    const turn = endedTurns;
    const question = lastQuestion.then(async () => {
      if (endedTurns !== turn) return NOT_ASKED;
      const answer = await (repeats === undefined
        ? decideAgain(request, { handle, ask, options })
        : askPerson(
            { request, verdict },
            { ask, ...toAsking(handle), evaluate: async () => verdict, options },
          ));
      if (typeof answer === "object" && answer.endTurn) endedTurns += 1;
      return answer;
    });
    // The next question waits for this one, whatever its outcome.
    lastQuestion = question.catch(() => undefined);
    return question;
  };
}

function askToContinue(repeats: number): ApprovalVerdict {
  const reason = `this call gave the same result ${repeats} times in a row; “yes” lets the run continue`;
  return { action: "ask", gate: "loop", reason };
}

const NOT_ASKED: ApprovalDecision = {
  response: "reject",
  message: "Not run: the user rejected another call and ended the turn.",
  endTurn: true,
  skipped: true,
};

async function decide(
  request: ApprovalRequest,
  { context, grants, redactor, ask, extensions = [], toolLists }: ApproveOptions,
): Promise<ApprovalVerdict> {
  const { tried } = request.details ?? {};
  if (typeof tried === "string") return { action: "ask", gate: "try", reason: tried };
  const rules = toolLists?.addRules(request, context.rules) ?? context.rules;
  const decided = await decideApproval(request, { ...context, rules, grants: await grants.list() });
  const verdict = toolLists?.relax(request, decided) ?? decided;
  const verdicts = [verdict];
  for (const extension of extensions) {
    const decision = await extension.gate?.(request);
    if (decision) verdicts.push(toVerdict(decision, context.mode));
  }
  const decision = { ...(strictest(verdicts) ?? verdict), ...keepLimits(verdict) };
  // Without a user to ask, the command runs with the placeholders themselves.
  const secrets = ask === undefined ? [] : findUsedSecrets(request, redactor);
  return secrets.length === 0 || isFinal(decision)
    ? decision
    : askForSecrets(secrets, decision, context.mode);
}

function isFinal({ action, wouldAsk }: ApprovalVerdict): boolean {
  return action === "deny" && !wouldAsk;
}

/** The placeholders in a command that stand for values which it would get. */
function findUsedSecrets(request: ApprovalRequest, redactor: ApproveOptions["redactor"]): string[] {
  const command = requestedCommand(request);
  if (command === undefined || redactor === undefined) return [];
  return redactor
    .placeholdersIn(command)
    .filter((placeholder) => redactor.valueOf(placeholder) !== undefined);
}

/** Whatever allows the command: each use of a secret is asked about, and no answer allows the next one. */
function askForSecrets(
  secrets: readonly string[],
  decided: ApprovalVerdict,
  mode: ApprovalContext["mode"],
): ApprovalVerdict {
  const { action, reason } = decided;
  const named = `the command gets the value of ${secrets.join(", ")}`;
  const why = action === "allow" ? named : `${named}; ${reason}`;
  return mode === "deny"
    ? { action: "deny", gate: "masked_secret", reason: why, wouldAsk: true }
    : { action: "ask", gate: "masked_secret", reason: why, ...keepLimits(decided) };
}

/** A hook may have it asked about, or answer what would be asked about; what a rule or the mode denies stays denied. */
function withAdvice(
  verdict: ApprovalVerdict,
  { advice }: ApprovalHandle,
  { context }: ApproveOptions,
): ApprovalVerdict {
  if (advice === undefined) return verdict;
  if (advice.action === "ask") {
    const asked = toVerdict({ action: "ask", reason: advice.reason }, context.mode);
    return { ...(strictest([verdict, asked]) ?? verdict), ...keepLimits(verdict) };
  }
  return isAsked(verdict) && !needsPerson(verdict)
    ? { action: "allow", gate: "extension", reason: advice.reason, ...keepLimits(verdict) }
    : verdict;
}

/**
 * The answer of a hook to a request that the user would be asked about. It cannot answer what a rule wants to be asked
 * about, and other arguments are decided about again.
 */
async function consult(
  verdict: ApprovalVerdict,
  { consult: ask, revise }: ApprovalHandle,
  options: ApproveOptions,
): Promise<ApprovalDecision | undefined> {
  if (!isAsked(verdict)) return undefined;
  const answer = await ask?.();
  if (answer === undefined) return undefined;
  const { action, reason, input, endTurn } = answer;
  if (action === "deny")
    return { response: "reject", message: `Refused by a hook: ${reason}`, ...(endTurn && { endTurn }) };
  if (needsPerson(verdict)) return undefined;
  const granted = { response: "once" as const, ...keepLimits(verdict) };
  if (input === undefined) return granted;
  const revised = revise?.(input);
  if (revised === undefined) return undefined;
  const next = await decide(revised.request, options);
  const isAllowed = next.action === "allow" || (isAsked(next) && !needsPerson(next));
  return isAllowed ? { ...granted, ...keepLimits(next), input: revised.input } : undefined;
}

/** True where no program may answer in place of the user. */
function needsPerson({ gate }: ApprovalVerdict): boolean {
  return gate === "rule" || gate === "try" || gate === "masked_secret";
}

/** True if the user is asked, or would be if somebody could be. */
function isAsked({ action, wouldAsk }: ApprovalVerdict): boolean {
  return action === "ask" || wouldAsk === true;
}

function toVerdict({ action, reason }: GateDecision, mode: ApprovalContext["mode"]): ApprovalVerdict {
  if (action === "deny") return { action, gate: "extension", reason };
  return mode === "deny"
    ? { action: "deny", gate: "extension", reason, wouldAsk: true }
    : { action, gate: "extension", reason };
}

/** An answer given meanwhile may cover this request too. */
async function decideAgain(
  request: ApprovalRequest,
  { handle, ask, options }: { handle: ApprovalHandle; ask: AskPerson; options: ApproveOptions },
): Promise<ApprovalResponse | ApprovalDecision> {
  const verdict = withAdvice(await decide(request, options), handle, options);
  if (verdict.action === "allow") return pass(verdict);
  if (verdict.action === "deny") {
    handle.announce(verdict.gate, { mode: options.context.mode ?? "ask" });
    return refuse(verdict, { isAttended: true });
  }
  const { preview, revise } = handle;
  return askPerson(
    { request, verdict, preview },
    {
      ask,
      ...toAsking(handle),
      revise,
      evaluate: (revised) => decide(revised, options),
      options,
    },
  );
}

function pass(verdict: ApprovalVerdict): ApprovalResponse | ApprovalDecision {
  const limits = keepLimits(verdict);
  return Object.keys(limits).length > 0 ? { response: "once", ...limits } : "once";
}

/** What holds whatever a gate, a hook or the user says: files that must not be shown, and that it is only tried. */
function keepLimits({ withholds, tries }: ApprovalVerdict): Pick<ApprovalVerdict, "withholds" | "tries"> {
  return { ...(withholds && { withholds }), ...(tries && { tries }) };
}

async function findNeeded(
  request: ApprovalRequest,
  verdict: ApprovalVerdict,
  { context, grants }: ApproveOptions,
): Promise<NeededApproval | undefined> {
  const { findNeededApproval } = await import("../approval/needed-approval.ts");
  return findNeededApproval(request, verdict, { ...context, grants: await grants.list() });
}

function refuse(
  { action, gate, reason, wouldAsk }: ApprovalVerdict,
  { isAttended, needed }: { isAttended: boolean; needed?: NeededApproval | undefined },
): ApprovalDecision {
  const why = `Refused: ${reason} [${gate}]`;
  if (action === "deny" && !wouldAsk)
    return { response: "reject", message: `${why}. Do not work around it.` };
  if (isAttended) {
    return { response: "reject", message: `${why}, and the user runs with --approval deny.` };
  }
  const message = `${why}, which needs the user's approval, and no user is present to give it.${describeNeeded(needed)}`;
  return { response: "reject", unattended: true, message };
}

/** Follows the refusal, for the model. */
function describeNeeded({ parts, ...ways }: NeededApproval = {}): string {
  const which = parts
    ? ` On this line, ${listQuoted(parts)} ${parts.length === 1 ? "needs" : "need"} it.`
    : "";
  return `${which} Do what is possible without it; tell the user that ${describeWay(ways)}.`;
}

function describeWay({ mode, rules }: Pick<NeededApproval, "mode" | "rules">): string {
  const flag = mode && `--approval ${mode}`;
  if (rules === undefined)
    return flag ? `only ${flag} would allow it: no rule does` : "neither a mode nor a rule allows it";
  const list = rules.map((rule) => JSON.stringify(rule)).join(", ");
  const ruled = `${rules.length === 1 ? "the rule" : "the rules"} ${list} in permissions`;
  return flag ? `${flag} would allow it, or ${ruled}` : `${ruled} would allow it`;
}

function listQuoted(texts: readonly string[]): string {
  return texts.map((text) => `\`${text}\``).join(", ");
}

/** A request that waits for the user, from the model or as edited by the user. */
interface AskedRequest {
  request: ApprovalRequest;
  verdict: ApprovalVerdict;
  preview?: RevisedCall["preview"];
  /** All arguments of the call, if the user edited them. */
  input?: Record<string, unknown>;
  refusedEdit?: AskedVerdict["refusedEdit"];
}

function toAsking({ announce, toolCallId }: ApprovalHandle) {
  return { announce, toolCallId };
}

interface PersonDeps extends Pick<ApprovalHandle, "announce" | "revise" | "toolCallId"> {
  ask: AskPerson;
  evaluate(request: ApprovalRequest): Promise<ApprovalVerdict>;
  options: ApproveOptions;
}

/**
 * Asks the user until there is an answer. An edited command is evaluated and shown again even if it would be allowed
 * without asking: the user only approves a command in the form in which it runs.
 */
async function askPerson(first: AskedRequest, parts: PersonDeps): Promise<ApprovalDecision> {
  let asked = first;
  for (;;) {
    const answer = await put(asked, parts);
    if (typeof answer === "string") return conclude(asked, { response: answer }, parts.options);
    if (!("edited" in answer)) return conclude(asked, answer, parts.options);
    asked = await change(asked, answer.edited, parts);
  }
}

async function put(
  { request, verdict, preview, input, refusedEdit }: AskedRequest,
  { announce, ask, revise, toolCallId, options }: PersonDeps,
): Promise<ApprovalResponse | PersonAnswer | CommandEdit> {
  const diff = await preview?.();
  // Only used for the question: the model does not receive it.
  const changed = diff === undefined ? request : { ...request, details: { ...request.details, diff } };
  const shown = options.redactor?.redact(changed) ?? changed;
  const found = await findChoices(verdict);
  const choices = found.map(({ reach, allows, examples }) => ({ reach, allows, examples }));
  const requestId = announce(verdict.gate, { shown, mode: options.context.mode ?? "ask", choices });
  const asked: AskedVerdict = {
    ...verdict,
    choices,
    ...(await findRuns(request, options)),
    ...(input && { isEdited: true }),
    ...(revise === undefined && { isFixed: true }),
    ...(refusedEdit && { refusedEdit }),
  };
  return ask(shown, asked, { requestId, toolCallId });
}

/** What "always" can mean; the code is loaded when the first question is asked. */
async function findChoices(verdict: ApprovalVerdict): Promise<readonly GrantChoice[]> {
  if (verdict.grants === undefined) return [];
  const { toGrantChoices } = await import("../approval/grant-choices.ts");
  return toGrantChoices(verdict);
}

/** The request with the edited command if approval is possible; otherwise the previous request with the reason. */
async function change(
  asked: AskedRequest,
  command: string,
  { revise, evaluate }: PersonDeps,
): Promise<AskedRequest> {
  const { refusedEdit: _, ...before } = asked;
  if (command === requestedCommand(asked.request)) return before;
  const revised = command.trim() === "" ? undefined : revise?.({ command });
  if (revised === undefined) return { ...before, refusedEdit: { command, why: "it is not a command" } };
  const verdict = await evaluate(revised.request);
  if (verdict.action === "deny") {
    return { ...before, refusedEdit: { command, why: `${verdict.reason} [${verdict.gate}]` } };
  }
  return { ...revised, verdict };
}

async function conclude(
  { request, verdict, input }: AskedRequest,
  { scope, reach = "exact", ...decision }: PersonAnswer,
  options: ApproveOptions,
): Promise<ApprovalDecision> {
  if (decision.response === "always") {
    const chosen = (await findChoices(verdict)).find((choice) => choice.reach === reach);
    await remember(chosen?.grants ?? verdict.grants ?? [], scope, options);
  }
  // The command that wants a host continues without it, and so does the turn.
  if (isHostLimit(request)) delete decision.endTurn;
  const isAllowed = decision.response !== "reject";
  return {
    ...decision,
    ...(isAllowed && input && { input }),
    ...(isAllowed && verdict.gate === "masked_secret" && { insertsSecrets: true }),
    ...keepLimits(verdict),
  };
}

async function findRuns(
  { toolName, permission, details }: ApprovalRequest,
  { context }: ApproveOptions,
): Promise<Pick<AskedVerdict, "runs" | "mayTry">> {
  if (toolName !== "bash" || permission !== "execute") return {};
  const sandbox = await context.sandboxState?.();
  if (sandbox?.kind !== "boxed") return {};
  const mayTry = sandbox.wrapper.openView !== undefined && typeof details?.command === "string";
  return {
    runs: details?.outsideSandbox === true ? "outside_sandbox" : "in_sandbox",
    ...(mayTry && { mayTry }),
  };
}

async function remember(
  allowed: readonly Grant[],
  scope: PersonAnswer["scope"],
  { grants, redactor, warn }: ApproveOptions,
): Promise<void> {
  if (redactor && redactor.redact(allowed) !== allowed) {
    grants.addUntilEnd(allowed);
    warn?.("Saved only until the program ends: what was allowed contains a key.");
    return;
  }
  try {
    if (scope === "project") await grants.addForProject(allowed);
    else await grants.addForSession(allowed);
  } catch (error) {
    const until = scope === "project" ? "for this session only" : "only until the program ends";
    warn?.(`Saved ${until}: ${describeError(error)}`);
  }
}

/** The command the shell will run. Other tools may have an argument of that name among others that matter as much. */
export function requestedCommand({ toolName, details }: ApprovalRequest): string | undefined {
  return toolName === "bash" && typeof details?.command === "string" ? details.command : undefined;
}

/** The approvals of a session. */
export interface Approvals {
  /** The current approval settings, and the mode when the session was opened. */
  approval: {
    mode: ApprovalMode;
    readonly initial: ApprovalMode;
    /** In order of precedence; replaced when they change. */
    rules: readonly PermissionRule[];
  };
  /** Stored grants. */
  grants: GrantStore;
  approve: Approve;
  /** What sandboxed commands may do with protected files now. */
  protectedAccess(): Promise<ProtectedAccess | undefined>;
}

/** The parts of a session's policy, and the user to ask. */
interface ApprovalsOptions {
  cwd: string;
  /** That of the session. */
  redactor: SecretRedactor;
  loaded: LoadedConfig;
  temporaryDirectory: SessionTempDir;
  /** How commands run. */
  sandbox: SessionSandbox;
  /** False if changes by commands cannot be undone. */
  canUndo(): boolean;
  /** False if commits and refs that a command removes could not be restored. */
  canRestoreHistory?(): boolean;
  /** Awaited before a command is evaluated: both of these are accurate afterwards. */
  prepareUndo?(): Promise<void> | undefined;
  /** The configured settings. */
  initial: ApprovalMode;
  /** The settings the user switched to. */
  mode?: ApprovalMode | undefined;
  /** Existing grants; read from the user's file if omitted. */
  grants?: GrantStore | undefined;
  ask?: AskPerson | undefined;
  extensions?: readonly HarnessExtension[] | undefined;
  toolLists?: ToolLists | undefined;
  /** See `HarnessOverrides`. */
  addedDirectories?: readonly string[] | undefined;
  environment: Environment;
  /** Called when saved answers cannot be used. */
  warn?: ((message: string) => void) | undefined;
}

/** Mode and rules are read for each request: changes in `approval` apply immediately. */
export function openApprovals(options: ApprovalsOptions): Approvals {
  const { cwd, environment, loaded, temporaryDirectory, sandbox, initial, ask, warn } = options;
  const { extensions, toolLists } = options;
  const { config, projectRoot: root } = loaded;
  const mode = options.mode ?? initial;
  const rules = toRules(config.permissions, options.addedDirectories);
  const approval = { mode, initial, rules };
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
    get canRestoreHistory() {
      return options.canRestoreHistory?.();
    },
    get temporaryDirectory() {
      return temporaryDirectory.existing;
    },
  };
  const { redactor } = options;
  const decide = createApprove({ context, grants, redactor, extensions, toolLists, ask, warn });
  const approve: Approve = async (request, handle) => {
    const needsUndo = sandbox.isWanted || approval.mode === "auto";
    if (needsUndo && request.permission === "execute") await options.prepareUndo?.();
    return decide(request, handle);
  };
  const protectedAccess = async () => {
    // Loaded with the first command.
    const { createProtectedAccess } = await import("../approval/protected-access.ts");
    return createProtectedAccess({ ...context, mode: approval.mode, rules: approval.rules });
  };
  return { approval, grants, approve, protectedAccess };
}

/** The rules of a session: those for added directories come first, since the configured ones are stronger. */
export function toRules(
  configured: readonly PermissionRule[] = [],
  addedDirectories: readonly string[] = [],
): readonly PermissionRule[] {
  const patterns = addedDirectories.flatMap((path) => {
    const escaped = path.replace(/[*?[\]{}\\!]/g, "\\$&");
    return [escaped, path === "/" ? "/**" : `${escaped}/**`];
  });
  const added = patterns.flatMap((pattern) =>
    (["read", "write"] as const).map((permission) => ({ permission, pattern, action: "allow" as const })),
  );
  return [...added, ...configured];
}
