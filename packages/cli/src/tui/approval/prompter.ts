import {
  type AskedVerdict,
  type CommandEdit,
  type PersonAnswer,
  requestedCommand,
  STOPPED_ANSWER,
} from "@diligent/core/harness";
import { type ApprovalRequest, now } from "@diligent/core/run";
import type { TUI } from "@earendil-works/pi-tui/dist/tui.js";
import { PromptEditor, type PromptEditorOptions } from "../editor/prompt-editor.ts";
import type { View } from "../view.ts";
import { type Room, toApprovalDialog } from "./dialog.ts";
import { GUARD_MS } from "./keys.ts";

/** What the prompter needs from the screen and from the run that asks. */
interface PrompterDeps {
  change(change: (view: View) => View): void;
  room(): Room;
  /** True once the asking run was stopped: no more questions are shown then. */
  isStopped(): boolean;
  /** True while the user is typing a prompt. */
  isWriting(): boolean;
}

/**
 * Asks the user for approvals, one question at a time: `createApprove` asks the next when this one is
 * answered.
 */
export class ApprovalPrompter {
  private answer: ((answer: PersonAnswer | CommandEdit) => void) | undefined;
  /** Resolved when the open question is answered. */
  private pending: Promise<unknown> | undefined;
  private open: { request: ApprovalRequest; verdict: AskedVerdict } | undefined;
  /** Resolved when questions may be shown again. */
  private held: PromiseWithResolvers<void> | undefined;

  constructor(private readonly deps: PrompterDeps) {}

  /** The command that waits for approval, or the user's last version of it, for editing. */
  get openCommand(): string | undefined {
    return this.open?.verdict.refusedEdit?.command ?? (this.open && requestedCommand(this.open.request));
  }

  /** Resolves once no question is open; holds others back until the returned function is called. */
  async holdWhenFree(): Promise<() => void> {
    const release = this.hold();
    await this.pending;
    return release;
  }

  /** Holds questions back until the returned function is called. */
  hold(): () => void {
    const held = Promise.withResolvers<void>();
    this.held = held;
    return () => held.resolve();
  }

  readonly ask = async (
    request: ApprovalRequest,
    verdict: AskedVerdict,
  ): Promise<PersonAnswer | CommandEdit> => {
    const { change, isStopped, isWriting, room } = this.deps;
    await this.held?.promise;
    if (isStopped()) return STOPPED_ANSWER;
    this.open = { request, verdict };
    const isAnswered = verdict.isEdited || verdict.refusedEdit !== undefined;
    const isElsewhere = !isAnswered && isWriting();
    const dialog = toApprovalDialog(request, verdict, room(), { isElsewhere });
    // Laying it out may take a while, during which keys may have been pressed.
    const guardedUntil = now() + GUARD_MS;
    change((view) => ({ ...view, dialog: { ...dialog, guardedUntil } }));
    const { promise, resolve } = Promise.withResolvers<PersonAnswer | CommandEdit>();
    this.answer = resolve;
    this.pending = promise;
    const answer = await promise;
    this.answer = undefined;
    this.pending = undefined;
    this.open = undefined;
    change((view) => (view.dialog?.type === "approval" ? { ...view, dialog: undefined } : view));
    return answer;
  };

  give(answer: PersonAnswer | CommandEdit): void {
    this.answer?.(answer);
  }

  /** The run was stopped: open questions are denied. */
  stop(): void {
    this.give(STOPPED_ANSWER);
    this.held?.resolve();
  }
}

interface FieldDeps {
  tui: TUI;
  theme: PromptEditorOptions["theme"];
  /** Read when a field is opened. */
  keys(): PromptEditorOptions["keys"];
  /** Called with the final command. */
  submit(command: string): void;
}

/** The field for editing a command that waits for approval; each command gets a new editor. */
export class CommandField {
  private editor: PromptEditor | undefined;
  private initial = { command: "", shown: "" };

  constructor(private readonly deps: FieldDeps) {}

  /** Starts with the command, and the cursor at its end. */
  open(command: string): void {
    const { tui, theme, keys, submit } = this.deps;
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

  /** The current command; empty before anything was opened. */
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

  /** An editor trims the text; a command that was not touched stays as it was. */
  private restore(text: string): string {
    return text.trim() === this.initial.shown.trim() ? this.initial.command : text;
  }
}
