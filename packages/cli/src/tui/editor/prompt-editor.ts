import type { AutocompleteProvider } from "@earendil-works/pi-tui/dist/autocomplete.js";
import type { EditorTheme } from "@earendil-works/pi-tui/dist/components/editor.js";
import { getKeybindings } from "@earendil-works/pi-tui/dist/keybindings.js";
import { decodePrintableKey } from "@earendil-works/pi-tui/dist/keys.js";
import type { Component, Focusable, TUI } from "@earendil-works/pi-tui/dist/tui.js";
import { readShellLine } from "../../shell-line/read-shell-line.ts";
import { type EditorBindings, installEditorKeys } from "../keys/editor-keys.ts";
import { type HeldTexts, type Holding, holdText, releaseText, releaseVisibleText } from "./held-text.ts";
import { InputReader } from "./input-reader.ts";
import { takePaste } from "./pasted-text.ts";
import { drawPrompt, MARKER_COLUMNS } from "./prompt-rows.ts";
import type { PromptTheme } from "./prompt-theme.ts";
import { blankStandIns } from "./stand-in.ts";
import { TextArea } from "./text-area.ts";

/** What of a prompt was in sight when it was sent: without long pastes. For what must be the user's own word. */
export interface VisiblePrompt {
  visibleText: string;
}

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
  private readonly reader = new InputReader();
  private readonly sent: string[] = [];
  private held: HeldTexts = [];
  /** A completion is being taken with Enter, and it was what is written already. */
  private isConfirming = false;
  private wasComplete = false;

  constructor(
    private readonly tui: TUI,
    private readonly options: PromptEditorOptions,
  ) {
    installEditorKeys(options.keys);
    this.area = new TextArea(tui, toEditorTheme(options.theme));
    this.area.onSubmit = (text) => this.submit(text);
    this.area.onChange = (text) => options.onChange?.(releaseText(this.held, text));
  }

  get focused(): boolean {
    return this.area.focused;
  }

  set focused(isFocused: boolean) {
    this.area.focused = isFocused;
  }

  /** Everything that would be sent, as it stands. */
  get text(): string {
    return releaseText(this.held, this.area.getText());
  }

  get isEmpty(): boolean {
    return this.area.getText() === "";
  }

  /** True while a completion list is open: Escape closes it, Enter and Tab take from it. */
  get isCompleting(): boolean {
    return this.area.isShowingAutocomplete();
  }

  /** Replaces everything; undo brings it back. The cursor is at the end then. */
  setText(text: string): void {
    this.area.setText(this.hold(text));
    this.tui.requestRender();
  }

  /** Earlier prompts, the newest first, for Up, the first hundred of them; those that were sent here come before them. */
  setHistory(texts: readonly string[]): void {
    const earlier = texts.slice(0, MAX_HISTORY).map((text) => this.hold(text));
    for (const text of [...earlier.toReversed(), ...this.sent]) this.area.addToHistory(text);
  }

  setCompletion(provider: AutocompleteProvider): void {
    const wrapped = wrapCompletion(provider, (text) => this.hold(text));
    this.area.setAutocompleteProvider({
      ...wrapped,
      applyCompletion: (lines, line, column, item, prefix) => {
        if (!this.isConfirming || item.value !== prefix)
          return wrapped.applyCompletion(lines, line, column, item, prefix);
        // A command's name is sent by pi-tui itself.
        this.wasComplete = !prefix.startsWith("/");
        return { lines, cursorLine: line, cursorCol: column };
      },
    });
  }

  handleInput(data: string): void {
    for (const part of this.reader.read(data)) {
      if (part.kind === "keys") this.takeKey(part.data);
      else this.area.insertTextAtCursor(this.keep(takePaste(this.held, part.data, this.area.getText())));
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

  private takeKey(data: string): void {
    const typed = readTypedText(data);
    if (typed === "") return;
    const shown = typed === undefined ? undefined : this.hold(typed);
    if (shown === typed) this.press(data);
    else if (shown !== undefined) this.area.insertTextAtCursor(shown);
  }

  /** Enter on a completion that says what stands there already closes the list, and then does what it does without one. */
  private press(data: string): void {
    this.isConfirming = this.isCompleting && getKeybindings().matches(data, "tui.select.confirm");
    this.wasComplete = false;
    this.area.handleInput(data);
    this.isConfirming = false;
    if (this.wasComplete && !this.isEmpty) this.area.handleInput(data);
  }

  private submit(shown: string): void {
    const text = releaseText(this.held, shown);
    if (text.trim() === "") return;
    this.area.addToHistory(shown);
    this.sent.push(shown);
    this.options.onSubmit(text, { visibleText: releaseVisibleText(this.held, shown) });
  }

  private hold(text: string): string {
    return this.keep(holdText(this.held, text));
  }

  private keep({ text, held }: Holding): string {
    this.held = held;
    return text;
  }
}

/** What a key writes, harmless or not; nothing for some keys, and undefined for those that do something else. */
function readTypedText(data: string): string | undefined {
  const decoded = decodePrintableKey(data);
  // The Kitty protocol gives keys without a character, such as F13, numbers of this range, which pi-tui takes for text.
  if (decoded !== undefined) return /^[\ue000-\uf8ff]$/.test(decoded) ? "" : decoded;
  return data >= " " && data !== "\x7f" ? data : undefined;
}

/**
 * A provider sees blanks where something stands in, and what it writes is held like everything else. One that fails offers
 * nothing: pi-tui would let its error end the program.
 */
function wrapCompletion(
  provider: AutocompleteProvider,
  hold: (text: string) => string,
): AutocompleteProvider {
  return {
    ...(provider.triggerCharacters && { triggerCharacters: provider.triggerCharacters }),
    getSuggestions: async (lines, line, column, options) => {
      try {
        return await provider.getSuggestions(lines.map(blankStandIns), line, column, options);
      } catch {
        return null; // The prompt can be written without it.
      }
    },
    applyCompletion: (lines, line, column, item, prefix) =>
      provider.applyCompletion(lines, line, column, { ...item, value: hold(item.value) }, prefix),
  };
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
