import {
  type ApprovalContext,
  type ApprovalDecision,
  type ApprovalRequest,
  type ApprovalResponse,
  type ApprovalVerdict,
  type Approve,
  decideApproval,
  type GrantStore,
} from "@diligent/core/run";

/** A person's answer. */
export interface PersonAnswer extends ApprovalDecision {
  /** How far an "always" reaches; this session when left out. */
  scope?: "session" | "project";
}

/** Puts a request to a person; the verdict says what asked and what "always" would allow. */
export type AskPerson = (
  request: ApprovalRequest,
  verdict: ApprovalVerdict,
) => Promise<ApprovalResponse | PersonAnswer>;

export interface ApproveOptions {
  /** Read at each request; the grants come from `grants`. */
  context: ApprovalContext;
  /** What was allowed for good, and where new answers go. */
  grants: GrantStore;
  /** Left out where nobody is there to answer. */
  ask?: AskPerson | undefined;
  /** Told when answers could not be kept, or those that were kept cannot be used. */
  warn?: ((message: string) => void) | undefined;
}

/**
 * The policy of a session as the loop asks it: what needs no consent passes, what is forbidden is refused, and the rest
 * is put to the person, one question at a time. A question that an answer to an earlier one covers is not asked.
 */
export function createApprove(options: ApproveOptions): Approve {
  let lastQuestion: Promise<unknown> = Promise.resolve();
  let endedTurns = 0;
  let isProblemSaid = false;
  return async (request, asking) => {
    const verdict = await decide(request, options);
    const { ask, warn } = options;
    if (verdict.action === "allow") return pass(verdict);
    const problem = isProblemSaid ? undefined : await options.grants.problem();
    isProblemSaid = true;
    if (problem !== undefined) warn?.(problem);
    if (verdict.action === "deny" || ask === undefined) {
      asking.announce(verdict.gate);
      return refuse(verdict, ask !== undefined);
    }
    const turn = endedTurns;
    const question = lastQuestion.then(async () => {
      if (endedTurns !== turn) return NOT_ASKED;
      const answer = await askPerson(request, { asking, ask, options });
      if (typeof answer === "object" && answer.endTurn) endedTurns += 1;
      return answer;
    });
    // The next question waits for this one, whatever becomes of it.
    lastQuestion = question.catch(() => undefined);
    return question;
  };
}

const NOT_ASKED: ApprovalDecision = {
  response: "reject",
  message: "Not run: the user ended the turn when another call was rejected.",
  endTurn: true,
};

async function decide(
  request: ApprovalRequest,
  { context, grants }: ApproveOptions,
): Promise<ApprovalVerdict> {
  return decideApproval(request, { ...context, grants: await grants.list() });
}

interface Question {
  asking: Parameters<Approve>[1];
  ask: AskPerson;
  options: ApproveOptions;
}

async function askPerson(
  request: ApprovalRequest,
  { asking, ask, options }: Question,
): Promise<ApprovalResponse | ApprovalDecision> {
  // An answer given meanwhile may cover this request too.
  const verdict = await decide(request, options);
  if (verdict.action === "allow") return pass(verdict);
  if (verdict.action === "deny") {
    asking.announce(verdict.gate);
    return refuse(verdict, true);
  }
  const shown = await withChange(request, asking);
  asking.announce(verdict.gate, shown);
  const answer = await ask(shown, verdict);
  const { scope, ...decision }: PersonAnswer = typeof answer === "string" ? { response: answer } : answer;
  if (decision.response === "always") await remember(verdict, scope, options);
  return { ...decision, ...(verdict.withholds && { withholds: verdict.withholds }) };
}

/** The request with what it would change, where that can be told. Made for the question only: no model sees it. */
async function withChange(
  request: ApprovalRequest,
  { preview }: Question["asking"],
): Promise<ApprovalRequest> {
  const diff = await preview?.();
  return diff === undefined ? request : { ...request, details: { ...request.details, diff } };
}

function pass({ withholds }: ApprovalVerdict): ApprovalResponse | ApprovalDecision {
  return withholds ? { response: "once", withholds } : "once";
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
    warn?.(`Kept for this session only: ${error instanceof Error ? error.message : String(error)}`);
  }
}

function refuse({ action, gate, reason, wouldAsk }: ApprovalVerdict, isAttended: boolean): ApprovalDecision {
  const why = `Refused: ${reason} [${gate}]`;
  const isFinal = action === "deny" && !wouldAsk;
  if (isFinal) return { response: "reject", message: `${why}. Do not try it in another way.` };
  if (isAttended) {
    return { response: "reject", message: `${why}, and the user's setting is --approval deny.` };
  }
  const message =
    `${why}, which needs the user's approval, and nobody is there to give it. ` +
    "Do what is possible without it; tell the user that --approval auto would allow it.";
  return { response: "reject", unattended: true, message };
}
