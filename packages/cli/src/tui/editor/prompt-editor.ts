import type { AutocompleteItem, AutocompleteProvider } from "@earendil-works/pi-tui/dist/autocomplete.js";
import type { EditorTheme } from "@earendil-works/pi-tui/dist/components/editor.js";
import { getKeybindings } from "@earendil-works/pi-tui/dist/keybindings.js";
import type { Component, Focusable, TUI } from "@earendil-works/pi-tui/dist/tui.js";
import { readShellLine } from "../../shell-line.ts";
import { type EditorBindings, installEditorKeys } from "../keys/keymap.ts";
import { readPaste } from "../screen/sequence-reader.ts";
import type { Theme } from "../theme.ts";
import {
  blankPlaceholders,
  PastedTexts,
  readTypedText,
  showPlaceholders,
  TextArea,
  type TextAreaRows,
} from "./text-area.ts";

/**
 * The part of a prompt that was visible when it was sent, without long pastes. Used for what the user must
 * have typed themselves.
 */
interface VisiblePrompt {
  visibleText: string;
}

/** The styles of an editor, and its listeners. */
export interface PromptEditorOptions {
  theme: PromptTheme;
  /** The keys that the user has changed; they apply to every pi-tui editor in this process. */
  keys?: EditorBindings;
  /**
   * Called with the whole text, including pastes in full, never with a blank one; the editor is empty then.
   */
  onSubmit(text: string, sent: VisiblePrompt): void;
  /** False for a text that Up must not bring back; default: every text is remembered. */
  isKept?(text: string): boolean;
  /** Called with the whole text whenever it may have changed. */
  onChange?(text: string): void;
}

// pi-tui keeps as many and drops the oldest.
const MAX_HISTORY = 100;
// A shorter list is useless; nobody reads a longer one while typing.
const MIN_COMPLETIONS = 3;
const MAX_COMPLETIONS = 8;

/**
 * The prompt field: pi-tui's multi-line editor, which shows long pastes as a label and takes at most a third
 * of the screen's rows (on a small screen, a completion list of at least four rows comes on top). No control
 * character in its text reaches the terminal.
 */
export class PromptEditor implements Component, Focusable {
  private readonly area: TextArea;
  private readonly completion: EditorCompletion;
  private readonly held = new PastedTexts();
  /** What Up brings before earlier prompts: prompts sent here, and drafts. */
  private readonly added: string[] = [];

  constructor(
    private readonly tui: TUI,
    private readonly options: PromptEditorOptions,
  ) {
    installEditorKeys(options.keys);
    this.area = new TextArea(tui, toEditorTheme(options.theme));
    this.completion = new EditorCompletion(this.area, this.held);
    this.area.onSubmit = (text) => this.submit(text);
    this.area.onChange = (text) => options.onChange?.(this.held.release(text));
  }

  get focused(): boolean {
    return this.area.focused;
  }

  set focused(isFocused: boolean) {
    this.area.focused = isFocused;
  }

  /** Everything that would be sent now. */
  get text(): string {
    return this.held.release(this.area.getText());
  }

  get isEmpty(): boolean {
    return this.area.getText() === "";
  }

  /** True while a completion list is open: Escape closes it, Enter and Tab accept an item. */
  get isCompleting(): boolean {
    return this.completion.isOpen;
  }

  /**
   * What a key must wait for so that its meaning does not depend on how fast it follows: the completion list,
   * if it is not up to date with the text and the key could accept an item. Undefined if the key can be
   * handled at once.
   */
  holdsUp(data: string): Promise<void> | undefined {
    const { completionRequest: request } = this.area;
    if (request === undefined) return undefined;
    return request.isExplicit || !isEditing(data) ? request.done : undefined;
  }

  /** Replaces the whole text; undo restores it. The cursor is at the end then. */
  setText(text: string): void {
    this.area.setText(this.held.hold(text));
    this.tui.requestRender();
  }

  /** Inserts text at the cursor. */
  insert(text: string): void {
    this.area.insertTextAtCursor(text);
    this.tui.requestRender();
  }

  /** Clears the text, which becomes the newest history entry, so that nothing is lost by mistake. */
  clear(): void {
    this.remember(this.area.getText());
    this.setText("");
  }

  /**
   * Sets the first hundred earlier prompts, newest first, for Up; prompts sent or offered here come before
   * them.
   */
  setHistory(texts: readonly string[]): void {
    const earlier = texts.slice(0, MAX_HISTORY).map((text) => this.held.hold(text));
    for (const text of [...earlier.toReversed(), ...this.added]) this.area.addToHistory(text);
  }

