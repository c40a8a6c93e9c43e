import type { ApprovalRequest } from "@diligent/core/run";
import type { AskedVerdict } from "./approval.ts";
import { formatJudgedLine, formatMark } from "./judged-text.ts";

// Room for all that the shell tool quotes of it: what a model says for itself is no part of what would be done.
const MAX_WISH_CHARS = 600;

/**
 * Who asks for what, on one line, with what asked last: where a command would run stands in front, and nothing of it is
 * the model's.
 */
export function describeAsking(request: ApprovalRequest, verdict: AskedVerdict): string {
  const asking = describeNeed(request, verdict);
  return verdict.isEdited ? `As you have changed it, ${asking}` : asking;
}

/** Why what the person made of a command was not taken; undefined where nothing of that kind has happened. */
export function describeRefusedEdit({ refusedEdit }: AskedVerdict): string | undefined {
  if (refusedEdit === undefined) return undefined;
  return `What you made of it was not taken: ${formatJudgedLine(refusedEdit.why)}`;
}

function describeNeed({ toolName }: ApprovalRequest, { action, gate, reason, runs }: AskedVerdict): string {
  const tool = formatJudgedLine(toolName);
  const why = formatJudgedLine(reason);
  if (action === "allow") {
    const where = runs === "in_sandbox" ? `${tool} in the sandbox` : tool;
    return `${where} needs only your yes: ${why} [${gate}]`;
  }
  switch (runs) {
    case "outside_sandbox":
      return `${tool} outside the sandbox needs your consent: it would run with all your rights [${gate}]`;
    case "in_sandbox":
      return `${tool} in the sandbox needs your consent: ${why} [${gate}]`;
    default:
      return `${tool} needs your consent: ${why} [${gate}]`;
  }
}

/** Stands above what `judgedWish` gives. */
export const WISH_HEAD = "Why, in the model’s own words, which nobody has checked:";

/**
 * What the model says a command has to run outside the sandbox for, on one line, in the quotation marks that the tool put
 * it in; undefined where it says nothing.
 */
export function judgedWish({ details }: ApprovalRequest, { runs }: AskedVerdict): string | undefined {
  if (runs !== "outside_sandbox" || typeof details?.reason !== "string") return undefined;
  const wish = details.reason.trim();
  if (wish === "") return undefined;
  const shown = formatJudgedLine(wish.slice(0, MAX_WISH_CHARS).toWellFormed());
  const left = wish.length - MAX_WISH_CHARS;
  return left > 0 ? shown + formatMark(`${left} more characters`) : shown;
}

/** The command that the shell is to run. Another tool may have an argument of that name beside others that matter as much. */
export function judgedCommand({ toolName, details }: ApprovalRequest): string | undefined {
  return toolName === "bash" && typeof details?.command === "string" ? details.command : undefined;
}

/** The path that is to be read or changed, where that and the change is all that a request is about. */
export function judgedPath({ permission, details }: ApprovalRequest): string | undefined {
  return permission !== "execute" && typeof details?.path === "string" ? details.path : undefined;
}
