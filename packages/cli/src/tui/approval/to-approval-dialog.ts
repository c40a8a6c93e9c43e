import { describeGrant } from "@diligent/core/interactive";
import type { ApprovalRequest, ApprovalVerdict, Grant } from "@diligent/core/run";
import type { AskedVerdict } from "../../approval.ts";
import {
  describeAsking,
  describeRefusedEdit,
  judgedCommand,
  judgedPath,
  judgedWish,
  WISH_HEAD,
} from "../../judged-request.ts";
import { formatJudgedLine, formatJudgedText, formatMark, hasMark } from "../../judged-text.ts";
import type { ApprovalDialog, JudgedLine } from "../view.ts";
import { type Room, scrollTo } from "./content-rows.ts";

/** A request for consent as the screen shows it; `isElsewhere`: the user is writing a prompt. Nobody is guarded yet against keys that were meant for something else. */
export function toApprovalDialog(
  request: ApprovalRequest,
  verdict: AskedVerdict,
  room: Room,
  { isElsewhere = false }: { isElsewhere?: boolean } = {},
): ApprovalDialog {
  const { grants = [] } = verdict;
  const title: JudgedLine = { look: "title", text: `? ${describeAsking(request, verdict)}` };
  const refused = describeRefusedEdit(verdict);
  const notes: JudgedLine[] = refused === undefined ? [] : [{ look: "note", text: refused }];
  const subject = [title, ...notes, ...describeSubject(request), ...describeWish(request, verdict)];
  const dialog: ApprovalDialog = {
    type: "approval",
    content: [...subject, ...describeMarks(subject), ...describeAlways(grants)],
    hasAlways: grants.length > 0,
    stored: grants.flatMap(describeStored),
    scroll: 0,
    wasEndSeen: false,
    isEditable: judgedCommand(request) !== undefined && !verdict.isFixed,
    guardedUntil: 0,
    ...(isElsewhere && { isUnfocused: true, hasDraft: true }),
  };
  return scrollTo(dialog, 0, room);
}

/** What the model says for itself. */
function describeWish(request: ApprovalRequest, verdict: AskedVerdict): JudgedLine[] {
  const wish = judgedWish(request, verdict);
  if (wish === undefined) return [];
  return [
    { look: "note", text: WISH_HEAD },
    { look: "quote", text: wish },
  ];
}

function describeSubject(request: ApprovalRequest): JudgedLine[] {
  const { permission, details = {} } = request;
  const command = judgedCommand(request);
  if (command !== undefined) return toLines(formatJudgedText(command));
  const path = judgedPath(request);
  if (path === undefined) return toLines(formatJudgedText(JSON.stringify(details, undefined, 2)));
  const change = typeof details.diff === "string" ? details.diff.trimEnd().split("\n").map(toDiffLine) : [];
  return [{ look: "subject", text: `${permission} ${formatJudgedLine(path)}` }, ...change];
}

function toLines(formatted: string): JudgedLine[] {
  return formatted.split("\n").map((text) => ({ look: "subject", text }));
}

/** A change is read by its colours. */
function toDiffLine(line: string): JudgedLine {
  const text = formatJudgedLine(line);
  if (/^\+(?!\+\+ )/.test(line)) return { look: "added", text };
  if (/^-(?!-- )/.test(line)) return { look: "removed", text };
  return { look: "subject", text };
}

function describeMarks(lines: readonly JudgedLine[]): JudgedLine[] {
  if (!lines.some(({ text }) => hasMark(text))) return [];
  return [{ look: "note", text: `${formatMark("…")} is a note about the text, never a part of it` }];
}

function describeAlways(grants: NonNullable<ApprovalVerdict["grants"]>): JudgedLine[] {
  if (grants.length === 0) return [];
  return [{ look: "note", text: "“always” would allow:" }, ...grants.map(toGrantLine)];
}

/** All of it, also where the question says no more than that it is exactly what stands there. */
function describeStored(grant: Grant): JudgedLine[] {
  const line = toGrantLine(grant);
  if (grant.kind === "command_line") return [line, ...toLines(formatJudgedText(grant.text))];
  return grant.kind === "call" ? [line, ...toLines(formatJudgedText(grant.details))] : [line];
}

function toGrantLine(grant: Grant): JudgedLine {
  return { look: "grant", text: formatJudgedLine(describeGrant(grant)) };
}
