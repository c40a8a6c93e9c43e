import type { JobOutput } from "../../jobs/job-output.ts";

/** The output of a sub-agent that works in the background: its report, once it has ended. */
export class BackgroundReport implements JobOutput {
  readonly path = undefined;
  readonly shortfall = undefined;
  private bytes = new Uint8Array();

  get totalBytes(): number {
    return this.bytes.length;
  }

  set(report: string): void {
    this.bytes = new TextEncoder().encode(report);
  }

  read(from: number): Iterable<{ at: number; bytes: Uint8Array }> {
    return [{ at: from, bytes: this.bytes.subarray(from) }];
  }

  /** Empty: the notice of its end is not the place for text of a sub-agent, which only a result contains. */
  lastLine(): string {
    return "";
  }

  close(): void {}

  remove(): void {
    this.bytes = new Uint8Array();
  }
}
