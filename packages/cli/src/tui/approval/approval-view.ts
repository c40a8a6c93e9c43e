import { fitLine, wrapText } from "../screen/screen-text.ts";
import type { Theme } from "../theme.ts";
import type { ApprovalDialog } from "../view.ts";
import { shownSubjectRows, subjectRows } from "./subject-rows.ts";

interface Look {
  width: number;
  rows: number;
  theme: Theme;
}

/** What waits for consent, in place of the editor: who asks and why, the whole of it, what each answer means. */
export function approvalLines(dialog: ApprovalDialog, { width, rows, theme }: Look): string[] {
  const { toolName, gate, reason, always, message } = dialog;
  const title = `${theme.warning("?")} ${theme.bold(toolName)} needs your consent: ${reason} ${theme.dim(`[${gate}]`)}`;
  const answers =
    message === undefined
      ? answerLines(dialog, theme)
      : [`Message to the model: ${message}▏`, theme.dim("Enter send · Esc back")];
  return [
    ...wrapText(title, width),
    ...subjectLines(dialog, { width, rows, theme }),
    ...(always.length > 0 && message === undefined ? alwaysLines(always, theme) : []),
    ...answers,
  ].map((line) => fitLine(line, width));
}

function subjectLines(dialog: ApprovalDialog, { width, rows, theme }: Look): string[] {
  const all = subjectRows(dialog, width);
  const count = shownSubjectRows(dialog, rows);
  const end = Math.min(all.length, dialog.scroll + count);
  const shown = all.slice(dialog.scroll, end).map((line) => `  ${paint(line, theme)}`);
  if (all.length <= count) return shown;
  const below = all.length - end;
  const place = below > 0 ? `${below} more lines: ↓ or Space` : "end";
  return [...shown, theme.dim(`  lines ${dialog.scroll + 1}–${end} of ${all.length} (${place})`)];
}

/** A change is read by its colours. */
function paint(line: string, theme: Theme): string {
  if (/^\+(?!\+\+ )/.test(line)) return theme.added(line);
  if (/^-(?!-- )/.test(line)) return theme.removed(line);
  return line;
}

function alwaysLines(always: readonly string[], theme: Theme): string[] {
  return [theme.dim("  “always” would allow:"), ...always.map((line) => theme.dim(`    ${line}`))];
}

function answerLines({ always, isEditable, wasEndSeen }: ApprovalDialog, theme: Theme): string[] {
  const reject = ["n no", "m no, with a message"];
  if (!wasEndSeen) return [theme.dim(["↓ or Space to its end", ...reject].join(" · "))];
  const allow = [
    "y yes",
    ...(always.length > 0 ? ["a always in this session", "p always in this project"] : []),
  ];
  return [theme.accent([...allow, ...reject, ...(isEditable ? ["e edit"] : [])].join(" · "))];
}
