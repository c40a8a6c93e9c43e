import { Lexer, Marked, type MarkedToken, type Token, type Tokens } from "marked";

/** A link definition (`[1]: https://…`), or several in a row, as they are written. */
export const DEFINITION = "definition";

/** Reads Markdown. */
export interface Syntax {
  /** The blocks of a text, nested ones too, with nothing inside of sentences looked at yet. Their `raw` adds up to the text. */
  readBlocks(text: string): Token[];
  /** Everything. @throws Error for what marked cannot read, such as thousands of nested quotes. */
  read(text: string): Token[];
}

/**
 * GitHub's Markdown, but for links by label: `[text][1]` stays as it is written, and the definition is a block of its
 * own that shows the target. A streamed answer usually ends with its definitions, and what was shown until then could
 * not change any more.
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

/** Marked's own way to find out takes 2 ms for each kilobyte of every paragraph. False hands on to it. */
function isUnderlined(source: string): boolean {
  const end = source.search(/\n[ \t]*\n/);
  return /\n {0,3}(?:=+|-+)[ \t]*(?:\n|$)/.test(end < 0 ? source : source.slice(0, end + 1));
}

/** The token as marked describes it; undefined for those that it does not know. */
export function toMarkedToken(token: Token): MarkedToken | undefined {
  return isMarkedToken(token) ? token : undefined;
}

/** True for a piece of code between fences whose second fence is there. */
export function isClosedFence({ raw }: Pick<Tokens.Code, "raw">): boolean {
  const [, fence] = /^ {0,3}(`{3,}|~{3,})/.exec(raw) ?? [];
  if (fence === undefined) return false;
  const lastLine = raw.replace(/\n+$/, "").split("\n").slice(1).at(-1) ?? "";
  return new RegExp(`^ {0,3}${fence}${fence.charAt(0)}* *$`).test(lastLine);
}

// On one line each: whether one is complete can then be told as soon as its line is.
const DEFINITIONS =
  /^(?: {0,3}\[(?!\s*\])(?:\\.|[^\n[\]\\])+\]:[ \t]*[^\s<][^\s]*(?:[ \t]+(?:"[^"\n]*"|'[^'\n]*'|\([^()\n]*\)))?[ \t]*(?:\n|$))+/;

function readDefinitions(
  this: { lexer: { state: { lastToken?: Token } } },
  source: string,
): Tokens.Generic | undefined {
  // Within a list item the lines of a paragraph come one by one; a definition cannot interrupt it.
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
