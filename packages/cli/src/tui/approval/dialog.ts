import { type AskedVerdict, requestedCommand } from "@diligent/core/harness";
import { describeGrant } from "@diligent/core/interactive";
import type { ApprovalRequest, Grant } from "@diligent/core/run";
import {
  describeAsking,
  describeHostRequest,
  describeRefusedEdit,
  describeServerToolRequest,
  describeTask,
  REASON_HEADING,
  readTriedChanges,
  requestedPaths,
  toEscapedRequest,
  toolChange,
} from "../../approval/describe-request.ts";
import { escapeLine, escapeText, formatMark, hasMark } from "../../approval/escaped-text.ts";
import { type ActionId, type Keymap, nameForPeople } from "../keys/keymap.ts";
import { isPrintableAscii, readTokens } from "../screen/line.ts";
import { wrapText } from "../screen/screen-text.ts";
import { expandTabs } from "../text.ts";
import type { ApprovalDialog, EscapedLine, StoredChoice } from "../view.ts";

/**
 * An approval request as the screen shows it. `isElsewhere`: the user is typing a prompt. No guard against
 * keys meant for something else is set yet.
 */
export function toApprovalDialog(
  request: ApprovalRequest,
  verdict: AskedVerdict,
  room: Room,
  { isElsewhere = false }: { isElsewhere?: boolean } = {},
): ApprovalDialog {
  const { grants = [] } = verdict;
  const title: EscapedLine = { look: "title", text: `? ${describeAsking(request, verdict)}` };
  const refused = describeRefusedEdit(verdict);
  const facts = [describeTask(request), refused].filter((text) => text !== undefined);
  const notes = facts.map((text): EscapedLine => ({ look: "note", text }));
  const subject = [title, ...notes, ...describeSubject(request), ...describeRequest(request, verdict)];
  const dialog: ApprovalDialog = {
    type: "approval",
    content: [...subject, ...describeMarks(subject), ...describeAlways(verdict)],
    hasAlways: grants.length > 0,
    stored: describeChoices(verdict),
    scroll: 0,
    wasEndSeen: false,
    isEditable: requestedCommand(request) !== undefined && !verdict.isFixed,
    ...(verdict.mayTry && { mayTry: true }),
    ...(verdict.gate === "try" && { isTried: true }),
    guardedUntil: 0,
    ...(isElsewhere && { isUnfocused: true, hasDraft: true }),
  };
  return scrollTo(dialog, 0, room);
}

/** The model's own text. */
function describeRequest(request: ApprovalRequest, verdict: AskedVerdict): EscapedLine[] {
  const reason = toEscapedRequest(request, verdict);
  if (reason === undefined) return [];
  return [
    { look: "note", text: REASON_HEADING },
    { look: "quote", text: reason },
  ];
}

function describeSubject(request: ApprovalRequest): EscapedLine[] {
  const { permission, details = {} } = request;
  const command = requestedCommand(request);
  if (command !== undefined) return toLines(escapeText(command));
  const host = describeHostRequest(request);
  if (host !== undefined) return toLines(host);
  const tried = readTriedChanges(request);
  if (tried) {
    const subjects = tried.lines.map((text): EscapedLine => ({ look: "subject", text: escapeLine(text) }));
    return [...subjects, ...tried.diff.map(toDiffLine)];
  }
  const serverTool = describeServerToolRequest(request);
  if (serverTool !== undefined) {
    const change = toolChange(request);
    return [...toLines(serverTool), ...(change === undefined ? [] : change.split("\n").map(toDiffLine))];
  }
  const paths = requestedPaths(request);
  if (paths.length === 0) return toLines(escapeText(JSON.stringify(details, undefined, 2)));
  const change = typeof details.diff === "string" ? details.diff.trimEnd().split("\n").map(toDiffLine) : [];
  const subjects = paths.map((path) => `${permission} ${escapeLine(path)}`);
  return [...subjects.map((text): EscapedLine => ({ look: "subject", text })), ...change];
}

