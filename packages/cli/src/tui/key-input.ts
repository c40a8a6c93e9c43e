import { applyKey } from "./apply-key.ts";
import { applyText, readText } from "./apply-text.ts";
import { isWriting } from "./approval/guard-answers.ts";
import { leavePasteOut } from "./approval/leave-paste-out.ts";
import { carryOut, type EffectParts } from "./carry-out.ts";
import { typedText } from "./edit-line.ts";
import type { PromptEditor } from "./editor/prompt-editor.ts";
import { nameKey } from "./keys/name-key.ts";
import type { InlineScreen } from "./screen/inline-screen.ts";
import type { ApprovalDialog } from "./view.ts";
import type { ViewPainter } from "./view-painter.ts";

interface InputParts extends EffectParts {
  screen: InlineScreen;
  painter: ViewPainter;
  editor: PromptEditor;
  fail(error: unknown): void;
}

/** Takes what the terminal sends: every key goes through the view first; what it does not want is the editor's. */
export class KeyInput {
  /** What came in one read while a question is open. */
  private readonly read: string[] = [];

  constructor(private readonly parts: InputParts) {}

  take(data: string): void {
    if (this.question === undefined) this.takeOne(data);
    // The keys of one read are handed on one after the other: whether there are several is known when all of them are here.
    else if (this.read.push(data) === 1) queueMicrotask(() => this.takeRead(this.read.splice(0)));
  }

  private get question(): ApprovalDialog | undefined {
    const { dialog } = this.parts.painter.view;
    return dialog?.type === "approval" ? dialog : undefined;
  }

  /** Nobody presses several keys at once: some terminals paste without saying so, and a paste is no answer. */
  private takeRead(read: readonly string[]): void {
    const keys = read.filter((data) => nameKey(data) !== undefined);
    const { question } = this;
    if (keys.length < 2 || question === undefined || this.isHeldToScroll(read)) {
      for (const data of read) this.takeOne(data);
      return;
    }
    const { editor, commandField, painter, screen } = this.parts;
    let pasted = "";
    for (const data of read) {
      const name = nameKey(data);
      if (name === undefined || !(isWriting({ name, data }) || name === "tab")) this.takeOne(data);
      else if (question.isEditing) commandField.handleInput(data);
      else if (question.isUnfocused) editor.handleInput(data);
      else pasted += typedText({ name, data }) ?? " ";
    }
    const time = painter.look().now;
    if (pasted !== "") painter.change((view) => leavePasteOut(view, pasted, time));
    screen.requestRender();
  }

  /** A key that is held down comes several times at once, too, and scrolling answers nothing. */
  private isHeldToScroll(read: readonly string[]): boolean {
    const [first = ""] = read;
    const name = nameKey(first);
    const isScrolling = name !== undefined && this.parts.context.keymap.matches(name, "approval.pageDown");
    return isScrolling && read.every((data) => data === first);
  }

  private takeOne(data: string): void {
    const { editor, commandField, painter, screen } = this.parts;
    const name = nameKey(data);
    const { dialog } = painter.view;
    const { question } = this;
    if (name === undefined && question?.isEditing) commandField.handleInput(data);
    else if (name === undefined && question?.isUnfocused) editor.handleInput(data);
    else if (dialog && name === undefined) painter.change((view) => applyText(view, dialog, readText(data)));
    else if (name === undefined || (editor.isCompleting && !dialog && !this.suspends(name)))
      editor.handleInput(data);
    else this.press(name, data);
    screen.requestRender();
  }

  /** A completion list has its own Escape, Enter and arrows, but nothing of its own for this. */
  private suspends(name: string): boolean {
    return this.parts.context.keymap.matches(name, "app.suspend");
  }

  private press(name: string, data: string): void {
    const { context, editor, fail, painter, screen } = this.parts;
    const { rows, columns } = screen.terminal;
    const now = painter.look().now;
    const place = { keymap: context.keymap, isPromptEmpty: editor.isEmpty, now, rows, columns };
    const { view, effects } = applyKey(painter.view, { name, data }, place);
    painter.change(() => view);
    for (const effect of effects) void carryOut(effect, this.parts).catch(fail);
  }
}
