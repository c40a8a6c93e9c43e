import { closeSync } from "node:fs";

/**
 * How a program that runs a command reports its state on descriptor 3:
 * - `staying_shell`: the line `begun` before the command is run; when it has ended, a line with its exit code, a space,
 *   and 1 if some of its processes still run, else 0. The program stays until none does.
 * - `bubblewrap`: the JSON objects of its option `--json-status-fd`.
 */
export type ReportFormat = "staying_shell" | "bubblewrap";

const BEGUN = "begun\n";
const END = /^begun\n(\d{1,3}) ([01])\n/;
// Longer text is not a report.
const MAX_CHARACTERS = 2_048;

/** The report of such a program so far. */
export class CommandReport {
  /** Resolves when the command's end was reported, or no further report is possible. */
  readonly ended: Promise<void>;
  /** Resolves when the first object of bubblewrap has arrived, or no further report is possible. */
  readonly started: Promise<void>;
  private text = "";
  private markStarted: () => void = () => {};
  private reader: { cancel(): Promise<void> } | undefined;

  /** @param readEnd of a pipe, which is closed at the end; the caller closes the other end. */
  constructor(
    private readonly format: ReportFormat,
    readEnd: number,
  ) {
    this.started = new Promise((resolve) => {
      this.markStarted = resolve;
    });
    this.ended = this.read(readEnd);
  }

  /** True once the command itself was started, after its setup. */
  get hasBegun(): boolean {
    return this.format === "staying_shell" ? this.text.startsWith(BEGUN) : this.exitCode !== undefined;
  }

  get exitCode(): number | undefined {
    const code = this.format === "staying_shell" ? END.exec(this.text)?.[1] : this.find("exit-code");
    return code === undefined ? undefined : Number(code);
  }

  /** True when a process still ran in the background when the command had ended; undefined if that was not reported. */
  get leftRunning(): boolean | undefined {
    const [, , runsOn] = END.exec(this.text) ?? [];
    return runsOn === undefined ? undefined : runsOn === "1";
  }

  /** The first process in the sandbox, by its number outside. */
  get childProcessId(): number | undefined {
    const id = this.find("child-pid");
    return id === undefined ? undefined : Number(id);
  }

  /** The number of the command's own mount namespace. */
  get mountNamespace(): string | undefined {
    return this.find("mnt-namespace");
  }

  /** Stops reading, which keeps this program alive. */
  async stop(): Promise<void> {
    await this.reader?.cancel().catch(() => undefined);
    await this.ended;
  }

  private find(name: string): string | undefined {
    if (this.format !== "bubblewrap") return undefined;
    return new RegExp(`"${name}": (\\d+)\\D`).exec(this.text)?.[1];
  }

  private async read(readEnd: number): Promise<void> {
    const reader = Bun.file(readEnd).stream().pipeThrough(new TextDecoderStream()).getReader();
    this.reader = reader;
    try {
      while (this.exitCode === undefined && this.text.length <= MAX_CHARACTERS) {
        const { done, value } = await reader.read();
        if (done) break;
        this.text += value;
        if (this.text.includes("}")) this.markStarted();
      }
    } catch {
      // Then the exit of the program itself counts.
    } finally {
      this.markStarted();
      await reader.cancel().catch(() => undefined);
      closeSync(readEnd);
    }
  }
}
