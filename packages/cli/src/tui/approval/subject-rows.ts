import { wrapText } from "../screen/screen-text.ts";
import type { ApprovalDialog } from "../view.ts";

// Title, reason, what "always" would allow, the answers, and the lines between them.
const OTHER_ROWS = 9;
const MIN_ROWS = 3;

/** The subject as rows of at most `columns`. */
export function subjectRows({ subject }: Pick<ApprovalDialog, "subject">, columns: number): string[] {
  return subject.split("\n").flatMap((line) => wrapText(line, Math.max(1, columns - 2)));
}

/** How many rows of the subject there is room for. */
export function shownSubjectRows({ always }: Pick<ApprovalDialog, "always">, rows: number): number {
  return Math.max(MIN_ROWS, rows - OTHER_ROWS - always.length);
}

/** The dialog scrolled to a row of its subject; whether its end was seen is noted. */
export function scrollTo(
  dialog: ApprovalDialog,
  row: number,
  { rows, columns }: { rows: number; columns: number },
): ApprovalDialog {
  const last = Math.max(0, subjectRows(dialog, columns).length - shownSubjectRows(dialog, rows));
  const scroll = Math.max(0, Math.min(last, row));
  return { ...dialog, scroll, wasEndSeen: dialog.wasEndSeen || scroll === last };
}
