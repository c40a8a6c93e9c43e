/** Texts that a model reads in place of a result that a tool did not give. */

/** Providers refuse an empty text. */
export const EMPTY_OUTPUT = "(no output)";

/** The call was running when it was stopped. */
export const INTERRUPTED =
  "Interrupted: the call did not finish, and what it had done by then is unknown. Check before you repeat it.";

/** The result is missing: the process died, or the user stopped it. */
export const OUTCOME_UNKNOWN =
  "The tool call was interrupted before it returned a result. Whether it took effect is unknown: check before you repeat it.";

/** The run was stopped before it came to this call. */
export const NOT_STARTED = "Interrupted: the run was stopped before this call was started. It was not run.";

/**
 * True for a text that providers refuse as empty; the control characters are blank to Python, which serves some
 * models.
 */
export function isBlank(text: string): boolean {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what it is about.
  return /^[\s\x1c-\x1f\x85]*$/.test(text);
}
