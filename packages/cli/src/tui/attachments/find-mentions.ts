// `@` begins a mention anywhere but within a word, which keeps addresses of mail out. A file that is dragged into a
// terminal arrives as its path, in quotes or with backslashes before blanks.
const PATHS =
  /(?<=^|[\s([{<"'`,;:])@(?:"(?<quotedMention>[^"\n]+)"|(?<mention>[^\s"'`,;<>@]+))|(?<=^|\s)(?:(?<quote>['"])(?<quotedImage>(?:~?\/|\.{1,2}\/)[^'"\n]+)\k<quote>|(?<word>(?:[^\s\\"'@]+|\\.)+))/gu;

const IMAGE = /\.(?:png|jpe?g|gif|webp)$/i;
// The longest path that Linux takes; anything longer is no path.
const MAX_PATH_CHARS = 4_096;

/**
 * The paths that a prompt names, each once, in order: behind `@`, in double quotes where they hold blanks, and images by a
 * path with a slash. Whether there is such a file is another question; a sentence's own punctuation is left out.
 */
export function findMentions(text: string): string[] {
  const paths = Array.from(text.matchAll(PATHS), ({ groups = {} }) => {
    const { quotedMention, mention, quotedImage, word } = groups;
    if (mention !== undefined) return withoutPunctuation(mention);
    if (word !== undefined) return toImagePath(withoutPunctuation(word));
    if (quotedImage !== undefined) return IMAGE.test(quotedImage) ? quotedImage : "";
    return quotedMention ?? "";
  });
  return [...new Set(paths.filter((path) => path !== "" && path.length <= MAX_PATH_CHARS))];
}

function toImagePath(word: string): string {
  const isImagePath = word.includes("/") && !word.includes("://") && IMAGE.test(word);
  return isImagePath ? word.replace(/\\(.)/gu, "$1") : "";
}

const CLOSING: Readonly<Record<string, string>> = { ")": "(", "]": "[", "}": "{" };

/** Brackets that were opened in the path belong to it, as in `app/(shop)/page.tsx`. */
function withoutPunctuation(text: string): string {
  if (text.length > MAX_PATH_CHARS) return "";
  let path = text;
  while (isLoose(path)) path = path.slice(0, -1);
  return path;
}

/** True where the last character belongs to the sentence. */
function isLoose(path: string): boolean {
  const last = path.at(-1) ?? "";
  const opening = CLOSING[last];
  if (opening !== undefined) return count(path, last) > count(path, opening);
  return /[.,;:!?]/.test(last) && !/(?:^|\/)\.{1,2}$/.test(path);
}

function count(text: string, character: string): number {
  return text.split(character).length - 1;
}
