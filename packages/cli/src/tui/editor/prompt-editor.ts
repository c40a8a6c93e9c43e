import type { AutocompleteItem, AutocompleteProvider } from "@earendil-works/pi-tui/dist/autocomplete.js";
import type { EditorTheme } from "@earendil-works/pi-tui/dist/components/editor.js";
import { getKeybindings } from "@earendil-works/pi-tui/dist/keybindings.js";
import type { Component, Focusable, TUI } from "@earendil-works/pi-tui/dist/tui.js";
import { readShellLine } from "../../shell-line.ts";
import { type EditorBindings, installEditorKeys } from "../keys/keymap.ts";
import type { Theme } from "../theme.ts";
import {
  blankPlaceholders,
  InputReader,
  PastedTexts,
  showPlaceholders,
  TextArea,
  type TextAreaRows,
} from "./text-area.ts";

/** What of a prompt was in sight when it was sent: without long pastes. For what must be the user's own word. */
interface VisiblePrompt {
  visibleText: string;
}

/** How an editor looks, and who is told of what is written in it. */
export interface PromptEditorOptions {
  theme: PromptTheme;
  /** Keys the user has changed; they hold for every editor of pi-tui in this process. */
  keys?: EditorBindings;
  /** Called with the whole text, pastes in full, never for a blank one; the editor is empty then. */
  onSubmit(text: string, sent: VisiblePrompt): void;
  /** False for a text that Up is not to bring back; every text is kept when left out. */
  isKept?(text: string): boolean;
  /** Called with the whole text whenever it may have changed. */
  onChange?(text: string): void;
}

// pi-tui keeps as many and forgets the oldest.
const MAX_HISTORY = 100;
// A list of fewer is no list; more than these nobody reads while writing.
const MIN_COMPLETIONS = 3;
const MAX_COMPLETIONS = 8;

/**
 * Where prompts are written: pi-tui's multi-line editor, which shows long pastes as a label and never more rows than a
 * third of the screen (a completion list of at least four rows comes on top on a small one). Whatever it is given, no
 * control character of it reaches the terminal.
 */
export class PromptEditor implements Component, Focusable {
  private readonly area: TextArea;
  private readonly completion: EditorCompletion;
  private readonly reader = new InputReader();
  private readonly held = new PastedTexts();
  /** What Up brings before earlier prompts: what was sent here, and drafts. */
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

  /** Everything that would be sent, as it stands. */
  get text(): string {
    return this.held.release(this.area.getText());
  }

  get isEmpty(): boolean {
    return this.area.getText() === "";
  }

  /** True while a completion list is open: Escape closes it, Enter and Tab take from it. */
  get isCompleting(): boolean {
    return this.completion.isOpen;
  }

  /** Replaces everything; undo brings it back. The cursor is at the end then. */
  setText(text: string): void {
    this.area.setText(this.held.hold(text));
    this.tui.requestRender();
  }

  /** Empties it. What was written is the newest entry of the history, so that nothing is lost by mistake. */
  clear(): void {
    this.remember(this.area.getText());
    this.setText("");
  }

  /** Earlier prompts, the newest first, for Up, the first hundred of them; those that were sent or offered here come before them. */
  setHistory(texts: readonly string[]): void {
    const earlier = texts.slice(0, MAX_HISTORY).map((text) => this.held.hold(text));
    for (const text of [...earlier.toReversed(), ...this.added]) this.area.addToHistory(text);
  }

  /** A text that Up brings first. */
  offer(text: string): void {
    const shown = this.held.hold(text);
    this.added.push(shown);
    this.area.addToHistory(shown);
  }

  setCompletion(provider: AutocompleteProvider): void {
    this.completion.offer(provider);
  }

