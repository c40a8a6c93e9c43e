import { readLines } from "../infrastructure/reading/line-reader.ts";
import { messageText } from "../types.ts";
import { parseSessionLine } from "./parse-line.ts";

/** How much of a session is read. */
export interface SessionTextOptions {
  /** Of the text; what is beyond it is not read. */
  maxCharacters: number;
  /** Aborting it ends the reading with what there is. */
  signal?: AbortSignal | undefined;
}

// Between two parts of so many characters whoever waits for a key gets their turn.
const PART_CHARACTERS = 512 * 1024;
// What a result costs although nothing of it is kept: it has to be passed over.
const PASSED_CHARACTERS = 16 * 1024;
// Another program may have written the file, with spaces and in another order.
const SAID = /"role"\s*:\s*"(?:user|assistant)"/;
const ROLE_PLACE = 400;

/**
 * What users and models said in a session file, on every branch, for searching in it. Results of tools, calls and
 * thinking are left out. Empty for a file that cannot be read.
 */
export async function readSessionText(
  path: string,
  { maxCharacters, signal }: SessionTextOptions,
): Promise<string> {
  const texts: string[] = [];
  let characters = 0;
  let passed = 0;
  try {
    for (const { text, isCut } of readLines(path, { isBeginningEnough: (beginning) => !isSaid(beginning) })) {
      passed += isCut ? PASSED_CHARACTERS : text.length;
      if (passed > PART_CHARACTERS) {
        passed = 0;
        await new Promise(setImmediate);
      }
      if (signal?.aborted || characters >= maxCharacters) break;
      const said = isSaid(text) ? textOf(text) : "";
      if (said === "") continue;
      texts.push(said);
      characters += said.length;
    }
  } catch {
    // Removed or damaged meanwhile: it is then found by what its list entry says only.
  }
  return texts.join("\n").slice(0, maxCharacters);
}

function isSaid(line: string): boolean {
  return SAID.test(line.slice(0, ROLE_PLACE));
}

function textOf(line: string): string {
  const parsed = parseSessionLine(line);
  if (parsed?.kind !== "entry" || parsed.entry.type !== "message") return "";
  const { message } = parsed.entry;
  return message.role === "tool_result" ? "" : messageText(message);
}
