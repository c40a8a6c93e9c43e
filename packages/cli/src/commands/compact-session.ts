import type { CliIo } from "../cli-io.ts";
import { EXIT_FAILURE, EXIT_SUCCESS, SIGNAL_EXIT_CODES } from "../exit-codes.ts";
import { openSession } from "../open-session.ts";
import { toJsonText } from "../output/json-line.ts";
import { describeProgress } from "../progress-lines.ts";
import { sanitizeTerminalText } from "../terminal-text.ts";
import { UsageError } from "../usage-error.ts";
import { writeLine } from "../write-line.ts";

/** What the command line asks for. */
export interface CompactWishes {
  /** As in `--continue REF`. */
  reference: string;
  /** What the summary has to keep above all. */
  focus?: string | undefined;
  isJson: boolean;
  /** An id or alias: who summarises, where it is not the model of the session. */
  model: string | undefined;
  /** As given with `-C`. */
  directory: string | undefined;
}

/**
 * Summarises the older part of a session, and prints the summary. A signal leaves the session as it was; that it cannot
 * be written is a failure.
 * @throws UsageError when the session, or a model for it, cannot be opened, or nothing can be written: nothing was sent.
 */
export async function compactSession(wishes: CompactWishes, io: CliIo): Promise<number> {
  const { reference, focus, isJson, model, directory } = wishes;
  const options = {
    isSaved: true,
    isVerbose: false,
    ...(model !== undefined && { model }),
    ...(directory !== undefined && { directory }),
  };
  const resumption = { how: "continue" as const, reference };
  const opened = await openSession({ options, resumption }, io, { approvalDefault: "deny" });
  const unsaved = opened.notices.find(({ code }) => code === "not_saved");
  if (unsaved) {
    opened.close();
    throw new UsageError(unsaved.message);
  }
  const abort = new AbortController();
  let exitCode: number = EXIT_SUCCESS;
  const unsubscribe = io.onSignal((signal) => {
    exitCode = SIGNAL_EXIT_CODES[signal];
    abort.abort();
  });
  try {
    for (const { message } of opened.notices) writeLine(io.stderr, message);
    const outcome = await opened.session.compact({
      focus,
      signal: abort.signal,
      emit: (event) => {
        const line = describeProgress(event);
        if (line !== undefined) writeLine(io.stderr, line);
        if (event.type === "notice" && event.code === "not_saved") exitCode = EXIT_FAILURE;
      },
    });
    if (outcome.kind === "nothing")
      writeLine(io.stderr, "There is nothing to summarise in this session yet.");
    const entry = outcome.kind === "compacted" ? outcome.entry : null;
    if (isJson) io.stdout.write(toJsonText(entry));
    else if (entry) io.stdout.write(sanitizeTerminalText(`${entry.summary}\n`));
    return exitCode;
  } finally {
    unsubscribe();
    opened.close();
  }
}
