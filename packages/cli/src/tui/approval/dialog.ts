import { type AskedVerdict, requestedCommand } from "@diligent/core/harness";
import { describeGrant } from "@diligent/core/interactive";
import type { ApprovalRequest, ApprovalVerdict, Grant } from "@diligent/core/run";
import {
  describeAsking,
  describeRefusedEdit,
  requestedPath,
  toEscapedRequest,
  WISH_HEAD,
} from "../../approval/describe-request.ts";
import { escapeLine, escapeText, formatMark, hasMark } from "../../approval/escaped-text.ts";
import { type ActionId, type Keymap, nameForPeople } from "../keys/keymap.ts";
import { isPrintableAscii, readTokens } from "../screen/line.ts";
import { wrapText } from "../screen/screen-text.ts";
import { expandTabs } from "../text.ts";
import type { ApprovalDialog, EscapedLine } from "../view.ts";

/** A request for consent as the screen shows it; `isElsewhere`: the user is writing a prompt. Nobody is guarded yet against keys that were meant for something else. */
export function toApprovalDialog(
  request: ApprovalRequest,
  verdict: AskedVerdict,
  room: Room,
  { isElsewhere = false }: { isElsewhere?: boolean } = {},
): ApprovalDialog {
  const { grants = [] } = verdict;
  const title: EscapedLine = { look: "title", text: `? ${describeAsking(request, verdict)}` };
  const refused = describeRefusedEdit(verdict);
  const notes: EscapedLine[] = refused === undefined ? [] : [{ look: "note", text: refused }];
  const subject = [title, ...notes, ...describeSubject(request), ...describeRequest(request, verdict)];
  const dialog: ApprovalDialog = {
    type: "approval",
    content: [...subject, ...describeMarks(subject), ...describeAlways(grants)],
    hasAlways: grants.length > 0,
    stored: grants.flatMap(describeStored),
    scroll: 0,
    wasEndSeen: false,
    isEditable: requestedCommand(request) !== undefined && !verdict.isFixed,
    guardedUntil: 0,
    ...(isElsewhere && { isUnfocused: true, hasDraft: true }),
  };
  return scrollTo(dialog, 0, room);
}

/** What the model says for itself. */
function describeRequest(request: ApprovalRequest, verdict: AskedVerdict): EscapedLine[] {
  const wish = toEscapedRequest(request, verdict);
  if (wish === undefined) return [];
  return [
    { look: "note", text: WISH_HEAD },
    { look: "quote", text: wish },
  ];
}

function describeSubject(request: ApprovalRequest): EscapedLine[] {
  const { permission, details = {} } = request;
  const command = requestedCommand(request);
  if (command !== undefined) return toLines(escapeText(command));
  const path = requestedPath(request);
  if (path === undefined) return toLines(escapeText(JSON.stringify(details, undefined, 2)));
  const change = typeof details.diff === "string" ? details.diff.trimEnd().split("\n").map(toDiffLine) : [];
  return [{ look: "subject", text: `${permission} ${escapeLine(path)}` }, ...change];
}

function toLines(formatted: string): EscapedLine[] {
  return formatted.split("\n").map((text) => ({ look: "subject", text }));
}

/** A change is read by its colours. */
function toDiffLine(line: string): EscapedLine {
  const text = escapeLine(line);
  if (/^\+(?!\+\+ )/.test(line)) return { look: "added", text };
  if (/^-(?!-- )/.test(line)) return { look: "removed", text };
  return { look: "subject", text };
}

function describeMarks(lines: readonly EscapedLine[]): EscapedLine[] {
  if (!lines.some(({ text }) => hasMark(text))) return [];
  return [{ look: "note", text: `${formatMark("…")} is a note by diligent, not part of the text` }];
}

function describeAlways(grants: NonNullable<ApprovalVerdict["grants"]>): EscapedLine[] {
  if (grants.length === 0) return [];
  return [{ look: "note", text: "“Always” will allow:" }, ...grants.map(toGrantLine)];
}

/** All of it, also where the question says no more than that it is exactly what stands there. */
function describeStored(grant: Grant): EscapedLine[] {
  const line = toGrantLine(grant);
  if (grant.kind === "command_line") return [line, ...toLines(escapeText(grant.text))];
  return grant.kind === "call" ? [line, ...toLines(escapeText(grant.details))] : [line];
}

