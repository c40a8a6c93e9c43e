import type { AutocompleteProvider } from "@earendil-works/pi-tui/dist/autocomplete.js";
import type { EditorTheme } from "@earendil-works/pi-tui/dist/components/editor.js";
import type { Component, Focusable, TUI } from "@earendil-works/pi-tui/dist/tui.js";
import { readShellLine } from "../../shell-line/read-shell-line.ts";
import { type EditorBindings, installEditorKeys } from "../keys/editor-keys.ts";
import { EditorCompletion } from "./editor-completion.ts";
import { InputReader } from "./input-reader.ts";
import { drawPrompt, MARKER_COLUMNS } from "./prompt-rows.ts";
import type { PromptTheme } from "./prompt-theme.ts";
import { TextArea } from "./text-area.ts";
import { TextHolder } from "./text-holder.ts";

/** What of a prompt was in sight when it was sent: without long pastes. For what must be the user's own word. */
export interface VisiblePrompt {
  visibleText: string;
}

/** How an editor looks, and who is told of what is written in it. */
export interface PromptEditorOptions {
  theme: PromptTheme;
  /** Keys the user has changed; they hold for every editor of pi-tui in this process. */
  keys?: EditorBindings;
  /** Called with the whole text, pastes in full, never for a blank one; the editor is empty then. */
  onSubmit(text: string, sent: VisiblePrompt): void;
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
  private readonly held = new TextHolder();
  private readonly sent: string[] = [];

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

  /** Earlier prompts, the newest first, for Up, the first hundred of them; those that were sent here come before them. */
  setHistory(texts: readonly string[]): void {
    const earlier = texts.slice(0, MAX_HISTORY).map((text) => this.held.hold(text));
    for (const text of [...earlier.toReversed(), ...this.sent]) this.area.addToHistory(text);
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

  private submit(shown: string): void {
    const text = this.held.release(shown);
    if (text.trim() === "") return;
    this.area.addToHistory(shown);
    this.sent.push(shown);
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
