import type { HighlightOptions } from "marked-terminal";
import type { Style, Theme } from "../theme.ts";
import { findLanguage } from "./code-languages.ts";

/** Code of which more may follow is still open. */
export interface CodeBlock {
  code: string;
  /** What follows the fence. */
  info: string;
  isOpen: boolean;
}

/** Code in the looks of its language, or as it is. */
export type Highlight = (block: CodeBlock) => string;

// 20,000 characters take 100 ms. Lines that long were written by a program; the highlighter takes a second for them.
const MAX_CHARS = 20_000;
const MAX_LINE_CHARS = 1_000;
const MAX_KEPT_CHARS = 500_000;

/**
 * Open code is highlighted line by line, which needs only its new lines: as a whole it would be read anew with each of
 * them. A comment over several lines gets its look when the code is complete.
 *
 * @param paint Highlights one text by a language that it knows.
 */
export function createHighlight(paint: (code: string, language: string) => string): Highlight {
  const paintOnce = remember((code, language) => {
    const painted = paint(code, language);
    // It goes by way of HTML: should anything of the code be lost there, the code is what counts.
    return Bun.stripANSI(painted) === code ? painted : code;
  });
  return ({ code, info, isOpen }) => {
    const language = findLanguage(info);
    if (language === undefined || code.length > MAX_CHARS) return code;
    if (code.split("\n").some(({ length }) => length > MAX_LINE_CHARS)) return code;
    if (!isOpen) return paintOnce(code, language);
    return code
      .split("\n")
      .map((line) => (line.trim() === "" ? line : paintOnce(line, language)))
      .join("\n");
  };
}

/** What the parts of a language look like, by the highlighter's names; all of them, since it has its own colours for the others. */
export function highlightTheme(theme: Theme): NonNullable<HighlightOptions["theme"]> {
  const plain: Style = (text) => text;
  const { keyword, string, number, comment, name, added, removed } = theme;
  return {
    ...{
      default: plain,
      subst: plain,
      function: plain,
      class: plain,
      params: plain,
      tag: plain,
      formula: plain,
    },
    ...{ keyword, selector: keyword, name: keyword, bullet: keyword, doctag: keyword, template: plain },
    ...{ string, regexp: string, code: string, quote: comment, comment, meta: comment },
    ...{ number, literal: number, symbol: number, variable: number },
    ...{
      title: name,
      type: name,
      built_in: name,
      builtin: name,
      attr: name,
      attribute: name,
      property: name,
    },
    ...{ section: theme.heading, strong: theme.bold, emphasis: theme.italic, link: theme.link },
    ...{ addition: added, deletion: removed },
  };
}

type Paint = (code: string, language: string) => string;

/** An answer that is coming is laid out many times. */
function remember(paint: Paint): Paint {
  const kept = new Map<string, string>();
  let chars = 0;
  return (code, language) => {
    const key = `${language}\n${code}`;
    const known = kept.get(key);
    if (known !== undefined) return known;
    const painted = paint(code, language);
    chars += key.length + painted.length;
    if (chars > MAX_KEPT_CHARS) {
      kept.clear();
      chars = key.length + painted.length;
    }
    kept.set(key, painted);
    return painted;
  };
}
