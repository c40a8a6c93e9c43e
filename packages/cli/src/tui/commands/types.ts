import type { Environment } from "@diligent/core/run";
import type { ModelChange } from "../../change-model.ts";
import type { Reopening } from "../../conversation/session-holder.ts";
import type { OpenSession } from "../../open-session.ts";
import type { FileMove } from "../../undo/describe-progress.ts";
import type { MoveControl } from "../../undo/session-checkpoints.ts";
import type { Block } from "../blocks.ts";
import type { EditorBindings } from "../keys/editor-keys.ts";
import type { Keymap } from "../keys/keymap.ts";
import type { Picker } from "../pickers/picker.ts";
import type { View } from "../view.ts";

/** What a command may do; the program behind it is `app.ts`. What it throws is shown as one line. */
export interface CommandContext {
  /** The session, once it is open. */
  session(): Promise<OpenSession>;
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
  nextApprovalMode(): void;
  /** Lends the terminal to another program while `run` lasts; that has to end when the signal is aborted. */
  lendTerminal<T>(run: (ended: AbortSignal) => Promise<T>): Promise<T>;
  /** See `CliIo.onAnyExit`. */
  onAnyExit(cleanUp: () => void): () => void;
  /** Writes to the terminal past the screen, what moves no cursor. */
  writeRaw(sequence: string): void;
  /** Of the screen. */
  columns(): number;
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
  run(argument: string, context: CommandContext): Promise<void> | void;
  /** What its argument may be, for completion. */
  complete?(prefix: string, context: CommandContext): Promise<readonly string[]> | readonly string[];
}
