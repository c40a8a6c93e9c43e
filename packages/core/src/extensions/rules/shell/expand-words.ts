import type { SyntaxNode } from "../../../approval/bash/grammar.ts";
import {
  joinAlternatives,
  MAX_ALTERNATIVES,
  QUOTED,
  readBareWord,
  readEscapes,
  readQuotedText,
  SPLIT,
  toShellWords,
  toText,
  UNKNOWN,
} from "./text-value.ts";

/** What words are expanded with. */
export interface Expansion {
  /** The values that a variable or a positional parameter may have; undefined if it is not set. */
  valuesOf(name: string): readonly string[] | undefined;
  assign(name: string, values: readonly string[]): void;
  /** Runs what is in a substitution; the texts that it may print. */
  substitute(node: SyntaxNode): readonly string[];
  home: string | undefined;
}

/** The words that each of these nodes stands for: all combinations, as far as they are few. */
export function expandAll(nodes: readonly SyntaxNode[], shell: Expansion): string[][] {
  let combined: string[][] = [[]];
  for (const node of nodes) {
    const alternatives = expandWord(node, shell);
    combined = combined.flatMap((words) => alternatives.map((fields) => [...words, ...fields]));
    if (combined.length > MAX_ALTERNATIVES) combined = combined.slice(0, MAX_ALTERNATIVES);
  }
  return combined;
}

/** The words that a node may stand for. */
export function expandWord(node: SyntaxNode, shell: Expansion): string[][] {
  return expandPiece(node, shell, false).map(toShellWords);
}

/** The text that a node may stand for where it is not split, such as a value. */
export function expandText(node: SyntaxNode, shell: Expansion): string[] {
  return expandPiece(node, shell, true).map(toText);
}

function expandPiece(node: SyntaxNode, shell: Expansion, isQuoted: boolean): readonly string[] {
  switch (node.kind) {
    case "raw_string":
      return [QUOTED + node.text.slice(1, -1)];
    case "ansi_c_string":
      return [QUOTED + readEscapes(node.text.slice(2, -1))];
    case "string":
    case "translated_string":
      return joinAlternatives([[QUOTED], ...expandQuoted(node, shell)]);
    case "heredoc_body":
      return joinAlternatives(expandHeredoc(node, shell));
    case "concatenation":
    case "command_name":
    case "array":
      return joinAlternatives(
        node.children
          .filter(({ kind }) => kind !== "(" && kind !== ")")
          .map((child, index) => {
            const values = expandPiece(child, shell, isQuoted);
            return node.kind === "array" && index > 0 ? values.map((value) => SPLIT + value) : values;
          }),
      );
    case "simple_expansion":
    case "expansion":
      return expandVariable(node, shell).map((value) => splitUnlessQuoted(value, isQuoted, shell));
    case "command_substitution":
      return shell
        .substitute(node)
        .map((value) => splitUnlessQuoted(value.replace(/\n+$/, ""), isQuoted, shell));
    case "process_substitution":
      return shell.substitute(node).map((value) => `/dev/fd/\uE002${value}`);
    case "arithmetic_expansion":
      return [UNKNOWN];
    case "brace_expression":
      return [readBareWord(node.text)];
    default:
      return [readHome(readBareWord(node.text), shell)];
  }
}

function splitUnlessQuoted(value: string, isQuoted: boolean, shell: Expansion): string {
  if (isQuoted) return value;
  const separators = shell.valuesOf("IFS")?.[0] ?? " \t\n";
  return [...value].map((char) => (separators.includes(char) ? SPLIT : char)).join("");
}

function readHome(text: string, { home }: Expansion): string {
  return home !== undefined && /^~(?=\/|$)/.test(text) ? home + text.slice(1) : text;
}

/** Text between the expansions counts, too; the grammar lists not all of it. */
function expandQuoted(node: SyntaxNode, shell: Expansion): (readonly string[])[] {
  const parts: (readonly string[])[] = [];
  const first = node.text.indexOf('"') + 1;
  let at = node.start + first;
  const end = node.start + node.text.length - 1;
  const literal = (until: number) => {
    if (until > at) parts.push([readQuotedText(node.text.slice(at - node.start, until - node.start))]);
  };
  for (const child of node.children.filter(({ kind }) => EXPANSIONS.has(kind))) {
    // The grammar counts spaces before an expansion as a part of it.
    literal(child.start + child.text.length - child.text.trimStart().length);
    parts.push(expandInQuotes(child, shell));
    at = child.start + child.text.length;
  }
  literal(end);
  return parts;
}

