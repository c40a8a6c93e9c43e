import {
  type ApprovalContext,
  type ApprovalDecision,
  type ApprovalRequest,
  type ApprovalResponse,
  type ApprovalVerdict,
  type Approve,
  decideApproval,
} from "@diligent/core/run";
import type { ApprovalMode } from "./arguments/command.ts";

/** Puts a request to a person. */
export type AskPerson = (
  request: ApprovalRequest,
  verdict: ApprovalVerdict,
) => Promise<ApprovalResponse | ApprovalDecision>;

export interface ApproveOptions {
  mode: ApprovalMode;
  /** Read at each request. */
  context: ApprovalContext;
  /** Left out where nobody is there to answer. */
  ask?: AskPerson | undefined;
}

/** The rule and the mode of a session as the loop asks it: what needs no consent passes, the rest depends on the mode. */
export function createApprove({ mode, context, ask }: ApproveOptions): Approve {
  return async (request, announce) => {
    if (mode === "auto") return "once";
    const verdict = decideApproval(request, context);
    if (verdict.action === "allow") return "once";
    announce(verdict.gate);
    if (mode === "ask" && ask) return ask(request, verdict);
    return refuse(verdict, ask !== undefined);
  };
}

function refuse({ reason }: ApprovalVerdict, isAttended: boolean): ApprovalDecision {
  if (isAttended) {
    return { response: "reject", message: `Refused: ${reason}, and the user's setting is --approval deny.` };
  }
  const message =
    `Refused: ${reason}, which needs the user's approval, and nobody is there to give it. ` +
    "Do what is possible without it; tell the user that --approval auto would allow it.";
  return { response: "reject", unattended: true, message };
}
