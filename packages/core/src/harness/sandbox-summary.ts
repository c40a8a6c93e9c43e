import type { SessionSandbox } from "../sandbox/session-sandbox.ts";

/** Whether the commands of a session run in a sandbox, as far as it is known: it is tried with the first of them. */
export class SandboxSummary {
  /** Called when there turns out to be none though one was expected. */
  onChange: (() => void) | undefined;
  /** Why there is none, once it was tried. */
  private problem: string | undefined;

  constructor(private readonly sandbox: SessionSandbox) {}

  get isSandboxed(): boolean {
    return this.problem === undefined && this.sandbox.isExpected;
  }

  /** A sentence, with the reason where there is none. */
  get text(): string {
    const { setting, startProblem } = this.sandbox;
    if (this.isSandboxed) return "Commands run in a sandbox.";
    if (this.problem === undefined)
      return (
        startProblem ?? 'Commands run without a sandbox, and ask before: the setting "sandbox" is "off".'
      );
    return setting === "required"
      ? `No command runs: the setting "sandbox" is "required", and ${this.problem}.`
      : `Commands run without a sandbox, and ask before: ${this.problem}.`;
  }

  /** Finds out whether there is one. */
  async check(): Promise<void> {
    // What goes wrong here goes wrong with the next command, which says it.
    const state = await this.sandbox.sandboxState().catch(() => undefined);
    if (!state || state.kind === "boxed" || state.problem === undefined || !this.isSandboxed) return;
    this.problem = state.problem;
    this.onChange?.();
  }
}