function toLines(formatted: string): EscapedLine[] {
  return formatted.split("\n").map((text) => ({ look: "subject", text }));
}

/** A diff is read by its colours. */
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

function describeAlways({ grants = [], choices = [] }: AskedVerdict): EscapedLine[] {
  if (grants.length === 0) return [];
  const text = choices.length > 1 ? "“Always” will allow this, or more by choice:" : "“Always” will allow:";
  return [{ look: "note", text }, ...grants.map(toGrantLine)];
}

/** What each choice allows, completely, and commands that it covers. */
function describeChoices({ grants = [], choices = [] }: AskedVerdict): StoredChoice[] {
  if (grants.length === 0) return [];
  const exact = grants.flatMap(describeStored);
  const [shown, ...wider] = choices.map(({ reach, allows, examples }) => ({
    reach,
    lines: [
      ...(reach === "exact"
        ? exact
        : allows.map((text): EscapedLine => ({ look: "grant", text: escapeLine(text) }))),
      ...(examples.length > 0 ? [{ look: "note" as const, text: "For example:" }] : []),
      ...examples.map((text): EscapedLine => ({ look: "subject", text: escapeLine(text) })),
    ],
  }));
  return [shown ?? { reach: "exact", lines: exact }, ...wider];
}

/** The complete grant, even if the question only says that exactly this is allowed. */
function describeStored(grant: Grant): EscapedLine[] {
  const line = toGrantLine(grant);
  if (grant.kind === "command_line") return [line, ...toLines(escapeText(grant.text))];
  return grant.kind === "call" ? [line, ...toLines(escapeText(grant.details))] : [line];
}

function toGrantLine(grant: Grant): EscapedLine {
  return { look: "grant", text: escapeLine(describeGrant(grant)) };
}

// The line with the amount of content, a hint, the status line, and the line for what is above the dialog.
const OTHER_ROWS = 4;

/** This many rows of a prompt being typed stay visible below the question. */
const DRAFT_ROWS = 1;
const INDENT_COLUMNS = 2;
// If fewer rows are left, the answers are shortened.
const COMFORTABLE_ROWS = 4;
// A lower screen has no room for both the content and the answers.
const MIN_SCREEN_ROWS = OTHER_ROWS + 2;

/** Where a question is shown: the screen, and the keys for its answers. */
export interface Room {
  /** The height of the screen. */
  rows: number;
  columns: number;
  keymap: Keymap;
}

/** A row of a dialog's content, without its indentation. */
export interface ContentRow {
  text: string;
  look: EscapedLine["look"];
  /** It continues the line of the row above. */
  isContinued: boolean;
}

interface Part {
  rows: readonly ContentRow[];
  /** The index of the first row in the content. */
  first: number;
  total: number;
}

// The content may be megabytes, and is drawn with every frame.
const laidOut = new WeakMap<readonly EscapedLine[], { columns: number; rows: readonly ContentRow[] }>();

/** The visible rows of a dialog's content; none if the screen is too small. */
export function shownContent(dialog: ApprovalDialog, room: Room): Part {
  const rows = contentRows(dialog, room.columns);
  const first = Math.min(dialog.scroll, lastScroll(dialog, room));
  return { rows: rows.slice(first, first + pageRows(dialog, room)), first, total: rows.length };
}

/** How many rows of content fit; at least one on a screen on which approval is possible at all. */
export function pageRows(dialog: ApprovalDialog, room: Room): number {
  const answers = answerRows({ ...dialog, wasEndSeen: true }, room).length;
  return Math.max(0, room.rows - OTHER_ROWS - answers - (dialog.hasDraft ? DRAFT_ROWS : 0));
}

