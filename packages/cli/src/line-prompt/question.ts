import { describeGrant } from "@diligent/core/interactive";
import type { ApprovalRequest, ApprovalVerdict } from "@diligent/core/run";
import type { AskedVerdict, PersonAnswer } from "../approval.ts";
import {
  describeAsking,
  describeRefusedEdit,
  judgedCommand,
  judgedPath,
  judgedWish,
  WISH_HEAD,
} from "../judged-request.ts";
import { formatJudgedLine, formatJudgedText, formatMark, hasMark } from "../judged-text.ts";

// What a person may read of a change before consenting to it; whoever wants more can say no and look.
const DIFF_HEAD_LINES = 120;
const DIFF_TAIL_LINES = 80;
const DIFF_HEAD_CHARS = 1_500;
const DIFF_TAIL_CHARS = 500;

// A screen of a common terminal: what is longer has scrolled out of it by the time of the answer.
const SCREEN_LINES = 20;
const SCREEN_CHARS = 1_600;

/**
 * What the person is asked: the whole of what would be done, every invisible character shown, what asked, what each
 * answer means, the question last. Only a diff is cut where it is very long, and it is said how much of it.
 */
export function formatQuestion(request: ApprovalRequest, verdict: AskedVerdict): string {
  const { grants = [] } = verdict;
  const wish = judgedWish(request, verdict);
  const refused = describeRefusedEdit(verdict);
  const shown = [
    describeAsking(request, verdict),
    ...(refused === undefined ? [] : [refused]),
    "",
    ...indent(describeSubject(request)),
    "",
    ...(wish === undefined ? [] : [`  ${WISH_HEAD}`, `    ${wish}`, ""]),
    ...describeAlways(grants),
  ];
  return [
    ...shown,
    ...describeLength(request),
    ...(shown.some(hasMark) ? [`  ${formatMark("…")}  a note about the text, never a part of it`] : []),
    ...(isEditable(request, verdict) ? ["  e  another command in place of this one"] : []),
    "  n MESSAGE  no, with a message to the model",
    `Allow it? y (once) / ${grants.length > 0 ? "a (always) / p (always, kept) / " : ""}${
      isEditable(request, verdict) ? "e (edit) / " : ""
    }n: `,
  ].join("\n");
}

/** What may be answered, for somebody whose answer was none. */
export function formatHint(request: ApprovalRequest, verdict: AskedVerdict): string {
  const { grants = [] } = verdict;
  const answers = [grants.length > 0 ? "y, a, p" : "y", ...(isEditable(request, verdict) ? ["e"] : [])];
  return `Please answer ${answers.join(", ")} or n.`;
}

/** True for a command that the person may change. */
export function isEditable(request: ApprovalRequest, { isFixed }: AskedVerdict): boolean {
  return judgedCommand(request) !== undefined && !isFixed;
}

/** True for the answer that wants to change the command. */
export function wantsEdit(line: string, request: ApprovalRequest, verdict: AskedVerdict): boolean {
  return isEditable(request, verdict) && /^\s*e(?:dit)?\s*$/i.test(line);
}

/** Asks for the command that is to be run in place of this one. */
export function formatEditQuestion(command: string): string {
  return [
    "",
    ...indent(formatJudgedText(command)),
    "The command to run in its place, on one line (an empty one keeps it): ",
  ].join("\n");
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
  const lines = grants.map((grant) => formatJudgedLine(describeGrant(grant)));
  return [
    "  a  always in this session, p  always in this project, which allows:",
    ...lines.map((line) => `       ${line}`),
  ];
}

function describeSubject(request: ApprovalRequest): string {
  const { permission, details = {} } = request;
  const command = judgedCommand(request);
  if (command !== undefined) return formatJudgedText(command);
  const path = judgedPath(request);
  if (path === undefined) return formatJudgedText(JSON.stringify(details, undefined, 2));
  const subject = `${permission} ${formatJudgedLine(path)}`;
  return typeof details.diff === "string" ? `${subject}\n\n${describeDiff(details.diff)}` : subject;
}

/** So that nobody takes the end of a long command for all of it. */
function describeLength(request: ApprovalRequest): string[] {
  const command = judgedCommand(request);
  if (command === undefined) return [];
  const lines = command.split("\n").length;
  if (lines <= SCREEN_LINES && command.length <= SCREEN_CHARS) return [];
  return [`  The command has ${lines} lines and ${command.length} characters, and all of it stands above.`];
}

function describeDiff(diff: string): string {
  const lines = diff.trimEnd().split("\n");
  const left = lines.length - DIFF_HEAD_LINES - DIFF_TAIL_LINES;
  if (left <= 0) return lines.map(describeDiffLine).join("\n");
  return [
    ...lines.slice(0, DIFF_HEAD_LINES).map(describeDiffLine),
    formatMark(`${left} lines of the diff left out`),
    ...lines.slice(-DIFF_TAIL_LINES).map(describeDiffLine),
  ].join("\n");
}

function describeDiffLine(line: string): string {
  const left = line.length - DIFF_HEAD_CHARS - DIFF_TAIL_CHARS;
  if (left <= 0) return formatJudgedLine(line);
  const [head, tail] = [line.slice(0, DIFF_HEAD_CHARS), line.slice(-DIFF_TAIL_CHARS)];
  return formatJudgedLine(head) + formatMark(`${left} characters left out`) + formatJudgedLine(tail);
}

function indent(text: string): string[] {
  return text.split("\n").map((line) => `    ${line}`);
}
