import type { HarnessSession, ModelChange, MoveControl } from "@diligent/core/harness";
import type { Environment } from "@diligent/core/run";
import type { Reopening } from "../../session/session-controller.ts";
import type { FileMove } from "../../undo/describe.ts";
import type { EditorBindings, Keymap } from "../keys/keymap.ts";
import type { Picker } from "../pickers/picker.ts";
import { visibleWidth, wrapText } from "../screen/screen-text.ts";
import { type Block, notice, type View } from "../view.ts";

/** What a command may do; the program behind it is `app.ts`. What it throws is shown as one line. */
export interface CommandContext {
  /** The session, once it is open. */
  session(): Promise<HarnessSession>;
  view(): View;
  /** Writes a block into the transcript. */
  show(block: Block): void;
  /** Plain lines into the transcript. */
  print(text: string): void;
  change(change: (view: View) => View): void;
  open(picker: Picker): void;
  /** What is being written. */
  prompt(): string;
  setPrompt(text: string): void;
  /** Sends a prompt as if it had been typed. */
  send(text: string): void;
  compact(focus: string | undefined): Promise<void>;
  /**
   * Lets `work` move files: it is shown what goes on, nothing else begins meanwhile, and the user can stop it. What `work`
   * throws is shown. @throws Error while something else is going on.
   * @param how `isDryRun`: it only looks, so that whoever leaves meanwhile leaves nothing halfway.
   */
  moveFiles(
    move: FileMove,
    work: (control: MoveControl) => Promise<void>,
    how?: { isDryRun: boolean },
  ): Promise<void>;
  /** Exchanges the session for another one, and shows where that stands. */
  reopen(how: Reopening): Promise<void>;
  /** Another model, or another effort, from the next request on. */
  changeModel(change: ModelChange): Promise<void>;
  /**
   * Goes on behind an earlier entry of the session (null: from its beginning), and shows what is there; with a summary
   * the model tells the conversation what happened on the branch that is left.
   * @returns false when it was stopped, or could not be done, which was said.
   */
  branch(entryId: string | null, options: { isSummarized: boolean }): Promise<boolean>;
  /** Runs a slash command by its name, as a key that stands for it does. */
  runCommand(name: string, argument?: string): Promise<void>;
  /** What Shift+Tab does: see `approval/permissions.ts`. */
  nextApprovalMode(): Promise<void>;
  /** Lends the terminal to another program while `run` lasts; that has to end when the signal is aborted. */
  lendTerminal<T>(run: (ended: AbortSignal) => Promise<T>): Promise<T>;
  /** See `CliIo.onAnyExit`. */
  onAnyExit(cleanUp: () => void): () => void;
  /** Writes to the terminal past the screen, what moves no cursor. */
  writeRaw(sequence: string): void;
  /** Of the screen. */
  columns(): number;
  /** Asks for a line of which nothing is shown; left out where a list has such a line. Empty when it was left. */
  readSecret?(question: string): Promise<string>;
  quit(): void;
  readonly keymap: Keymap;
  /** Keys of the editor that the user has changed. */
  readonly editorKeys?: EditorBindings | undefined;
  readonly environment: Environment;
  /** True where there are only lines: no screen, no keys, nothing drawn twice, nothing decorated. */
  readonly isPlain?: boolean;
  /**
   * Reads the keys of the user anew; they hold at once. Left out where there are none to press.
   * @returns what is to be known about their file, a line each.
   */
  reloadKeys?(): Promise<readonly string[]>;
  readonly commands: readonly SlashCommand[];
}

/** A command that begins with a slash. */
export interface SlashCommand {
  /** Without the slash. */
  name: string;
  aliases?: readonly string[];
  /** One line, for help and completion. */
  description: string;
  /** How its argument is written, such as `[focus]`. */
  argumentHint?: string;
  /** True when it can be used while a run is going on. */
  isAlwaysPossible?: boolean;
  /** True when there is nothing of it without a screen, such as a pager. */
  needsScreen?: boolean;
  /** True when it opens a list without an argument; by lines a number or an id of that list may be the argument. */
  opensList?: boolean;
  /** True when what is written behind its argument may be a secret: it is kept nowhere. */
  isPrivate?: boolean;
  run(argument: string, context: CommandContext): Promise<void> | void;
  /** What its argument may be, for completion. */
  complete?(prefix: string, context: CommandContext): Promise<readonly string[]> | readonly string[];
}

const GAP = "  ";
// A column that is narrower than this stands below its row instead.
const MIN_LAST_COLUMNS = 20;
const BELOW = "      ";

/** How the columns of a table are laid out. */
interface RowOptions {
  /** The columns, from 0, that are aligned at their right ends. */
  right?: readonly number[];
  /** Of the screen: what does not fit of the last column goes on below itself. */
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

/** A word of the program's about what it did, quieter than what a command was asked to print. */
export function note({ show }: Pick<CommandContext, "show">, text: string): void {
  show(notice("info", text));
}
