import type { Keymap } from "../keys/keymap.ts";
import { readTokens } from "../screen/line-tokens.ts";
import { wrapText } from "../screen/screen-text.ts";
import { isPrintableAscii } from "../screen/text-width.ts";
import { expandTabs } from "../text/expand-tabs.ts";
import type { ApprovalDialog, JudgedLine } from "../view.ts";
import { answerTexts } from "./answer-texts.ts";

// The line that says how much there is, a hint, the status line, and the line for what is above the dialog.
const OTHER_ROWS = 4;
/** Of a prompt that is being written so much stands below the question. */
export const DRAFT_ROWS = 1;
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
  look: JudgedLine["look"];
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
const laidOut = new WeakMap<readonly JudgedLine[], { columns: number; rows: readonly ContentRow[] }>();

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

function layOut({ text, look }: JudgedLine, columns: number): ContentRow[] {
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
