import { existsSync } from "node:fs";
import type { Environment } from "../infrastructure/environment.ts";
import { controlJournalDirectory } from "../infrastructure/places/control-journal-place.ts";
import type { CommandBox } from "../infrastructure/processes/shell-box.ts";
import { findSandboxProgram, type SandboxProgram } from "./find-sandbox.ts";

/** What a session's commands may touch, and what tells of it. */
export interface SandboxOptions {
  /** `auto`: in a box where there can be one; `required`: or not at all; `off`: as any program of the user's. */
  setting: "auto" | "required" | "off";
  environment: Environment;
  /** The project root, absolute and real. */
  root: string;
  /** Further directories that commands may write to: absolute, or from `~/`. */
  writable?: readonly string[] | undefined;
  /** The session's private temporary directory, made on first use; undefined where none can be made. */
  directory(): string | undefined;
  /** Tells the user, in a sentence: that a box that was expected cannot be had, or what was taken away. */
  tell?: ((message: string) => void) | undefined;
}

/**
 * Decides how the commands of a session run. Looking for a program is all that happens before the first command; what
 * makes boxes is loaded and tried then.
 */
export class SessionSandbox {
  private readonly found: SandboxProgram | { problem: string } | undefined;
  private opening: Promise<OpenedBox> | undefined;
  private tidying: Promise<void> | undefined;

  constructor(private readonly options: SandboxOptions) {
    this.found = options.setting === "off" ? undefined : findSandboxProgram(options);
  }

  get setting(): SandboxOptions["setting"] {
    return this.options.setting;
  }

  /** False where every command runs as any program of the user's. */
  get isWanted(): boolean {
    return this.isExpected || this.setting === "required";
  }

  /** True unless it is known already that commands will not run in a box. */
  get isExpected(): boolean {
    return this.found !== undefined && "path" in this.found;
  }

  /** What to tell the user at the start: that a box was wanted and there is none. Undefined otherwise. */
  get startProblem(): string | undefined {
    return this.found && "problem" in this.found ? describe(this.found.problem, this.options) : undefined;
  }

  /**
   * Takes away what boxed commands of a session left in the project that was killed, which is told. To be called before
   * anything in the project is taken for the user's; otherwise it is done before the first command.
   */
  tidyUp(): Promise<void> {
    this.tidying ??= this.tidy();
    return this.tidying;
  }

  /** How commands run; the first time it is tried whether boxes work here. */
  async commandBox(): Promise<CommandBox> {
    return (await this.open()).state;
  }

  /** To be called at the end, when nothing runs any more. */
  async close(): Promise<void> {
    await (await this.opening)?.close();
  }

  private open(): Promise<OpenedBox> {
    this.opening ??= this.find();
    return this.opening;
  }

  private async tidy(): Promise<void> {
    const { environment, root, tell } = this.options;
    const directory = controlJournalDirectory(environment, root);
    if (directory === undefined || !existsSync(directory)) return;
    const [{ tidyCutOffSessions }, { findQuarantine }] = await Promise.all([
      import("./control/tidy-cut-off.ts"),
      import("./open-box.ts"),
    ]);
    tidyCutOffSessions({ directory, root, quarantine: findQuarantine(this.options), tell });
  }

  private async find(): Promise<OpenedBox> {
    if (this.found === undefined) return without({ kind: "open" });
    if ("problem" in this.found) return without(toState(this.found.problem, this.options));
    await this.tidyUp();
    const { openBox } = await import("./open-box.ts");
    const mayLeave = this.options.setting !== "required";
    const opened = await openBox(this.found, { ...this.options, mayLeave });
    if ("box" in opened) {
      const { box } = opened;
      return { state: { kind: "boxed", box, mayLeave }, close: () => box.close() };
    }
    this.options.tell?.(describe(opened.problem, this.options));
    return without(toState(opened.problem, this.options));
  }
}

interface OpenedBox {
  state: CommandBox;
  close(): Promise<void>;
}

function without(state: CommandBox): OpenedBox {
  return { state, close: async () => {} };
}

function toState(problem: string, { setting }: Pick<SandboxOptions, "setting">): CommandBox {
  return setting === "required" ? { kind: "refused", problem } : { kind: "open", problem };
}

function describe(problem: string, { setting }: Pick<SandboxOptions, "setting">): string {
  return setting === "required"
    ? `No command will run: the setting "sandbox" is "required", and ${problem}.`
    : `Commands run without a sandbox, and ask before: ${problem}.`;
}
