import {
  type ApprovalContext,
  type ApprovalDecision,
  type ApprovalRequest,
  type ApprovalResponse,
  type ApprovalVerdict,
  type Approve,
  type Asking,
  decideApproval,
  type GrantStore,
} from "@diligent/core/run";
import { askPerson } from "./ask-person.ts";

/** A person's answer. */
export interface PersonAnswer extends ApprovalDecision {
  /** How far an "always" reaches; this session when left out. */
  scope?: "session" | "project";
}

/** In place of an answer, where the run that asks is stopped. */
export const STOPPED_ANSWER: PersonAnswer = {
  response: "reject",
  message: "The user stopped the run.",
  endTurn: true,
};

/** The person would rather have another command, which is this one: it is judged and put to them again. */
export interface CommandEdit {
  edited: string;
}

/** A verdict as a person is told of it. What they have changed themselves is put to them whatever the verdict is. */
export interface AskedVerdict extends ApprovalVerdict {
  /** The command is the person's own; what asked for consent is what the model made of it before. */
  isEdited?: true | undefined;
  /** True where the arguments cannot be changed any more. */
  isFixed?: true | undefined;
  /** What the person made of the command before, and why it was not taken. */
  refusedEdit?: { command: string; why: string } | undefined;
  /** Where a shell command would run; undefined where there is no sandbox, and for everything else. */
  runs?: "in_sandbox" | "outside_sandbox" | undefined;
}

/** Puts a request to a person; the verdict says what asked and what "always" would allow. */
export type AskPerson = (
  request: ApprovalRequest,
  verdict: AskedVerdict,
) => Promise<ApprovalResponse | PersonAnswer | CommandEdit>;

/** What decides about a request, and who is asked where that is not enough. */
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
      const answer = await decideAgain(request, { asking, ask, options });
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
  skipped: true,
};

async function decide(
  request: ApprovalRequest,
  { context, grants }: ApproveOptions,
): Promise<ApprovalVerdict> {
  return decideApproval(request, { ...context, grants: await grants.list() });
}

/** An answer given meanwhile may cover this request too. */
async function decideAgain(
  request: ApprovalRequest,
  { asking, ask, options }: { asking: Asking; ask: AskPerson; options: ApproveOptions },
): Promise<ApprovalResponse | ApprovalDecision> {
  const verdict = await decide(request, options);
  if (verdict.action === "allow") return pass(verdict);
  if (verdict.action === "deny") {
    asking.announce(verdict.gate);
    return refuse(verdict, true);
  }
  const { preview, revise } = asking;
  return askPerson(
    { request, verdict, preview },
    {
      ask,
      announce: asking.announce,
      revise,
      judge: (revised) => decide(revised, options),
      options,
    },
  );
}

function pass({ withholds }: ApprovalVerdict): ApprovalResponse | ApprovalDecision {
  return withholds ? { response: "once", withholds } : "once";
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
