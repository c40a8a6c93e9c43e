import { isAbsolute, join, normalize, relative } from "node:path";

/** What narrows a search besides its words; each becomes a word of a column of its own. */
export interface Facets {
  agent: string;
  /** The project's root. */
  project: string;
  role: string;
  tool?: string | undefined;
  /** Paths in the form of `toFullPath`. */
  files?: readonly string[] | undefined;
}

// Languages without spaces between words: each character is a word, and several are a phrase.
const UNSPACED = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}]/gu;
const MAX_DEPTH = 6;

/** The text as it is given to the index. */
export function toIndexedText(text: string): string {
  return text.replace(UNSPACED, " $& ");
}

/** The facets as words that no text has to be compared with. */
export function facetsOf({ agent, project, role, tool, files = [] }: Facets): string {
  const words = [facet("a", agent), facet("p", project), facet("r", role)];
  if (tool !== undefined) words.push(facet("t", tool.toLowerCase()));
  // A file is found by its path or any end of it.
  for (const file of files) {
    const parts = file.split("/").filter(Boolean);
    const first = Math.max(0, parts.length - MAX_DEPTH);
    for (let start = parts.length - 1; start >= first; start--)
      words.push(facet("f", parts.slice(start).join("/")));
    words.push(facet("f", file));
    if (isAbsolute(project) && isAbsolute(file)) words.push(facet("f", relative(project, file)));
  }
  return [...new Set(words)].join(" ");
}

/**
 * A path without `.`, `..` and a slash at its end; a relative one starts from the directory.
 * @param directory empty if it is unknown; a relative path stays relative then.
 */
export function toFullPath(path: string, directory: string): string {
  const full = isAbsolute(path) || !isAbsolute(directory) ? normalize(path) : join(directory, path);
  return full.length > 1 && full.endsWith("/") ? full.slice(0, -1) : full;
}

/** The paths by which a file is searched for: as the user writes it, and from the directory in which they are. */
export function searchedPaths(file: string, directory = ""): string[] {
  return [...new Set([toFullPath(file, ""), toFullPath(file, directory)])];
}

/** One facet as a word. */
export function facet(kind: "a" | "p" | "r" | "t" | "f", value: string): string {
  return `${kind}${Bun.hash(value).toString(16)}`;
}

const HAS_WORD = /[\p{L}\p{N}]/u;

/** A query in the form of FTS5, and the words to show in context. Undefined without any word. */
export interface ParsedQuery {
  match: string;
  words: string[];
}

/**
 * Parses what a user enters: words that must all occur, `"a phrase"`, and `beginning*`. Everything else is taken
 * literally.
 */
export function parseQuery(query: string): ParsedQuery | undefined {
  const terms = [...query.toWellFormed().matchAll(/"([^"]*)"?(\*?)|(\S+)/g)].flatMap(
    ([, phrase, star, word = ""]) => {
      const isPrefix = star === "*" || (phrase === undefined && word.endsWith("*"));
      const text = (phrase ?? word).replaceAll('"', " ");
      if (!HAS_WORD.test(text)) return [];
      return [{ text, isPrefix }];
    },
  );
  if (terms.length === 0) return undefined;
  const quoted = terms.map(
    ({ text, isPrefix }) => `"${toIndexedText(text).replace(/\*$/, "").trim()}"${isPrefix ? " *" : ""}`,
  );
  return {
    match: quoted.map((term) => `text : ${term}`).join(" AND "),
    words: terms.map(({ text }) => text.replace(/\*$/, "")),
  };
}
