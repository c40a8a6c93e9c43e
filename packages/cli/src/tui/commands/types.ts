import type { ModelChange, MoveControl, ProjectSession } from "@diligent/core/harness";
import type { Environment } from "@diligent/core/run";
import type { Reopening } from "../../session/session-controller.ts";
import type { FileMove } from "../../undo/describe.ts";
import type { EditorBindings, Keymap } from "../keys/keymap.ts";
import type { Picker } from "../pickers/picker.ts";
import { visibleWidth, wrapText } from "../screen/screen-text.ts";
import { type Block, notice, type View } from "../view.ts";

/** What a command can do; `app.ts` implements it. Errors are shown on one line. */
export interface CommandContext {
  /** The session, once it is open. */
  session(): Promise<ProjectSession>;
  view(): View;
  /** Writes a block to the transcript. */
  show(block: Block): void;
  /** Writes plain lines to the transcript. */
  print(text: string): void;
  change(change: (view: View) => View): void;
  open(picker: Picker): void;
  /** The text being typed. */
  prompt(): string;
  setPrompt(text: string): void;
  /** Sends a prompt as if it had been typed. */
  send(text: string): void;
  compact(focus: string | undefined): Promise<void>;
  /**
   * Runs `work`, which restores files: its progress is shown, no other task starts meanwhile, and the user
   * can stop it. Errors are shown. @throws Error while another task is running.
   * @param how `isDryRun`: it only scans files, so quitting meanwhile leaves nothing half done.
   */
  moveFiles(
    move: FileMove,
    work: (control: MoveControl) => Promise<void>,
    how?: { isDryRun: boolean },
  ): Promise<void>;
  /** Resolves once no task is running and no prompt is queued. @param wait called first if that is not so now. */
  whenIdle(wait: () => void): Promise<void>;
  /**
   * Keeps the questions of a run off the screen until the returned function is called; omitted if they do not
   * interfere.
   */
  holdQuestions?(): () => void;
  /** Replaces the session by another one, and shows where that stands. */
  reopen(how: Reopening): Promise<void>;
  /** Switches the model or the effort, from the next request on. */
  changeModel(change: ModelChange): Promise<void>;
  /**
   * Continues after an earlier entry of the session (null: from its beginning), and shows that place; with a
   * summary, the conversation is told what happened on the abandoned branch.
   * @returns false if it was stopped or impossible, which was reported.
   */
  branch(entryId: string | null, options: { isSummarized: boolean }): Promise<boolean>;
  /** Runs a slash command by its name, for a key that is bound to it. */
  runCommand(name: string, argument?: string): Promise<void>;
  /** The effect of Shift+Tab: see `approval/permissions.ts`. */
  nextApprovalMode(): Promise<void>;
  /** Lends the terminal to another program during `run`, which must end when the signal is aborted. */
  lendTerminal<T>(run: (ended: AbortSignal) => Promise<T>): Promise<T>;
  /** See `CliIo.onAnyExit`. */
  onAnyExit(cleanUp: () => void): () => void;
  /** Writes to the terminal directly, for sequences that do not move the cursor. */
  writeRaw(sequence: string): void;
  /** The width of the screen. */
  columns(): number;
  /** Asks for a line that is not shown; omitted if a list has such a line. Empty if the user cancelled. */
  readSecret?(question: string): Promise<string>;
  /** Asks a question that is answered with yes or no; omitted if a list can ask it. False if the user cancelled. */
  confirm?(question: string): Promise<boolean>;
  quit(): void;
  readonly keymap: Keymap;
  /** The editor keys that the user has changed. */
  readonly editorKeys?: EditorBindings | undefined;
  readonly environment: Environment;
  /** True in line mode: no screen, no keys, no redrawing, no decoration. */
  readonly isPlain?: boolean;
  /**
   * Reloads the user's key bindings; they apply at once. Omitted if there are no keys.
   * @returns notes about their file, a line each.
   */
  reloadKeys?(): Promise<readonly string[]>;
  readonly commands: readonly SlashCommand[];
}

/** A slash command. */
export interface SlashCommand {
  /** Without the slash. */
  name: string;
  aliases?: readonly string[];
  /** One line, for help and completion. */
  description: string;
  /** The placeholder of its argument, such as `[focus]`. */
  argumentHint?: string;
  /** Where it comes from, if it is not part of the program. */
  source?: string;
  /** True if it can be used during a run. */
  isAlwaysPossible?: boolean;
  /** True if it is useless without a screen, such as a pager. */
  needsScreen?: boolean;
  /**
   * True if it opens a list when called without an argument; in line mode, the argument may be a number or id
   * of that list.
   */
  opensList?: boolean;
  /** True if further arguments may be a secret: they are not stored anywhere. */
  isPrivate?: boolean;
  run(argument: string, context: CommandContext): Promise<void> | void;
  /** The possible arguments, for completion. */
  complete?(prefix: string, context: CommandContext): Promise<readonly string[]> | readonly string[];
}

const GAP = "  ";
// A column narrower than this is moved below its row.
const MIN_LAST_COLUMNS = 20;
const BELOW = "      ";

/** The layout of a table's columns. */
interface RowOptions {
  /** The right-aligned columns, from 0. */
  right?: readonly number[];
  /** The width of the screen: text of the last column that does not fit continues below. */
  columns?: number;
}

/** Rows of texts as lines with aligned columns. */
export function formatRows(
  rows: readonly (readonly string[])[],
  { right = [], columns = Number.POSITIVE_INFINITY }: RowOptions = {},
): string {
  const count = Math.max(0, ...rows.map((row) => row.length));
  const widths = Array.from({ length: count }, (_, column) =>
    Math.max(...rows.map((row) => visibleWidth(row[column] ?? ""))),
  );
  const lines = rows.flatMap((row) => {
    const cells = row.map((cell, column) => {
      const spaces = " ".repeat(Math.max(0, (widths[column] ?? 0) - visibleWidth(cell)));
      return right.includes(column) ? spaces + cell : cell + spaces;
    });
    const line = (GAP + cells.join(GAP)).trimEnd();
    return visibleWidth(line) <= columns ? [line] : wrapLast(cells, columns);
  });
  return lines.join("\n");
}

function wrapLast(cells: readonly string[], columns: number): string[] {
  const before = GAP + cells.slice(0, -1).join(GAP);
  const last = cells.at(-1)?.trimEnd() ?? "";
  const indent = visibleWidth(before) + GAP.length;
  if (columns - indent >= MIN_LAST_COLUMNS) {
    const wrapped = wrapText(last, columns - indent);
    return wrapped.map((text, index) => (index === 0 ? before + GAP : " ".repeat(indent)) + text);
  }
  const wrapped = wrapText(last, Math.max(1, columns - BELOW.length));
  return [before.trimEnd(), ...wrapped.map((text) => BELOW + text)];
}

/** How many columns the lines take. */
export function widthOf(lines: string): number {
  return Math.max(0, ...lines.split("\n").map(visibleWidth));
}

/** `12345` as `12,345`. */
export function formatNumber(value: number): string {
  return String(Math.round(value)).replace(/\B(?=(?:\d{3})+$)/g, ",");
}

/** A message about what the program did, less prominent than the output of a command. */
export function note({ show }: Pick<CommandContext, "show">, text: string): void {
  show(notice("info", text));
}
