/** A value in a rule file. */
export type RuleValue = string | boolean | number | RuleValue[];

/** A call such as `prefix_rule(pattern = ["git"], decision = "allow")`. */
export interface RuleCall {
  name: string;
  args: ReadonlyMap<string, RuleValue>;
  /** From 1. */
  line: number;
}

const TOKENS =
  /(?<space>[\s\\]+|#[^\n]*)|(?<long>[rR]?(?:"""[\s\S]*?"""|'''[\s\S]*?'''))|(?<string>[rR]?(?:"(?:[^"\\\n]|\\[\s\S])*"|'(?:[^'\\\n]|\\[\s\S])*'))|(?<name>[A-Za-z_]\w*)|(?<number>\d+)|(?<sign>[()[\],=])/y;

interface Token {
  kind: "string" | "name" | "number" | "sign" | "end";
  text: string;
  line: number;
}

/**
 * Reads a file that consists of calls with named arguments, a subset of Starlark. Nothing is evaluated.
 * @throws SyntaxError with the line for anything else: what a file says as a whole is then not known.
 */
export function readRuleCalls(text: string): RuleCall[] {
  return new CallReader(tokenize(text.replace(/^\uFEFF/, ""))).readAll();
}

function tokenize(text: string): Token[] {
  const tokens: Token[] = [];
  let line = 1;
  TOKENS.lastIndex = 0;
  while (TOKENS.lastIndex < text.length) {
    const { groups } = TOKENS.exec(text) ?? {};
    if (groups === undefined) throw new SyntaxError(`line ${line} is not a rule`);
    const { space, long, string, name, number, sign } = groups;
    const found = space ?? long ?? string ?? name ?? number ?? sign ?? "";
    if (long !== undefined) tokens.push({ kind: "string", text: unquote(long, 3), line });
    else if (string !== undefined) tokens.push({ kind: "string", text: unquote(string, 1), line });
    else if (name !== undefined) tokens.push({ kind: "name", text: name, line });
    else if (number !== undefined) tokens.push({ kind: "number", text: number, line });
    else if (sign !== undefined) tokens.push({ kind: "sign", text: sign, line });
    line += found.split("\n").length - 1;
  }
  return [...tokens, { kind: "end", text: "the end", line }];
}

const ESCAPES: Readonly<Record<string, string>> = { n: "\n", t: "\t", r: "\r", "\n": "" };

function unquote(literal: string, quotes: number): string {
  const isRaw = /^r/i.test(literal);
  const body = literal.slice(quotes + (isRaw ? 1 : 0), -quotes);
  return isRaw ? body : body.replace(/\\([\s\S])/g, (_, char: string) => ESCAPES[char] ?? char);
}

const MAX_DEPTH = 8;

class CallReader {
  private position = 0;

  constructor(private readonly tokens: readonly Token[]) {}

  readAll(): RuleCall[] {
    const calls: RuleCall[] = [];
    while (this.next().kind !== "end") calls.push(this.readCall());
    return calls;
  }

  private readCall(): RuleCall {
    const { text: name, line } = this.take("name");
    this.takeSign("(");
    const args = new Map<string, RuleValue>();
    while (!this.isSign(")")) {
      const { text } = this.take("name");
      this.takeSign("=");
      args.set(text, this.readValue(0));
      if (!this.isSign(")")) this.takeSign(",");
    }
    this.takeSign(")");
    return { name, args, line };
  }

  private readValue(depth: number): RuleValue {
    const token = this.next();
    if (depth > MAX_DEPTH) throw unexpected(token);
    if (!this.isSign("[")) {
      this.position += 1;
      if (token.kind === "string") return token.text;
      if (token.kind === "number") return Number(token.text);
      if (token.kind === "name" && /^(?:True|False)$/.test(token.text)) return token.text === "True";
      throw unexpected(token);
    }
    this.takeSign("[");
    const values: RuleValue[] = [];
    while (!this.isSign("]")) {
      values.push(this.readValue(depth + 1));
      if (!this.isSign("]")) this.takeSign(",");
    }
    this.takeSign("]");
    return values;
  }

  private next(): Token {
    return this.tokens[this.position] ?? { kind: "end", text: "the end", line: 0 };
  }

  private isSign(sign: string): boolean {
    const { kind, text } = this.next();
    return kind === "sign" && text === sign;
  }

  private takeSign(sign: string): void {
    if (!this.isSign(sign)) throw unexpected(this.next());
    this.position += 1;
  }

  private take(kind: Token["kind"]): Token {
    const token = this.next();
    if (token.kind !== kind) throw unexpected(token);
    this.position += 1;
    return token;
  }
}

function unexpected({ text, line }: Token): SyntaxError {
  return new SyntaxError(`line ${line} is not understood at ${JSON.stringify(text.slice(0, 40))}`);
}
