import type { TUI } from "@earendil-works/pi-tui/dist/tui.js";
import { PromptEditor, type PromptEditorOptions } from "../editor/prompt-editor.ts";

interface FieldParts {
  tui: TUI;
  theme: PromptEditorOptions["theme"];
  /** Read when a field is opened. */
  keys(): PromptEditorOptions["keys"];
  /** Called with the command as it was left. */
  submit(command: string): void;
}

/** Where a command that waits for consent is changed: an editor of its own for each of them. */
export class CommandField {
  private editor: PromptEditor | undefined;
  private initial = { command: "", shown: "" };

  constructor(private readonly parts: FieldParts) {}

  /** Begins with the command; its end is where the cursor is. */
  open(command: string): void {
    const { tui, theme, keys, submit } = this.parts;
    const bindings = keys();
    this.editor = new PromptEditor(tui, {
      theme,
      ...(bindings && { keys: bindings }),
      onSubmit: (text) => submit(this.restore(text)),
    });
    this.editor.focused = true;
    this.editor.setText(command);
    this.initial = { command, shown: this.editor.text };
  }

  /** The command as it stands; empty before anything was opened. */
  get text(): string {
    return this.restore(this.editor?.text ?? "");
  }

  setText(command: string): void {
    this.editor?.setText(command);
  }

  handleInput(data: string): void {
    this.editor?.handleInput(data);
  }

  render(width: number): string[] {
    return this.editor?.render(width) ?? [];
  }

  /** An editor takes blanks at the ends away; what nobody has touched stays as it was. */
  private restore(text: string): string {
    return text.trim() === this.initial.shown.trim() ? this.initial.command : text;
  }
}