function toGrantLine(grant: Grant): EscapedLine {
  return { look: "grant", text: escapeLine(describeGrant(grant)) };
}

// The line that says how much there is, a hint, the status line, and the line for what is above the dialog.
const OTHER_ROWS = 4;

/** Of a prompt that is being written so much stands below the question. */
const DRAFT_ROWS = 1;
const INDENT_COLUMNS = 2;
// Where there would be fewer, the answers are put shortly.
const COMFORTABLE_ROWS = 4;
// On a lower screen there is no room for both the content and the answers.
const MIN_SCREEN_ROWS = OTHER_ROWS + 2;

/** What a question is shown in: the screen, and the keys that its answers are given with. */
export interface Room {
  /** Of the screen. */
  rows: number;
  columns: number;
  keymap: Keymap;
}

/** A row of a dialog's content, without its indentation. */
export interface ContentRow {
  text: string;
  look: EscapedLine["look"];
  /** It goes on with the line of the row above. */
  isContinued: boolean;
}

interface Part {
  rows: readonly ContentRow[];
  /** The place of the first in the content. */
  first: number;
  total: number;
}

// A content may be megabytes, and is drawn with every frame.
const laidOut = new WeakMap<readonly EscapedLine[], { columns: number; rows: readonly ContentRow[] }>();

/** The rows that are shown of a dialog's content; none where the screen has no room for any. */
export function shownContent(dialog: ApprovalDialog, room: Room): Part {
  const rows = contentRows(dialog, room.columns);
  const first = Math.min(dialog.scroll, lastScroll(dialog, room));
  return { rows: rows.slice(first, first + pageRows(dialog, room)), first, total: rows.length };
}

/** How many rows of the content there is room for; at least one on a screen where consent can be given at all. */
export function pageRows(dialog: ApprovalDialog, room: Room): number {
  const answers = answerRows({ ...dialog, wasEndSeen: true }, room).length;
  return Math.max(0, room.rows - OTHER_ROWS - answers - (dialog.hasDraft ? DRAFT_ROWS : 0));
}

/** What may be pressed, as rows that leave room for the content. */
export function answerRows(dialog: ApprovalDialog, { rows, columns, keymap }: Room): string[] {
  // The same wording before and after the end was seen.
  const full = wrapText(answerTexts({ ...dialog, wasEndSeen: true }, keymap), columns);
  const isShort = rows - OTHER_ROWS - full.length < COMFORTABLE_ROWS;
  const most = rows < MIN_SCREEN_ROWS ? rows : rows - OTHER_ROWS - 1;
  return wrapText(answerTexts(dialog, keymap, { isShort }), columns).slice(0, most);
}

/**
 * The dialog scrolled to a row of its content. Whether its end was seen is noted; it has to be seen anew once the screen has
 * no room for any of it.
 */
export function scrollTo(dialog: ApprovalDialog, row: number, room: Room): ApprovalDialog {
  const last = lastScroll(dialog, room);
  const scroll = Math.max(0, Math.min(last, row));
  const wasEndSeen = pageRows(dialog, room) > 0 && (dialog.wasEndSeen || scroll === last);
  return { ...dialog, scroll, wasEndSeen };
}

function lastScroll(dialog: ApprovalDialog, room: Room): number {
  return Math.max(0, contentRows(dialog, room.columns).length - pageRows(dialog, room));
}

function contentRows({ content }: ApprovalDialog, columns: number): readonly ContentRow[] {
  const known = laidOut.get(content);
  if (known?.columns === columns) return known.rows;
  const rows = content.flatMap((line) => layOut(line, columns));
  laidOut.set(content, { columns, rows });
  return rows;
}

function layOut({ text, look }: EscapedLine, columns: number): ContentRow[] {
  const isOurs = look === "title" || look === "note";
  const line = expandTabs(text);
  const rows = isOurs ? wrapText(line, columns) : divideLine(line, columns - INDENT_COLUMNS);
  return rows.map((row, index) => ({ text: row, look, isContinued: index > 0 }));
}

