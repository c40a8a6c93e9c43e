import { EXIT_FAILURE, EXIT_SUCCESS, SIGNAL_EXIT_CODES, UsageError } from "../errors.ts";
import { type CliIo, writeLine } from "../io/io.ts";
import { describeProgress } from "../print/summary.ts";
import { toJsonText } from "../text/format.ts";
import { sanitizeTerminalText } from "../text/terminal-text.ts";
import { startSession } from "./start-session.ts";

/** Command line options. */
interface CompactOptions {
  /** As in `--continue REF`. */
  reference: string;
  /** What the summary must keep above all. */
  focus?: string | undefined;
  isJson: boolean;
  /** Id or alias of the model that summarizes, if not the session's own. */
  model: string | undefined;
  /** As given with `-C`. */
  directory: string | undefined;
}

/**
 * Summarizes the older part of a session and prints the summary. A signal leaves the session unchanged; a failed write
 * is an error.
 * @throws UsageError if the session, or a model for it, cannot be opened, or it is read-only; nothing was sent then.
 */
export async function compactSession(
  { reference, focus, isJson, model, directory }: CompactOptions,
  io: CliIo,
): Promise<number> {
  const options = {
    isSaved: true,
    isVerbose: false,
    ...(model !== undefined && { model }),
    ...(directory !== undefined && { directory }),
  };
  const resumption = { how: "continue" as const, reference };
  const opened = await startSession({ options, resumption }, io, { approvalDefault: "deny" });
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
    if (outcome.kind === "nothing") writeLine(io.stderr, "Nothing to summarize in this session yet.");
    const entry = outcome.kind === "compacted" ? outcome.entry : null;
    if (isJson) io.stdout.write(toJsonText(entry));
    else if (entry) io.stdout.write(sanitizeTerminalText(`${entry.summary}\n`));
    return exitCode;
  } finally {
    unsubscribe();
    opened.close();
  }
}
