import { assertNever } from "@diligent/core/run";
import { CURSOR_MARKER } from "@earendil-works/pi-tui/dist/tui.js";
import { sanitizeTerminalText } from "../../text/terminal-text.ts";
import { type Keymap, keyTexts } from "../keys/keymap.ts";
import { fitLine, wrapText } from "../screen/screen-text.ts";
import { expandTabs } from "../text.ts";
import type { Theme } from "../theme.ts";
import type { ApprovalDialog } from "../view.ts";
import { answerRows, type ContentRow, type Room, scrollKeys, scrollTo, shownContent } from "./dialog.ts";

interface DialogLayout {
  width: number;
  rows: number;
  theme: Theme;
  keymap: Keymap;
  /** The field for editing the command, or else the prompt being typed, as rows. */
  editor?: readonly string[];
}

// A longer message shows its end, where it grows.
const MAX_MESSAGE_ROWS = 3;

/**
 * The pending approval, shown instead of the editor: who asks and why, the complete action, and the meaning
 * of each answer.
 */
export function approvalLines(dialog: ApprovalDialog, layout: DialogLayout): string[] {
  const { width, rows, theme, keymap, editor = [] } = layout;
  if (dialog.isEditing) return fieldLines(layout);
  const room = { rows, columns: width, keymap };
  const shown = shownContent(dialog, room);
  const end = shown.first + shown.rows.length;
  const more = shown.total > end ? `${shown.total - end} more lines: ${scrollKeys(keymap)}` : "end";
  const place =
    shown.rows.length === 0
      ? "The screen is too small to show this"
      : `  lines ${shown.first + 1}–${end} of ${shown.total} (${more})`;
  return [
    ...shown.rows.map((row) => paintRow(row, theme)),
    ...(shown.rows.length < shown.total ? [theme.dim(place)] : []),
    ...footer(scrollTo(dialog, dialog.scroll, room), room, theme),
    ...(dialog.hasDraft ? draftRows(editor, dialog).map(theme.dim) : []),
  ].map((line) => fitLine(line, width));
}

/** The command while it is being edited. The result is evaluated as a whole afterwards. */
function fieldLines({ width, theme, keymap, editor = [] }: DialogLayout): string[] {
  const keys = keyTexts(keymap, [
    ["list.close", "back"],
    ["app.externalEditor", "$EDITOR"],
  ]);
  return [
    fitLine(theme.bold("Edit the command; you confirm it again before it runs"), width),
    ...editor,
    ...wrapText(`Enter done · ${keys}`, width).map(theme.dim),
  ];
}

/** The row being typed in; it shows a cursor only while keys go there. */
function draftRows(editor: readonly string[], { isUnfocused }: ApprovalDialog): string[] {
  const row = editor.find((each) => each.includes(CURSOR_MARKER)) ?? editor.at(-1) ?? "";
  return [isUnfocused ? row : row.replaceAll(CURSOR_MARKER, "")];
}

/** A bar precedes the content in question, so that none of it can pass for our own text. */
function paintRow({ text, look: layout, isContinued }: ContentRow, theme: Theme): string {
  const bar = theme.dim(isContinued ? "┊ " : "│ ");
  switch (layout) {
    case "title":
      return isContinued ? theme.bold(text) : theme.warning(text.slice(0, 1)) + theme.bold(text.slice(1));
    case "note":
      return theme.dim(text);
    case "grant":
      return (isContinued ? "  " : theme.dim("› ")) + text;
    case "quote":
    case "subject":
      return bar + text;
    case "added":
      return bar + theme.added(text);
    case "removed":
      return bar + theme.removed(text);
    default:
      return assertNever(layout);
  }
}

function footer(dialog: ApprovalDialog, room: Room, theme: Theme): string[] {
  const { message, wasEndSeen } = dialog;
  if (message === undefined) {
    const paint = wasEndSeen || dialog.isUnfocused ? theme.accent : theme.dim;
    return answerRows(dialog, room).map(paint);
  }
  const written = expandTabs(sanitizeTerminalText(`Message to the model: ${message}▏`));
  const keys = keyTexts(room.keymap, [
    ["list.choose", "send"],
    ["list.close", "back"],
  ]);
  return [...wrapText(written, room.columns).slice(-MAX_MESSAGE_ROWS), theme.dim(keys)];
}
