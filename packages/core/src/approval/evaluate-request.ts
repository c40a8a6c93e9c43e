import type { ApprovalRequest } from "../tool/types.ts";
import type { ReadGrammar } from "./bash/grammar.ts";
import { showWord } from "./bash/parse.ts";
import { isGranted, toCallGrant } from "./grants.ts";
import { hasTryRule, isEverything } from "./policy.ts";
import {
  type ApprovalContext,
  type ApprovalVerdict,
  allow,
  ask,
  deny,
  strictest,
  verdictOf,
} from "./types.ts";

/**
 * The verdict on a request before the mode applies. The code that evaluates paths and commands is loaded on first use.
 */
export async function evaluateRequest(
  request: ApprovalRequest,
  context: ApprovalContext,
): Promise<ApprovalVerdict> {
  const { permission, toolName, details = {} } = request;
  if (permission === "execute") return evaluateExecution(request, context);
  if (permission === "fetch") {
    const { evaluateHost } = await import("./hosts.ts");
    return evaluateHost(request, context);
  }
  if (permission === "mcp") {
    const { evaluateServerTool } = await import("./server-tools.ts");
    return evaluateServerTool(request, context);
  }
  if (Array.isArray(details.files)) return evaluateFiles(request, details.files, context);
  const { path, realPath } = details;
  if (typeof path !== "string" || path === "") {
    return evaluateCall(request, ask("unknown_target", "it does not name the path it touches"), context);
  }
  const { decidePath } = await import("./paths.ts");
  const leadsTo = typeof realPath === "string" ? realPath : undefined;
  const verdict = decidePath({ path, leadsTo, permission, readsContent: true }, toolName, context);
  if (permission !== "read") return verdict;
  const { createWithholding } = await import("./reads.ts");
  const withholds = createWithholding(leadsTo ?? path, context);
  return withholds ? { ...verdict, withholds } : verdict;
}

/**
 * The verdict on a command in the mode `auto` if its words show that it removes data that only git keeps and that could
 * not be restored; undefined for every other request.
 */
export async function evaluateHistoryLoss(
  { toolName, details = {} }: ApprovalRequest,
  context: ApprovalContext,
): Promise<ApprovalVerdict | undefined> {
  const { command } = details;
  if (toolName !== "bash" || typeof command !== "string") return undefined;
  const { evaluateLosingCommand, mayLoseHistory } = await import("./bash/sandboxed-policy.ts");
  return mayLoseHistory(command) ? evaluateLosingCommand(command, context, await loadGrammar()) : undefined;
}

/** A request for several files: the strictest verdict, and the grants of all that need the approval. */
async function evaluateFiles(
  request: ApprovalRequest,
  files: readonly unknown[],
  context: ApprovalContext,
): Promise<ApprovalVerdict> {
  const verdicts: ApprovalVerdict[] = [];
  for (const file of files) {
    const details = typeof file === "object" && file !== null && !("files" in file) ? { ...file } : {};
    verdicts.push(await evaluateRequest({ ...request, details }, context));
  }
  const worst = strictest(verdicts);
  if (!worst) return ask("unknown_target", "it does not name the paths it touches");
  const asked = verdicts.filter(({ action }) => action === "ask");
  if (worst.action !== "ask" || asked.length === 1) return worst;
  const grants = asked.flatMap((verdict) => verdict.grants ?? []);
  const reasons = asked.map(({ reason }) => reason);
  const more =
    reasons.length > MAX_REASONS ? [`${reasons.length - MAX_REASONS} more files need approval`] : [];
  return {
    ...worst,
    reason: [...reasons.slice(0, MAX_REASONS), ...more].join("; "),
    // An answer that covers only some of the files would not cover the same call the next time.
    grants: asked.every((verdict) => verdict.grants) ? grants : undefined,
  };
}

const MAX_REASONS = 3;

