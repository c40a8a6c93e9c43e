import type {
  ApprovalDecision,
  ApprovalRequest,
  ApprovalResponse,
  ApprovalVerdict,
  Asking,
  RevisedCall,
} from "@diligent/core/run";
import type { ApproveOptions, AskedVerdict, AskPerson, CommandEdit, PersonAnswer } from "./approval.ts";
import { describeError } from "./describe-error.ts";
import { judgedCommand } from "./judged-request.ts";

/** A request that waits for a person, as the model made it or as they have changed it. */
interface AskedRequest {
  request: ApprovalRequest;
  verdict: ApprovalVerdict;
  preview?: RevisedCall["preview"];
  /** All arguments of the call, where the person has changed them. */
  input?: Record<string, unknown>;
  refusedEdit?: AskedVerdict["refusedEdit"];
}

interface PersonParts extends Pick<Asking, "announce" | "revise"> {
  ask: AskPerson;
  judge(request: ApprovalRequest): Promise<ApprovalVerdict>;
  options: ApproveOptions;
}

/**
 * Puts a request to the person until there is an answer. A command that they change is judged anew and put to them again,
 * also where it would need no consent: nobody says yes to what they have not seen as it will run.
 */
export async function askPerson(first: AskedRequest, parts: PersonParts): Promise<ApprovalDecision> {
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
  { announce, ask, revise, options }: PersonParts,
): Promise<ApprovalResponse | PersonAnswer | CommandEdit> {
  const diff = await preview?.();
  // Made for the question only: no model sees it.
  const shown = diff === undefined ? request : { ...request, details: { ...request.details, diff } };
  announce(verdict.gate, shown);
  return ask(shown, {
    ...verdict,
    runs: await findRuns(request, options),
    ...(input && { isEdited: true }),
    ...(revise === undefined && { isFixed: true }),
    ...(refusedEdit && { refusedEdit }),
  });
}

/** The request with another command, where that may be asked for; else the same again, with the reason. */
async function change(
  asked: AskedRequest,
  command: string,
  { revise, judge }: PersonParts,
): Promise<AskedRequest> {
  const { refusedEdit: _, ...before } = asked;
  if (command === judgedCommand(asked.request)) return before;
  const revised = command.trim() === "" ? undefined : revise?.({ command });
  if (revised === undefined) return { ...before, refusedEdit: { command, why: "it is no command" } };
  const verdict = await judge(revised.request);
  if (verdict.action === "deny") {
    return { ...before, refusedEdit: { command, why: `${verdict.reason} [${verdict.gate}]` } };
  }
  return { ...revised, verdict };
}

async function conclude(
  { verdict, input }: AskedRequest,
  { scope, ...decision }: PersonAnswer,
  options: ApproveOptions,
): Promise<ApprovalDecision> {
  if (decision.response === "always") await remember(verdict, scope, options);
  const isYes = decision.response !== "reject";
  return {
    ...decision,
    ...(isYes && input && { input }),
    ...(verdict.withholds && { withholds: verdict.withholds }),
  };
}

async function findRuns(
  { toolName, permission, details }: ApprovalRequest,
  { context }: ApproveOptions,
): Promise<AskedVerdict["runs"]> {
  if (toolName !== "bash" || permission !== "execute") return undefined;
  const box = await context.commandBox?.();
  if (box?.kind !== "boxed") return undefined;
  return details?.outsideSandbox === true ? "outside_sandbox" : "in_sandbox";
}

async function remember(
  { grants: allowed = [] }: ApprovalVerdict,
  scope: PersonAnswer["scope"],
  { grants, warn }: ApproveOptions,
): Promise<void> {
  if (scope !== "project") return grants.addForSession(allowed);
  try {
    await grants.addForProject(allowed);
  } catch (error) {
    warn?.(`Kept for this session only: ${describeError(error)}`);
  }
}