  /** Makes a text the first one that Up brings. */
  offer(text: string): void {
    const shown = this.held.hold(text);
    this.added.push(shown);
    this.area.addToHistory(shown);
  }

  setCompletion(provider: AutocompleteProvider): void {
    this.completion.offer(provider);
  }

  /** Handles a key, or a paste with its markers. */
  handleInput(data: string): void {
    const pasted = readPaste(data);
    const written =
      pasted === undefined ? this.held.holdKey(data) : this.held.holdPaste(pasted, this.area.getText());
    if (written === undefined) this.completion.press(data);
    else this.area.insertTextAtCursor(written);
  }

  render(width: number): string[] {
    const maxRows = Math.max(1, Math.floor(this.tui.terminal.rows / 3));
    const completions = Math.floor(maxRows / 2);
    this.area.setAutocompleteMaxVisible(Math.max(MIN_COMPLETIONS, Math.min(MAX_COMPLETIONS, completions)));
    const rows = this.area.layOut(width - MARKER_COLUMNS);
    const isShell = readShellLine(this.area.getText()) !== undefined;
    return drawPrompt(rows, { maxRows, theme: this.options.theme, isShell });
  }

  invalidate(): void {
    this.area.invalidate();
  }

  private remember(shown: string): void {
    this.area.addToHistory(shown);
    this.added.push(shown);
  }

  private submit(shown: string): void {
    const text = this.held.release(shown);
    if (text.trim() === "") return;
    if (this.options.isKept?.(text) ?? true) this.remember(shown);
    this.options.onSubmit(text, { visibleText: this.held.releaseVisible(shown) });
  }
}

function toEditorTheme({ selected, description }: PromptTheme): EditorTheme {
  return {
    // Borders are not drawn.
    borderColor: (text) => text,
    selectList: {
      selectedPrefix: selected,
      selectedText: selected,
      description,
      scrollInfo: description,
      noMatch: description,
    },
  };
}

/** The completion list of a text area, and the meaning of its keys while it is open. */
class EditorCompletion {
  /** True while Enter is handled with an open list. */
  private isConfirming = false;
  /** True once the pressed key accepted nothing from the list, so that it has its usual meaning. */
  private isUnused = false;
  /** The text may be completed, and the list was not closed since. */
  private isWanted = false;
  /** The text before the cursor for which each item was offered. */
  private readonly offeredFor = new WeakMap<AutocompleteItem, string>();

  constructor(
    private readonly area: TextArea,
    private readonly held: PastedTexts,
  ) {}

  get isOpen(): boolean {
    return this.area.isShowingAutocomplete();
  }

  /** From now on, the list shows this provider's suggestions. */
  offer(provider: AutocompleteProvider): void {
    const wrapped = wrapProvider(provider, this.held);
    this.area.setAutocompleteProvider({
      ...wrapped,
      getSuggestions: async (lines, line, column, options) => {
        const found = await wrapped.getSuggestions(lines, line, column, options);
        if (found === null) return null;
        const items = found.items.map((item) => ({ ...item }));
        for (const item of items) this.offeredFor.set(item, textBefore(lines, line, column));
        return { ...found, items };
      },
      applyCompletion: (lines, line, column, item, prefix) => {
        // Keys that arrive together are handled before the list is updated.
        const isOutdated = this.offeredFor.get(item) !== textBefore(lines, line, column);
        const isComplete = this.isConfirming && item.value === prefix;
        if (!isOutdated && !isComplete) return wrapped.applyCompletion(lines, line, column, item, prefix);
        // On Enter, pi-tui itself submits a text whose prefix looks like a command.
        this.isUnused = !(this.isConfirming && prefix.startsWith("/"));
        return { lines, cursorLine: line, cursorCol: column };
      },
    });
  }

  /**
   * Passes a key to the area. If Enter or Tab would accept an item offered for another text, or Enter one
   * that is already typed, the list is closed and the key has its usual meaning.
   */
  press(data: string): void {
    this.isConfirming = this.isOpen && getKeybindings().matches(data, "tui.select.confirm");
    this.isUnused = false;
    this.area.handleInput(data);
    this.isConfirming = false;
    if (this.isUnused && this.area.getText() !== "") this.area.handleInput(data);
    this.follow(data);
  }