async function evaluateExecution(
  request: ApprovalRequest,
  context: ApprovalContext,
): Promise<ApprovalVerdict> {
  const { command, outsideSandbox, detach } = request.details ?? {};
  // Another tool may have an argument of that name and use it differently.
  if (request.toolName === "bash" && typeof command === "string") {
    const verdict = await evaluateShellCommand(command, outsideSandbox === true, context);
    const tried = await withTryRule(command, verdict, context);
    // Each time: it is out of reach once the session has ended.
    const outlives = detach === true && tried.action !== "deny" && !tried.tries;
    return outlives ? ask("shell_command", OUTLIVES) : tried;
  }
  return evaluateCall(
    request,
    ask("shell_command", `${showWord(request.toolName)} may do more than read`),
    context,
  );
}

const OUTLIVES = "it would keep running with all your rights after the session has ended";

/** What is only tried needs no approval before, unless a rule asks. An earlier answer of the user is stronger. */
async function withTryRule(
  line: string,
  verdict: ApprovalVerdict,
  context: ApprovalContext,
): Promise<ApprovalVerdict> {
  if (verdict.action === "deny" || verdict.gate === "grant" || !hasTryRule(context)) return verdict;
  const { findTryRule } = await import("./bash/sandboxed-policy.ts");
  const rule = findTryRule(line, context, await loadGrammar());
  if (rule === undefined) return verdict;
  const isAsked = verdict.action === "ask" && verdict.gate === "rule";
  return isAsked
    ? { ...verdict, tries: true }
    : {
        ...allow("rule", `the rule try execute ${JSON.stringify(rule.pattern)} lets it be tried`),
        tries: true,
      };
}

/** @param outsideSandbox true to run outside the sandbox. */
async function evaluateShellCommand(
  line: string,
  outsideSandbox: boolean,
  context: ApprovalContext,
): Promise<ApprovalVerdict> {
  const state = await context.sandboxState?.();
  if (state?.kind === "refused") {
    return deny("sandbox", `commands may only run in a sandbox, and ${state.problem}`);
  }
  if (state === undefined || state.kind === "open") {
    const [{ evaluateCommand }, readGrammar] = await Promise.all([
      import("./bash/command-policy.ts"),
      loadGrammar(),
    ]);
    return evaluateCommand(line, context, readGrammar);
  }
  if (outsideSandbox && !state.mayLeave) return deny("sandbox", "no command may run outside the sandbox");
  const { RUNS_SANDBOXED, evaluateSandboxedCommand, evaluateOutsideCommand, needsEvaluation } = await import(
    "./bash/sandboxed-policy.ts"
  );
  if (outsideSandbox) return evaluateOutsideCommand(line, context, await loadGrammar());
  if (!needsEvaluation(line, context)) return RUNS_SANDBOXED;
  return evaluateSandboxedCommand(line, context, await loadGrammar());
}

/** Decides about a call of which only the arguments are known: only rules that match everything apply. */
function evaluateCall(
  request: ApprovalRequest,
  verdict: ApprovalVerdict,
  { rules = [], grants = [] }: ApprovalContext,
): ApprovalVerdict {
  const rule = rules.findLast(
    ({ permission, pattern }) => permission === request.permission && isEverything(pattern),
  );
  if (rule?.action === "deny") return verdictOf(rule);
  const grant = toCallGrant(request);
  if (isGranted(grant, grants)) return allow("grant", "you have always allowed exactly this");
  return rule ? { ...verdictOf(rule), grants: [grant] } : { ...verdict, grants: [grant] };
}

let grammar: Promise<ReadGrammar> | undefined;

/** Loaded once per process; loading is tried again after a failure. */
export function loadGrammar(): Promise<ReadGrammar> {
  grammar ??= import("./bash/grammar.ts").then(({ loadBashGrammar }) => loadBashGrammar());
  grammar.catch(() => {
    grammar = undefined;
  });
  return grammar;
}
