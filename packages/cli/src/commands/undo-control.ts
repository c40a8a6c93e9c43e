import type { MoveProgress } from "@diligent/core/light";
import type { CliIo, SignalName } from "../cli-io.ts";
import { SIGNAL_EXIT_CODES } from "../exit-codes.ts";
import { describeLeaving } from "../undo/describe-progress.ts";
import { createProgressLines, ProgressLine } from "../undo/progress-lines.ts";
import { writeFailure } from "../write-line.ts";

/** How files are moved from outside of a session: what is shown of it on stderr, and how it is stopped. */
export interface UndoControl {
  signal: AbortSignal;
  onProgress(progress: MoveProgress): void;
  /** What asked for an end. */
  readonly stoppedBy: SignalName | undefined;
  /** From now on signals end the program again. */
  end(): void;
}

/**
 * A signal stops it, and what was done is put back; with a second one the program ends where it is.
 * @param isDryRun true: nothing is moved, so nothing can be left halfway.
 */
export function createUndoControl(move: "undo" | "redo", io: CliIo, isDryRun = false): UndoControl {
  const { stderr } = io;
  const line = stderr.isTerminal ? new ProgressLine(move, stderr) : undefined;
  const abort = new AbortController();
  let stoppedBy: SignalName | undefined;
  const unsubscribe = io.onSignal((signal) => {
    line?.clear();
    if (stoppedBy === undefined) {
      stoppedBy = signal;
      abort.abort();
      return;
    }
    if (!isDryRun) writeFailure(stderr, describeLeaving(move));
    void stderr.flush().then(() => io.exit(SIGNAL_EXIT_CODES[signal]));
  });
  return {
    signal: abort.signal,
    onProgress: line?.show ?? createProgressLines(move, (text) => writeFailure(stderr, text)),
    get stoppedBy() {
      return stoppedBy;
    },
    end() {
      unsubscribe();
      line?.clear();
    },
  };
}
