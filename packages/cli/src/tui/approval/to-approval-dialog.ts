import { describeGrant } from "@diligent/core/interactive";
import type { ApprovalRequest, ApprovalVerdict } from "@diligent/core/run";
import { revealTerminalText } from "../../terminal-text.ts";
import type { ApprovalDialog } from "../view.ts";
import { scrollTo } from "./subject-rows.ts";

/** A request for consent as the screen shows it: every text with its invisible characters shown. */
export function toApprovalDialog(
  request: ApprovalRequest,
  { gate, reason, grants = [] }: ApprovalVerdict,
  size: { rows: number; columns: number },
): ApprovalDialog {
  const dialog: ApprovalDialog = {
    type: "approval",
    toolName: revealOnOneLine(request.toolName),
    gate,
    reason: revealOnOneLine(reason),
    subject: revealTerminalText(describeSubject(request)),
    always: grants.map((grant) => revealOnOneLine(describeGrant(grant))),
    scroll: 0,
    wasEndSeen: false,
    isEditable: typeof request.details?.command === "string",
  };
  return scrollTo(dialog, 0, size);
}

function describeSubject({ permission, details = {} }: ApprovalRequest): string {
  const { command, path, diff } = details;
  if (typeof command === "string") return command;
  if (typeof path !== "string") return JSON.stringify(details, undefined, 2);
  return typeof diff === "string" ? `${permission} ${path}\n\n${diff}` : `${permission} ${path}`;
}

function revealOnOneLine(text: string): string {
  return revealTerminalText(text).replaceAll("\n", "\\x0a");
}