/** Rows that together are the line: where it is broken no blank is lost, as it would be between words. */
function divideLine(line: string, columns: number): string[] {
  const width = Math.max(1, columns);
  if (isPrintableAscii(line))
    return line === "" ? [""] : (line.match(new RegExp(`.{1,${width}}`, "g")) ?? []);
  const rows: string[] = [];
  let row = "";
  let room = width;
  for (const { text, columns: taken } of readTokens(line)) {
    if (taken > room && row !== "") {
      rows.push(row);
      [row, room] = ["", width];
    }
    row += text;
    room -= taken;
  }
  return [...rows, row];
}

type AnswerableDialog = Pick<
  ApprovalDialog,
  "hasAlways" | "isEditable" | "wasEndSeen" | "confirms" | "isUnfocused"
>;

/** What may be pressed, on one line; `isShort` where there is little room. */
function answerTexts(
  { hasAlways, isEditable, wasEndSeen, confirms, isUnfocused }: AnswerableDialog,
  keymap: Keymap,
  { isShort = false } = {},
): string {
  const text = (action: AnswerAction, meaning: string) => {
    const key = nameAnswerKey(action, keymap);
    return key === undefined ? [] : [`${key} ${meaning}`];
  };
  if (isUnfocused) {
    const focus = [nameAnswerKey("approval.focus", keymap), nameAnswerKey("list.down", keymap)];
    const keys = focus.filter((key) => key !== undefined).join(" or ");
    return [
      isShort ? `${keys} answer` : `You were typing: press ${keys} to answer this`,
      ...stopText(keymap),
    ].join(" · ");
  }
  if (confirms) {
    const yes = wasEndSeen ? text("approval.once", CONFIRM_TEXTS[confirms.scope]) : [];
    const scroll = wasEndSeen ? [] : [`${scrollKeys(keymap)} to its end`];
    return [...scroll, ...yes, ...text("approval.reject", "back")].join(" · ");
  }
  const no = text("approval.reject", "no");
  const reject = [
    ...(no.length > 0 ? no : text("app.clear", "no")),
    ...text("approval.rejectWithMessage", isShort ? "no, because" : "no, with a message"),
  ];
  if (!wasEndSeen) return [`${scrollKeys(keymap)} to its end`, ...reject].join(" · ");
  const always = [
    ...text("approval.session", isShort ? "session" : "always in this session"),
    ...text("approval.project", isShort ? "project" : "always in this project"),
  ];
  return [
    ...text("approval.once", "yes"),
    ...(hasAlways ? always : []),
    ...reject,
    ...(isEditable ? text("approval.edit", "edit") : []),
  ].join(" · ");
}

const CONFIRM_TEXTS = {
  session: "yes, always in this session",
  project: "yes, always in this project",
} as const;

/** The key that says no and writes nothing, for somebody who is writing. */
function stopText(keymap: Keymap): string[] {
  const key = [...keymap.keysOf("approval.reject"), ...keymap.keysOf("app.clear")].find(
    (each) => [...each].length > 1 && each !== "space" && each !== "enter",
  );
  return key === undefined ? [] : [`${nameForPeople(key)} no`];
}

/** What scrolls on in a question, such as `↓ or Space`. */
export function scrollKeys(keymap: Keymap): string {
  const names = (["list.down", "approval.pageDown", "list.pageDown"] as const)
    .map((action) => nameAnswerKey(action, keymap))
    .filter((name) => name !== undefined);
  return names.length === 0 ? "scroll" : names.slice(0, 2).join(" or ");
}

/** An action that can be meant while a question is open. */
export type AnswerAction = (typeof IN_ORDER)[number];

/** The key that does it while a question is open, as people write it; undefined where none does. */
function nameAnswerKey(action: AnswerAction, keymap: Keymap): string | undefined {
  const key = keymap.keysOf(action).find((each) => readAnswerKey(each, keymap) === action);
  return key === undefined ? undefined : nameForPeople(key);
}

/** What a key can mean to a question. Of several that share a key the first holds, so that a no goes before a yes. */
const IN_ORDER = [
  "list.up",
  "list.down",
  "list.pageUp",
  "list.pageDown",
  "approval.pageDown",
  "approval.reject",
  "app.clear",
  "approval.rejectWithMessage",
  "approval.focus",
  "approval.once",
  "approval.session",
  "approval.project",
  "approval.edit",
] as const satisfies readonly ActionId[];

/** What a key means while a question is open; undefined when nothing. */
export function readAnswerKey(key: string, keymap: Keymap): AnswerAction | undefined {
  return IN_ORDER.find((action) => keymap.matches(key, action));
}
