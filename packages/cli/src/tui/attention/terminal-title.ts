import { toSingleLine } from "../../terminal-text.ts";
import { isWorking, type View } from "../view.ts";

/** What the title shows of a session: nothing to do, a run that goes on, a question that waits. */
export type TitleState = "idle" | "working" | "asking";

// What a tab shows of a title is short as a rule.
const MAX_PROJECT_COLUMNS = 40;
const MARKS: Readonly<Record<TitleState, string>> = { idle: "", working: "● ", asking: "? " };

/** Keeps the terminal's title on a stack, and takes it from there again; terminals without one pass over it. */
export const PUSH_TITLE = "\x1b[22;0t";
/** Ends what `PUSH_TITLE` began, once for each. */
export const POP_TITLE = "\x1b[23;0t";

/** A question goes before the run that waits for its answer. */
export function titleState(view: Pick<View, "activity" | "dialog" | "shell">): TitleState {
  if (view.dialog?.type === "approval") return "asking";
  return isWorking(view) ? "working" : "idle";
}

/** `● diligent – project`. The project's name is somebody else's text. */
export function titleText(project: string, state: TitleState): string {
  const name = toSingleLine(project, MAX_PROJECT_COLUMNS);
  return `${MARKS[state]}diligent${name === "" ? "" : ` – ${name}`}`;
}

/** Window title and icon name. Ended by BEL, which more terminals know than ST. */
export function titleSequence(text: string): string {
  return `\x1b]0;${text}\x07`;
}

/** False for terminals that would show the sequence as text, or have no title: the Linux console and the real old ones. */
export function hasTitle({ TERM = "" }: Readonly<Record<string, string | undefined>>): boolean {
  return TERM !== "" && !/^(?:dumb|linux|cons25|vt\d|ansi|unknown)/.test(TERM);
}