function expandHeredoc(node: SyntaxNode, shell: Expansion): (readonly string[])[] {
  const parts: (readonly string[])[] = [];
  let at = node.start;
  const literal = (until: number) => {
    if (until > at) parts.push([readQuotedText(node.text.slice(at - node.start, until - node.start))]);
  };
  for (const child of node.children.filter(({ kind }) => EXPANSIONS.has(kind))) {
    // The grammar counts spaces before an expansion as a part of it.
    literal(child.start + child.text.length - child.text.trimStart().length);
    parts.push(expandInQuotes(child, shell));
    at = child.start + child.text.length;
  }
  literal(node.start + node.text.length);
  return parts;
}

const EXPANSIONS: ReadonlySet<string> = new Set([
  "simple_expansion",
  "expansion",
  "command_substitution",
  "arithmetic_expansion",
]);

/** The elements of `"$@"` and `"${a[@]}"` stay apart. */
function expandInQuotes(node: SyntaxNode, shell: Expansion): readonly string[] {
  if (/^\$(?:@|\{@\}|\{\w+\[@\]\})$/.test(node.text.trimStart())) return expandVariable(node, shell);
  return expandPiece(node, shell, true).map(toText);
}

const PARAMETER = /^\$\{?([!#]?)([A-Za-z_]\w*|[0-9@*#?$!-])(?:\[([^\]]*)\])?(.*?)\}?$/s;

function expandVariable(node: SyntaxNode, shell: Expansion): readonly string[] {
  const [, mark, name = "", index, rest = ""] = PARAMETER.exec(node.text.trimStart()) ?? [];
  if (mark === "#") return [UNKNOWN];
  const named =
    mark === "!"
      ? shell.valuesOf(name)?.flatMap((value) => shell.valuesOf(value) ?? [])
      : shell.valuesOf(name);
  const word = node.children.find(
    ({ kind, start }) =>
      start > node.start + 2 &&
      /^(?:word|string|raw_string|concatenation|simple_expansion|expansion|command_substitution|ansi_c_string)$/.test(
        kind,
      ) &&
      start >= node.start + node.text.indexOf(rest),
  );
  const operator = /^(?::?[-=+?]|:|\/\/?|##?|%%?|\^\^?|,,?|@)/.exec(rest)?.[0] ?? "";
  if (/[-=]$/.test(operator)) {
    const fallback = word === undefined ? [""] : expandText(word, shell);
    if (operator.endsWith("=") && named === undefined) shell.assign(name, fallback);
    return [
      ...(named ?? []),
      ...(named === undefined || named.some((value) => value === "" || value === UNKNOWN) ? fallback : []),
    ];
  }
  if (operator.endsWith("+"))
    return named === undefined ? [""] : word === undefined ? [""] : expandText(word, shell);
  if (named === undefined) return [UNKNOWN];
  if (index !== undefined && /^\d+$/.test(index))
    return named.map((value) => value.split(SPLIT)[Number(index)] ?? "");
  const body = rest.slice(operator.length);
  return named.map((value) => {
    if (value.includes(UNKNOWN) || operator === "" || operator.endsWith("?")) return value;
    if (operator === ":") return substring(value, body);
    if (operator.startsWith("/")) return replaceIn(value, body, operator === "//");
    if (operator.startsWith("^"))
      return operator === "^^" ? value.toUpperCase() : value.slice(0, 1).toUpperCase() + value.slice(1);
    if (operator.startsWith(","))
      return operator === ",," ? value.toLowerCase() : value.slice(0, 1).toLowerCase() + value.slice(1);
    return trimPattern(value, operator, body);
  });
}

function substring(value: string, body: string): string {
  const [from = "0", length] = body.split(":").map((part) => part.trim());
  const start = Number(from);
  if (!Number.isInteger(start)) return UNKNOWN;
  const cut = start < 0 ? value.slice(start) : value.slice(start);
  return length === undefined
    ? cut
    : Number.isInteger(Number(length))
      ? cut.slice(0, Number(length))
      : UNKNOWN;
}

function replaceIn(value: string, body: string, isEach: boolean): string {
  const [pattern = "", replacement = ""] = body.split("/").map((part) => part.replace(/["'\\]/g, ""));
  if (/[*?[$]/.test(pattern + replacement)) return UNKNOWN;
  return isEach ? value.replaceAll(pattern, replacement) : value.replace(pattern, replacement);
}

function trimPattern(value: string, operator: string, body: string): string {
  if (/[[$]/.test(body)) return UNKNOWN;
  const text = body.replace(/["'\\]/g, "").replace(/[.+^${}()|\]]/g, "\\$&");
  const isLong = operator.length === 2;
  const pattern = text.replace(/\*/g, isLong ? "[\\s\\S]*" : "[\\s\\S]*?").replace(/\?/g, ".");
  if (operator.startsWith("#")) return value.replace(new RegExp(`^${pattern}`), "");
  if (isLong) return value.replace(new RegExp(`${pattern}$`), "");
  // The shortest match at the end.
  for (let at = value.length; at >= 0; at--)
    if (new RegExp(`^${pattern}$`).test(value.slice(at))) return value.slice(0, at);
  return value;
}
