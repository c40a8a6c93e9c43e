import type {
  ApprovalDecision,
  ApprovalRequest,
  ApprovalResponse,
  ApprovalVerdict,
} from "@diligent/core/run";
import { revealTerminalText } from "../terminal-text.ts";

/** What the person is asked: the whole of what would be done, every invisible character shown, the question last. */
export function formatQuestion(request: ApprovalRequest, verdict: ApprovalVerdict): string {
  const subject = describeSubject(request)
    .split("\n")
    .map((line) => `    ${line}`)
    .join("\n");
  return [
    `${revealTerminalText(request.toolName)} needs your consent: ${revealTerminalText(verdict.reason)}`,
    "",
    subject,
    "",
    "Allow it? y (once) / n: ",
  ].join("\n");
}

/** The answer a line gives, or undefined when it is none. */
export function parseAnswer(line: string): ApprovalResponse | ApprovalDecision | undefined {
  switch (line.trim().toLowerCase()) {
    case "y":
    case "yes":
      return "once";
    case "n":
    case "no":
      return { response: "reject", message: "The user was asked and said no. Do not try it in another way." };
    default:
      return undefined;
  }
}

function describeSubject({ permission, details = {} }: ApprovalRequest): string {
  if (typeof details.command === "string") return revealTerminalText(details.command);
  if (typeof details.path === "string") return revealTerminalText(`${permission} ${details.path}`);
  return revealTerminalText(JSON.stringify(details, undefined, 2));
}