  handleInput(data: string): void {
    for (const { kind, data: part } of this.reader.read(data)) {
      const written =
        kind === "paste" ? this.held.holdPaste(part, this.area.getText()) : this.held.holdKey(part);
      if (written === undefined) this.completion.press(part);
      else this.area.insertTextAtCursor(written);
    }
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

/** The completion list of a text area, and what its keys mean while it is open. */
class EditorCompletion {
  /** True while Enter is pressed in an open list. */
  private isConfirming = false;
  /** True once the pressed key has taken nothing from the list, and means what it means without one. */
  private isUnused = false;
  /** The text before the cursor that each item was offered for. */
  private readonly offeredFor = new WeakMap<AutocompleteItem, string>();

  constructor(
    private readonly area: TextArea,
    private readonly held: PastedTexts,
  ) {}

  get isOpen(): boolean {
    return this.area.isShowingAutocomplete();
  }

  /** From now on the list is what this provider suggests. */
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
        // Keys that arrive together are read before the list has caught up with them.
        const isOutdated = this.offeredFor.get(item) !== textBefore(lines, line, column);
        const isComplete = this.isConfirming && item.value === prefix;
        if (!isOutdated && !isComplete) return wrapped.applyCompletion(lines, line, column, item, prefix);
        // On Enter, pi-tui itself sends a text whose prefix begins like a command.
        this.isUnused = !(this.isConfirming && prefix.startsWith("/"));
        return { lines, cursorLine: line, cursorCol: column };
      },
    });
  }

  /**
   * Gives the area a key. Enter or Tab on an item that was offered for another text, and Enter on one that stands there
   * already, close the list and then do what they do without one.
   */
  press(data: string): void {
    this.isConfirming = this.isOpen && getKeybindings().matches(data, "tui.select.confirm");
    this.isUnused = false;
    this.area.handleInput(data);
    this.isConfirming = false;
    if (this.isUnused && this.area.getText() !== "") this.area.handleInput(data);
  }
}

function textBefore(lines: readonly string[], line: number, column: number): string {
  return (lines[line] ?? "").slice(0, column);
}

/**
 * A provider sees blanks where something stands in, and what it writes is held like everything else. One that fails offers
 * nothing: pi-tui would let its error end the program.
 */
function wrapProvider(provider: AutocompleteProvider, held: PastedTexts): AutocompleteProvider {
  return {
    ...(provider.triggerCharacters && { triggerCharacters: provider.triggerCharacters }),
    getSuggestions: async (lines, line, column, options) => {
      try {
        return await provider.getSuggestions(lines.map(blankPlaceholders), line, column, options);
      } catch {
        return null; // The prompt can be written without it.
      }
    },
    applyCompletion: (lines, line, column, item, prefix) =>
      provider.applyCompletion(lines, line, column, { ...item, value: held.hold(item.value) }, prefix),
  };
}

/** How the prompt editor looks; each function styles a text of one line without changing its width. */
export interface PromptTheme {
  /** `> ` before the text, `$ ` before a command for the shell, and the arrows that tell of more above and below. */
  marker(text: string): string;
  /** What stands for something else, such as `[pasted 120 lines]`. */
  label(text: string): string;
  /** The row of the completion list that Enter takes. */
  selected(text: string): string;
  /** What the completion list tells beside a name. */
  description(text: string): string;
}

/** How it looks on a screen of that theme. */
export function toPromptTheme({ accent, dim, selected }: Theme): PromptTheme {
  return { marker: accent, label: dim, selected, description: dim };
}

/** What is before every row. */
const MARKER_COLUMNS = 2;

/** Rows of the prompt, with the completion list below; of the text as many around the cursor as there is room for. */
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
  /** More text is above, below this row. */
  isAbove: boolean;
  isBelow: boolean;
  /** The text begins here. */
  isFirst: boolean;
  /** It is a command for the shell. */
  isShell: boolean;
}

function markRow({ isAbove, isBelow, isFirst, isShell }: RowLocation, { marker }: PromptTheme): string {
  if (isAbove && isBelow) return marker("↕ ");
  if (isAbove) return marker("↑ ");
  if (isBelow) return marker("↓ ");
  if (isFirst && isShell) return marker("$ ");
  return isFirst ? marker("> ") : " ".repeat(MARKER_COLUMNS);
}
