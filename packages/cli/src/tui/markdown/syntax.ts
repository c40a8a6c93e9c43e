import { Lexer, Marked, type MarkedToken, type Token, type Tokens } from "marked";

/** One or more link definitions (`[1]: https://…`) as written. */
export const DEFINITION = "definition";

/** Parses Markdown. */
export interface Syntax {
  /**
   * The blocks of a text, nested ones too, without parsing sentences. Their `raw` texts add up to the text.
   */
  readBlocks(text: string): Token[];
  /** Parses everything. @throws Error if marked cannot, for example with thousands of nested quotes. */
  read(text: string): Token[];
}

/**
 * GitHub's Markdown, except for links by label: `[text][1]` stays as written, and its definition is a block
 * that shows the target. Definitions are usually at the end of an answer, when the text above can no longer
 * change.
 */
export function createSyntax(): Syntax {
  const { defaults } = new Marked({
    tokenizer: { def: () => undefined, lheading: (source) => (isUnderlined(source) ? false : undefined) },
    extensions: [{ name: DEFINITION, level: "block", tokenizer: readDefinitions }],
  });
  return {
    readBlocks: (text) => new Lexer(defaults).blockTokens(text, []),
    read: (text) => new Lexer(defaults).lex(text),
  };
}

/** Marked's own detection takes 2 ms per kilobyte of every paragraph. False delegates to it. */
function isUnderlined(source: string): boolean {
  const end = source.search(/\n[ \t]*\n/);
  return /\n {0,3}(?:=+|-+)[ \t]*(?:\n|$)/.test(end < 0 ? source : source.slice(0, end + 1));
}

/** The token with marked's types; undefined for unknown ones. */
export function toMarkedToken(token: Token): MarkedToken | undefined {
  return isMarkedToken(token) ? token : undefined;
}

/** True for fenced code whose closing fence has arrived. */
export function isClosedFence({ raw }: Pick<Tokens.Code, "raw">): boolean {
  const [, fence] = /^ {0,3}(`{3,}|~{3,})/.exec(raw) ?? [];
  if (fence === undefined) return false;
  const lastLine = raw.replace(/\n+$/, "").split("\n").slice(1).at(-1) ?? "";
  return new RegExp(`^ {0,3}${fence}${fence.charAt(0)}* *$`).test(lastLine);
}

// Definitions on one line only, so that a complete line shows whether a definition is complete.
const DEFINITIONS =
  /^(?: {0,3}\[(?!\s*\])(?:\\.|[^\n[\]\\])+\]:[ \t]*[^\s<][^\s]*(?:[ \t]+(?:"[^"\n]*"|'[^'\n]*'|\([^()\n]*\)))?[ \t]*(?:\n|$))+/;

function readDefinitions(
  this: { lexer: { state: { lastToken?: Token } } },
  source: string,
): Tokens.Generic | undefined {
  // Within a list item, the lines of a paragraph arrive one by one; a definition cannot interrupt it.
  if (this.lexer.state.lastToken?.type === "text") return undefined;
  const raw = DEFINITIONS.exec(source)?.[0].replace(/\n$/, "");
  return raw === undefined ? undefined : { type: DEFINITION, raw };
}

const MARKED_TYPES = new Set(
  (
    "blockquote br checkbox code codespan def del em escape heading hr html image link list list_item paragraph space " +
    "strong table text"
  ).split(" "),
);

function isMarkedToken(token: Token): token is MarkedToken {
  return MARKED_TYPES.has(token.type);
}
