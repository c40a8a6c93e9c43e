import type { EditOutcome, EditRequest } from "./edit-plan.ts";
import { toLineFeeds } from "./line-ends.ts";
import { describeNearestText } from "./nearest-text.ts";

// A shorter text is found by chance.
const MIN_TELLING_CHARS = 10;
const MAX_NORMALISED_CHARS = 4 * 1024 * 1024;

/** For the model; `path` is absolute. */
export function ambiguousError(
  path: string,
  { count, lines, isExact }: EditOutcome & { kind: "ambiguous" },
): Error {
  const more = count > lines.length ? ", …" : "";
  const places = `lines ${lines.join(", ")}${more}`;
  if (isExact) {
    return new Error(
      `old_string occurs ${count} times in ${path} (${places}). Add lines around it until it occurs once, or set replace_all.`,
    );
  }
  return new Error(
    `old_string is not in ${path} exactly, and ${count} places are like it but for white space or quotes (${places}). ` +
      "Give the text exactly as the file has it, with lines around it until it occurs once.",
  );
}

/** Shows what the file has instead, so that the next try can be right. */
export function missingTextError(path: string, text: string, { oldText, newText }: EditRequest): Error {
  const view = toLineFeeds(text);
  const hints = [
    numberedHint(oldText),
    alreadyThereHint(view, toLineFeeds(newText)),
    normalFormHint(view, toLineFeeds(oldText)),
    describeNearestText(view, toLineFeeds(oldText)),
  ].filter((hint) => hint !== undefined);
  if (hints.length === 0)
    hints.push("Nothing in it is like it. Read the file again and copy the text from there.");
  return new Error([`old_string was not found in ${path}; nothing was changed.`, ...hints].join("\n"));
}

function numberedHint(oldText: string): string | undefined {
  const lines = oldText.split("\n").filter((line) => line.trim() !== "");
  if (!lines.every((line) => /^\s*\d+\t/.test(line))) return undefined;
  return "old_string seems to hold the line numbers that read puts in front. Leave them out, with the tab.";
}

function normalFormHint(view: string, oldText: string): string | undefined {
  if (view.length > MAX_NORMALISED_CHARS || !view.normalize("NFC").includes(oldText.normalize("NFC")))
    return undefined;
  return "The same letters are there, but their accents are encoded another way (Unicode normal form): change it with bash.";
}

function alreadyThereHint(view: string, newText: string): string | undefined {
  if (newText.trim().length < MIN_TELLING_CHARS) return undefined;
  const at = view.indexOf(newText);
  if (at === -1) return undefined;
  return `new_string is there already, at line ${view.slice(0, at).split("\n").length}: this edit may have been made before.`;
}
