import { now } from "@diligent/core/run";
import type { OpenSession } from "../../open-session.ts";
import type { ShellLine } from "../../shell-line/read-shell-line.ts";
import { runShellLine, tellOfShellLine } from "../../shell-line/run-shell-line.ts";
import type { ToolCallView } from "../blocks.ts";
import { stopHint } from "../keys/key-texts.ts";
import type { Keymap } from "../keys/keymap.ts";
import { toContextStatus } from "../session-status.ts";
import type { View } from "../view.ts";
import { showShellCall, toShellCall } from "./shell-call.ts";

interface ShellParts {
  session(): Promise<OpenSession>;
  change(change: (view: View) => View): void;
  /** True while files are being moved, which no command may meet. */
  isHeldUp(): boolean;
  /** Resolves when the model may be told of something: at once, but not while the context is being summarised. */
  untilTellable(): Promise<unknown> | undefined;
  /** Told when a command has ended, or could not be started. */
  ended(): void;
  keymap(): Keymap;
}

/** Runs the user's own commands beside the conversation, one at a time. */
export class UserShell {
  private running: { abort: AbortController; ended: Promise<void> } | undefined;

  constructor(private readonly parts: ShellParts) {}

  get isRunning(): boolean {
    return this.running !== undefined;
  }

  /** No command can begin now. */
  get isBlocked(): boolean {
    return this.isRunning || this.parts.isHeldUp();
  }

  /**
   * Runs a command, also beside a run of the model's, and resolves when it has ended and the model was told.
   * @param typed the whole line, for the input history.
   * @throws Error when another one is running, files are being moved, or it cannot be started.
   */
  async run(line: ShellLine, typed: string): Promise<void> {
    if (this.parts.isHeldUp())
      throw new Error(`A command of yours has to wait: files are moved${stopHint(this.parts.keymap())}.`);
    void this.parts.session().then(({ noteInput }) => noteInput(typed));
    try {
      await this.runAlone(line);
    } finally {
      this.parts.ended();
    }
  }

  private async runAlone(line: ShellLine): Promise<void> {
    if (this.running) throw new Error(`A command of yours is still running${stopHint(this.parts.keymap())}.`);
    const abort = new AbortController();
    const ended = Promise.withResolvers<void>();
    this.running = { abort, ended: ended.promise };
    this.parts.change((view) => ({ ...view, shell: toShellCall(line, now()) }));
    try {
      await this.runToEnd(line, abort.signal);
    } finally {
      this.running = undefined;
      this.parts.change((view) => ({ ...view, shell: undefined }));
      ended.resolve();
    }
  }

  /** Stops the command that is running and resolves when it has ended. */
  async stop(): Promise<void> {
    this.running?.abort.abort();
    await this.running?.ended;
  }

  private async runToEnd(line: ShellLine, signal: AbortSignal): Promise<void> {
    const opened = await this.parts.session();
    const {
      output,
      isError = false,
      metadata = {},
      ...rest
    } = await runShellLine(line, opened, {
      signal,
      onUpdate: (partial) => this.changeCall((call) => ({ ...call, partial })),
    });
    this.changeCall((call) => ({ ...call, result: { output, isError, metadata, endedAt: now() } }));
    this.parts.change(showShellCall);
    await this.parts.untilTellable();
    await tellOfShellLine(line, { output, isError, metadata, ...rest }, opened);
    this.parts.change((view) => ({ ...view, status: { ...view.status, ...toContextStatus(opened) } }));
  }

  private changeCall(change: (call: ToolCallView) => ToolCallView): void {
    this.parts.change((view) =>
      view.shell ? { ...view, shell: { ...view.shell, call: change(view.shell.call) } } : view,
    );
  }
}
