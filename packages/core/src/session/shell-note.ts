import type { ContentBlock, UserMessage } from "../types.ts";

/** A command that the user ran in the shell themselves, and what came of it. */
export interface ShellNote {
  command: string;
  /** As the model reads that of a command of its own: cut in the middle where it is long, how it ended at its end. */
  output: string;
  /** Null where it was ended by a signal. */
  exitCode: number | null;
}

const MARK = "!";
const LEAD = "The user ran this command in their own shell, not through you.";
const TOLD =
  /^The user ran this command in their own shell, not through you\.(?: Exit code: (\d{1,10})\.)? Its output:\n\n/;

/** The note as a message: first the line as it was typed, then what the model has to know about it. */
export function toShellNote({ command, output, exitCode }: ShellNote): ContentBlock[] {
  const end = exitCode === null ? "" : ` Exit code: ${exitCode}.`;
  return [
    { type: "text", text: MARK + command },
    { type: "text", text: `${LEAD}${end} Its output:\n\n${output}` },
  ];
}

/** The note that a message is; undefined for what the user said otherwise. */
export function readShellNote({ content }: Pick<UserMessage, "content">): ShellNote | undefined {
  if (typeof content === "string" || content.length !== 2) return undefined;
  const [typed, told] = content;
  if (typed?.type !== "text" || told?.type !== "text" || !typed.text.startsWith(MARK)) return undefined;
  const lead = TOLD.exec(told.text);
  if (!lead) return undefined;
  const [all, exitCode] = lead;
  return {
    command: typed.text.slice(MARK.length),
    output: told.text.slice(all.length),
    exitCode: exitCode === undefined ? null : Number(exitCode),
  };
}
