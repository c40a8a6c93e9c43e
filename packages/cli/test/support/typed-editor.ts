import type { AutocompleteProvider } from "@earendil-works/pi-tui/dist/autocomplete.js";
import { PromptEditor, type PromptTheme } from "../../src/tui/editor/prompt-editor.ts";
import type { EditorBindings } from "../../src/tui/keys/keymap.ts";
import { InlineScreen } from "../../src/tui/screen/inline-screen.ts";
import { SequenceReader } from "../../src/tui/screen/sequence-reader.ts";
import { VirtualTerminal } from "./virtual-terminal.ts";

const same = (text: string) => text;
export const PLAIN_THEME: PromptTheme = { marker: same, label: same, selected: same, description: same };

/** The keys of tests as a terminal without the Kitty protocol sends them. */
export const KEYS = {
  enter: "\r",
  altEnter: "\x1b\r",
  ctrlJ: "\n",
  escape: "\x1b",
  tab: "\t",
  up: "\x1b[A",
  down: "\x1b[B",
  right: "\x1b[C",
  left: "\x1b[D",
  home: "\x1b[H",
  backspace: "\x7f",
  undo: "\x1f",
  ctrlP: "\x10",
  ctrlN: "\x0e",
  deleteWord: "\x17",
  deleteToLineStart: "\x15",
  deleteToLineEnd: "\x0b",
  yank: "\x19",
} as const;

const CURSOR = "\x1b_pi:c\x07";

interface TypedEditorOptions {
  columns?: number;
  rows?: number;
  history?: readonly string[];
  completion?: AutocompleteProvider;
  keys?: EditorBindings;
  theme?: PromptTheme;
}

/** A focused prompt editor outside of any screen, that a test types into. */
export class TypedEditor {
  readonly sent: string[] = [];
  readonly visible: string[] = [];
  readonly changes: string[] = [];
  readonly editor: PromptEditor;
  private readonly columns: number;
  private readonly reader = new SequenceReader();

  constructor({
    columns = 60,
    rows = 24,
    theme = PLAIN_THEME,
    history,
    completion,
    ...options
  }: TypedEditorOptions = {}) {
    this.columns = columns;
    const screen = new InlineScreen(new VirtualTerminal({ columns, rows }));
    this.editor = new PromptEditor(screen, {
      ...options,
      theme,
      onSubmit: (text, { visibleText }) => {
        this.sent.push(text);
        this.visible.push(visibleText);
      },
      onChange: (text) => this.changes.push(text),
    });
    if (history) this.editor.setHistory(history);
    if (completion) this.editor.setCompletion(completion);
    this.editor.focused = true;
  }

  /** One element per key, or a text, which is typed key by key as a terminal sends it. */
  type(...inputs: string[]): this {
    for (const input of inputs)
      for (const data of [...this.reader.read(input), ...this.reader.flush()]) this.editor.handleInput(data);
    return this;
  }

  paste(text: string): this {
    this.editor.handleInput(`\x1b[200~${text}\x1b[201~`);
    return this;
  }

  /** The rows as they are drawn, with `|` at the cursor and without trailing blanks. */
  rows(): string[] {
    return this.rawRows().map((row) => row.replace(CURSOR, "|").trimEnd());
  }

  rawRows(): string[] {
    return this.editor.render(this.columns);
  }
}
