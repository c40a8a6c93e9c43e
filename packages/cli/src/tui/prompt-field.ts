import { now } from "@diligent/core/light";
import type { DraftKeeper } from "./editor/draft.ts";
import { PromptEditor, type PromptEditorOptions } from "./editor/prompt-editor.ts";
import type { InlineScreen } from "./screen/inline-screen.ts";

// Who has written so short a time ago has not finished.
const WRITING_MS = 2_000;

interface FieldParts extends Pick<PromptEditorOptions, "theme" | "keys"> {
  /** Keeps what was not sent. */
  draft: DraftKeeper;
  /** Gets what was sent, and what of it was in sight. */
  submit(text: string, visibleText: string): void;
}

/** Where prompts are written: the editor, and the draft in it that outlives the program. */
export class PromptField {
  readonly editor: PromptEditor;
  /** When something was written that was not sent, in milliseconds. */
  private wroteAt: number | undefined;

  constructor(
    screen: InlineScreen,
    private readonly parts: FieldParts,
  ) {
    const { theme, keys, draft, submit } = parts;
    this.editor = new PromptEditor(screen, {
      theme,
      ...(keys && { keys }),
      onSubmit: (text, { visibleText }) => {
        draft.sent();
        this.wroteAt = undefined;
        submit(text, visibleText);
      },
      onChange: (text) => {
        draft.change(text);
        this.wroteAt = now();
      },
    });
  }

  /** Somebody who has just deleted everything writes on as well. */
  readonly isWriting = (): boolean =>
    !this.editor.isEmpty || (this.wroteAt !== undefined && now() - this.wroteAt < WRITING_MS);

  /** Begins with what an earlier run left behind, which nobody is writing yet. */
  restoreDraft(): void {
    this.editor.setText(this.parts.draft.restore() ?? "");
    this.wroteAt = undefined;
  }

  /** To be called when the program ends: what was not sent is kept. */
  keepDraft(): void {
    this.parts.draft.flush();
  }
}