  /**
   * Requests completions whenever the text before the cursor may be completed. pi-tui does so only while the list is open,
   * which depends on how fast the keys arrive. Keys that neither type nor move the cursor end that.
   */
  private follow(data: string): void {
    if (isEditing(data)) this.isWanted = COMPLETABLE.test(this.area.textBeforeCursor);
    else if (!isMoving(data)) this.isWanted = false;
    if (this.isWanted) this.area.completeText();
  }
}

// A command with its argument, or a file after `@`.
const COMPLETABLE = /^\s*\/|@(?:"[^"]*|[^\s"]*)$/;

/** True for a key that types or deletes at the cursor. */
function isEditing(data: string): boolean {
  const keys = getKeybindings();
  return readTypedText(data) !== undefined || DELETING.some((id) => keys.matches(data, id));
}

const DELETING = [
  "tui.editor.deleteCharBackward",
  "tui.editor.deleteCharForward",
  "tui.editor.deleteWordBackward",
  "tui.editor.deleteWordForward",
  "tui.editor.deleteToLineStart",
  "tui.editor.deleteToLineEnd",
] as const;

function isMoving(data: string): boolean {
  const keys = getKeybindings();
  const moves = ["tui.editor.cursorLeft", "tui.editor.cursorRight"] as const;
  return moves.some((id) => keys.matches(data, id));
}

function textBefore(lines: readonly string[], line: number, column: number): string {
  return (lines[line] ?? "").slice(0, column);
}

/**
 * The provider sees blanks instead of placeholders, and its text is held like any other. If it fails, it
 * offers nothing: pi-tui would let its error end the program.
 */
function wrapProvider(provider: AutocompleteProvider, held: PastedTexts): AutocompleteProvider {
  return {
    ...(provider.triggerCharacters && { triggerCharacters: provider.triggerCharacters }),
    getSuggestions: async (lines, line, column, options) => {
      try {
        return await provider.getSuggestions(lines.map(blankPlaceholders), line, column, options);
      } catch {
        return null; // The prompt can be typed without it.
      }
    },
    applyCompletion: (lines, line, column, item, prefix) =>
      provider.applyCompletion(lines, line, column, { ...item, value: held.hold(item.value) }, prefix),
  };
}

/** The styles of the prompt editor; each function styles one line of text without changing its width. */
export interface PromptTheme {
  /** `> ` before the text, `$ ` before a shell command, and the arrows for more text above and below. */
  marker(text: string): string;
  /** A placeholder, such as `[pasted 120 lines]`. */
  label(text: string): string;
  /** The row of the completion list that Enter accepts. */
  selected(text: string): string;
  /** The text next to a name in the completion list. */
  description(text: string): string;
}

/** The styles of a prompt editor on a screen with this theme. */
export function toPromptTheme({ accent, dim, selected }: Theme): PromptTheme {
  return { marker: accent, label: dim, selected, description: dim };
}

/** The marker before every row. */
const MARKER_COLUMNS = 2;

/** Rows of the prompt, with the completion list below; as many text rows around the cursor as fit. */
function drawPrompt(
  rows: TextAreaRows,
  { maxRows, theme, isShell }: { maxRows: number; theme: PromptTheme; isShell: boolean },
): string[] {
  const { text, cursorRow, completion } = rows;
  const count = Math.min(text.length, Math.max(1, maxRows - completion.length));
  const start = Math.max(0, Math.min(cursorRow - count + 1, text.length - count));
  const hiddenAbove = rows.hiddenAbove + start;
  const hiddenBelow = rows.hiddenBelow + text.length - start - count;
  const shown = text.slice(start, start + count).map((row, index) => {
    const isAbove = index === 0 && hiddenAbove > 0;
    const isBelow = index === count - 1 && hiddenBelow > 0;
    const isFirst = index === 0 && hiddenAbove === 0;
    return markRow({ isAbove, isBelow, isFirst, isShell }, theme) + showPlaceholders(row, theme.label);
  });
  return [...shown, ...completion.map((row) => " ".repeat(MARKER_COLUMNS) + row)];
}

interface RowLocation {
  /** There is more text above, or below this row. */
  isAbove: boolean;
  isBelow: boolean;
  /** The text begins here. */
  isFirst: boolean;
  /** It is a shell command. */
  isShell: boolean;
}

function markRow({ isAbove, isBelow, isFirst, isShell }: RowLocation, { marker }: PromptTheme): string {
  if (isAbove && isBelow) return marker("↕ ");
  if (isAbove) return marker("↑ ");
  if (isBelow) return marker("↓ ");
  if (isFirst && isShell) return marker("$ ");
  return isFirst ? marker("> ") : " ".repeat(MARKER_COLUMNS);
}
