import { type ApprovalRequest, type ApprovalVerdict, describeGrant } from "@diligent/core/run";
import type { PersonAnswer } from "../approval.ts";
import { revealTerminalText } from "../terminal-text.ts";

/**
 * What the person is asked: the whole of what would be done, every invisible character shown, what asked, what each
 * answer means, the question last.
 */
export function formatQuestion(request: ApprovalRequest, verdict: ApprovalVerdict): string {
  const { gate, reason, grants = [] } = verdict;
  return [
    `${revealTerminalText(request.toolName)} needs your consent: ${revealTerminalText(reason)} [${gate}]`,
    "",
    ...indent(describeSubject(request)),
    "",
    ...describeAlways(grants),
    "  n MESSAGE  no, with a message to the model",
    `Allow it? y (once) / ${grants.length > 0 ? "a (always) / p (always, kept) / " : ""}n: `,
  ].join("\n");
}

/** What may be answered, for somebody whose answer was none. */
export function formatHint({ grants = [] }: ApprovalVerdict): string {
  return `Please answer ${grants.length > 0 ? "y, a, p" : "y"} or n.`;
}

/** The answer a line gives, or undefined when it is none. Only what `verdict` offers can be allowed for good. */
export function parseAnswer(line: string, { grants = [] }: ApprovalVerdict): PersonAnswer | undefined {
  const [, word = "", message = ""] = /^\s*(\S+)\s*(.*?)\s*$/s.exec(line) ?? [];
  const answer = word.toLowerCase();
  if (answer === "n" || answer === "no") return reject(message);
  if (message !== "") return undefined;
  if (answer === "y" || answer === "yes") return { response: "once" };
  if (grants.length === 0) return undefined;
  if (answer === "a" || answer === "always") return { response: "always", scope: "session" };
  if (answer === "p" || answer === "project") return { response: "always", scope: "project" };
  return undefined;
}

/** With a message the model goes on and makes something of it; without one the turn is over. */
function reject(message: string): PersonAnswer {
  if (message !== "") return { response: "reject", message: `The user said no: ${message}` };
  return { response: "reject", message: "The user said no. Do not try it in another way.", endTurn: true };
}

function describeAlways(grants: NonNullable<ApprovalVerdict["grants"]>): string[] {
  if (grants.length === 0) return [];
  const lines = grants.map((grant) => revealTerminalText(describeGrant(grant)).replaceAll("\n", "\\x0a"));
  return [
    "  a  always in this session, p  always in this project, which allows:",
    ...lines.map((line) => `       ${line}`),
  ];
}

function describeSubject({ permission, details = {} }: ApprovalRequest): string {
  if (typeof details.command === "string") return revealTerminalText(details.command);
  if (typeof details.path !== "string") return revealTerminalText(JSON.stringify(details, undefined, 2));
  const change = typeof details.diff === "string" ? `\n\n${details.diff}` : "";
  return revealTerminalText(`${permission} ${details.path}${change}`);
}

function indent(text: string): string[] {
  return text.split("\n").map((line) => `    ${line}`);
}
