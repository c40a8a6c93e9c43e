import type { Token, Tokens } from "marked";
import type { HighlightOptions } from "marked-terminal";
import type { Style, Theme } from "../theme.ts";
import { decodeReferences, type Highlight, layoutBlocks, type MarkdownLayout } from "./layout.ts";
import type { Syntax } from "./syntax.ts";

/** Safe Markdown as lines. @throws Error if marked cannot parse it. */
export type RenderSafeMarkdown = (markdown: string, width: number) => string[];

/**
 * marked-terminal renders sentences and highlights code. The blocks are laid out here, because it knows
 * neither character widths nor the remaining width in a list.
 */
export function createMarkdownRenderer(
  { Marked, Parser, markedTerminal, syntax }: MarkdownLibraries,
  theme: Theme,
): RenderSafeMarkdown {
  const plain = (text: string) => text;
  const terminal = markedTerminal(
    {
      tab: 0,
      emoji: false,
      unescape: false,
      code: plain,
      strong: theme.bold,
      em: theme.italic,
      del: theme.strikethrough,
    },
    { ignoreIllegals: true, theme: highlightTheme(theme) },
  );
  const { defaults } = new Marked(terminal, { renderer: createInlineOverrides(theme) });
  const parser = new Parser<string, string>(defaults);
  const highlight = createHighlight((text, lang) =>
    theme.isColored ? parser.parse([{ type: "code", raw: "", lang, text }]).slice(0, -"\n\n".length) : text,
  );
  const renderInline: MarkdownLayout["renderInline"] = (tokens) => parser.parseInline([...tokens]);
  return (markdown, width) => layoutBlocks(syntax.read(markdown), { width, theme, renderInline, highlight });
}

/** Replaces marked-terminal's handling of links, entities, colons, line ends and nested text. */
function createInlineOverrides(theme: Theme) {
  return {
    text(
      this: { parser: { parseInline(tokens: Token[]): string } },
      token: Tokens.Text | Tokens.Escape,
    ): string {
      if (token.type === "escape") return token.text;
      return token.tokens ? this.parser.parseInline(token.tokens) : toOneLine(decodeReferences(token.raw));
    },
    codespan({ text }: Tokens.Codespan): string {
      return theme.isColored ? theme.code(toOneLine(text)) : `\`${toOneLine(text)}\``;
    },
    link(this: { parser: { parseInline(tokens: Token[]): string } }, token: Tokens.Link): string {
      return renderLink(token, this.parser.parseInline(token.tokens), theme);
    },
    image({ text, href }: Tokens.Image): string {
      return `[image${text === "" ? "" : `: ${toOneLine(decodeReferences(text))}`}] (${theme.link(toTarget(href))})`;
    },
    html({ text }: Tokens.HTML | Tokens.Tag): string {
      return /^<br\s*\/?>$/i.test(text) ? "\n" : theme.dim(toOneLine(text));
    },
    br: () => "\n",
    checkbox: () => "",
  };
}

/** A link whose text does not contain its target is followed by the target. */
function renderLink({ href, autolink }: Tokens.Link, text: string, theme: Theme): string {
  const target = autolink ? toOneLine(href).replace(/^mailto:/, "") : toTarget(href);
  const shown = Bun.stripANSI(text);
  if (shown.trim() === "" || target === shown || target === `http://${shown}`) return theme.link(target);
  return `${theme.link(text)} (${theme.dim(target)})`;
}

function toTarget(href: string): string {
  return toOneLine(decodeReferences(href));
}

function toOneLine(text: string): string {
  return text.replace(/[ \t]*\n[ \t]*/g, " ").replaceAll("\t", " ");
}

// 20,000 characters take 100 ms. Longer lines are generated, and the highlighter would take a second for
// them.
const MAX_CHARS = 20_000;
const MAX_LINE_CHARS = 1_000;
const MAX_KEPT_CHARS = 500_000;

/**
 * Open code is highlighted line by line, so that only its new lines are processed; as a whole it would be
 * processed again with every line. A comment over several lines gets its style when the code is complete.
 *
 * @param paint highlights a text in a known language.
 */
function createHighlight(paint: (code: string, language: string) => string): Highlight {
  const paintOnce = remember((code, language) => {
    const painted = paint(code, language);
    // Highlighting goes through HTML: if any of the code is lost on the way, the plain code is used.
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

/**
 * The styles of code elements by the highlighter's names; complete, since it has its own colours for missing
 * ones.
 */
function highlightTheme(theme: Theme): NonNullable<HighlightOptions["theme"]> {
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

/** A streaming answer is laid out many times. */
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

/**
 * Languages that the highlighter knows. An unknown one makes it write to stderr; none makes it try every
 * language.
 */
export const HIGHLIGHTED_LANGUAGES: ReadonlySet<string> = new Set(
  (
    "bash sh shell zsh console c h cpp cc c++ hpp cs csharp clojure clj cmake coffeescript css scss less dart diff patch " +
    "dockerfile docker elixir elm erlang erl fortran fsharp go golang gradle groovy handlebars haskell hs html xhtml http " +
    "ini java javascript js jsx mjs cjs json julia kotlin kt latex tex lisp lua makefile mk make markdown md matlab nginx " +
    "nix objectivec objc ocaml ml perl pl php powershell ps1 properties protobuf python py r rb ruby rs rust scala scheme " +
    "sql svg swift toml tcl typescript ts tsx vb vim xml yaml yml"
  ).split(" "),
);

/** Names that the highlighter does not know, with the closest one that it does. */
const NEAREST: ReadonlyMap<string, string> = new Map(
  Object.entries({
    cts: "ts",
    dotenv: "ini",
    env: "ini",
    ex: "elixir",
    exs: "elixir",
    json5: "json",
    jsonc: "json",
    jsonl: "json",
    mts: "ts",
    ndjson: "json",
    proto: "protobuf",
    python3: "python",
    svelte: "html",
    vue: "html",
  }),
);

/**
 * The highlighter's language for the text after a code fence, such as `ts title="a.ts"`; undefined if it
 * knows none.
 */
function findLanguage(info: string): string | undefined {
  const name = /^[^\s,:{]*/.exec(info.trim().toLowerCase())?.[0] ?? "";
  return HIGHLIGHTED_LANGUAGES.has(name) ? name : NEAREST.get(name);
}

/** The Markdown parser and the highlighter: 100 ms and 30 MB, most of it for the highlighter's languages. */
export interface MarkdownLibraries {
  syntax: Syntax;
  Parser: typeof import("marked").Parser;
  Marked: typeof import("marked").Marked;
  markedTerminal: typeof import("marked-terminal").markedTerminal;
}