/** The possible answers, as rows that leave room for the content. */
export function answerRows(dialog: ApprovalDialog, { rows, columns, keymap }: Room): string[] {
  // The wording is the same before and after the end was seen.
  const full = wrapText(answerTexts({ ...dialog, wasEndSeen: true }, keymap), columns);
  const isShort = rows - OTHER_ROWS - full.length < COMFORTABLE_ROWS;
  const most = rows < MIN_SCREEN_ROWS ? rows : rows - OTHER_ROWS - 1;
  return wrapText(answerTexts(dialog, keymap, { isShort }), columns).slice(0, most);
}

/**
 * The dialog scrolled to a row of its content. Records whether the end was seen; it must be seen again after
 * the screen had no room for any of it.
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

/** The line broken into rows without losing any blanks, unlike wrapping at words. */
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
  "hasAlways" | "isEditable" | "mayTry" | "isTried" | "wasEndSeen" | "confirms" | "isUnfocused"
>;

/** The possible answers on one line; `isShort` if space is short. */
function answerTexts(
  { hasAlways, isEditable, mayTry, isTried, wasEndSeen, confirms, isUnfocused }: AnswerableDialog,
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
    const { stored } = confirms.question;
    const next = stored[(confirms.choice + 1) % stored.length];
    const other = next && stored.length > 1 ? text("approval.focus", CHOICE_TEXTS[next.reach]) : [];
    return [...scroll, ...yes, ...other, ...text("approval.reject", "back")].join(" · ");
  }
  if (isTried) {
    const isEscape = keymap.keysOf("approval.reject").includes("escape");
    const denying = [...text("approval.reject", "drop"), ...text("app.clear", "drop")];
    const drop = isEscape ? [`${nameForPeople("escape")} drop`] : denying.slice(0, 1);
    const apply = wasEndSeen ? text("approval.apply", "apply") : [`${scrollKeys(keymap)} to its end`];
    return [...apply, ...drop].join(" · ");
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
    ...(mayTry ? text("approval.try", "try first") : []),
    ...reject,
    ...(isEditable ? text("approval.edit", "edit") : []),
  ].join(" · ");
}

const CONFIRM_TEXTS = {
  session: "yes, always in this session",
  project: "yes, always in this project",
} as const;

const CHOICE_TEXTS = {
  exact: "only this",
  prefix: "with other words, too",
  program: "every call of it",
} as const;

/** The key that denies and types nothing, for a user who is typing. */
function stopText(keymap: Keymap): string[] {
  const key = [...keymap.keysOf("approval.reject"), ...keymap.keysOf("app.clear")].find(
    (each) => [...each].length > 1 && each !== "space" && each !== "enter",
  );
  return key === undefined ? [] : [`${nameForPeople(key)} no`];
}

/** The keys that scroll in a question, such as `↓ or Space`. */
export function scrollKeys(keymap: Keymap): string {
  const names = (["list.down", "approval.pageDown", "list.pageDown"] as const)
    .map((action) => nameAnswerKey(action, keymap))
    .filter((name) => name !== undefined);
  return names.length === 0 ? "scroll" : names.slice(0, 2).join(" or ");
}

/** An action that is possible while a question is open. */
export type AnswerAction = (typeof IN_ORDER)[number];

/** The key for it while a question is open, as shown to people; undefined if there is none. */
function nameAnswerKey(action: AnswerAction, keymap: Keymap): string | undefined {
  const key = keymap
    .keysOf(action)
    .find((each) => readAnswerKey(each, keymap) === action || action === "approval.apply");
  return key === undefined ? undefined : nameForPeople(key);
}

/**
 * The possible meanings of a key in a question. If several share a key, the first applies, so that a denial
 * precedes an approval.
 */
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
  "approval.try",
  "approval.edit",
  "approval.apply",
] as const satisfies readonly ActionId[];

/** The meaning of a key while a question is open; undefined if it has none. */
export function readAnswerKey(key: string, keymap: Keymap): AnswerAction | undefined {
  return IN_ORDER.find((action) => keymap.matches(key, action));
}
