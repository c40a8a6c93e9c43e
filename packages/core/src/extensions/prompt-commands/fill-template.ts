/** How the agent that a prompt template was written for reads it. */
export interface TemplateStyle {
  /** What `$1` becomes without a first argument: stays as it is written, or disappears. */
  missing: "keep" | "remove";
  /** True where the highest number takes the rest of the arguments. */
  lastTakesRest?: boolean;
  /** True where `NAME=value` arguments fill `$NAME`. */
  hasNamedArguments?: boolean;
  /** The marks of shell commands, arguments and files: `` !`…` ``, `$1`, `@file`, or `!{…}`, `{{args}}`, `@{…}`. */
  marks: "backticks" | "braces";
  /** Where a shell command may begin: after white space or at the beginning of a line, anywhere, or nowhere. */
  shell: "after_space" | "anywhere" | "never";
  /** How arguments are added to a template without a placeholder. */
  appended: "labelled" | "plain";
}

/** A prompt with placeholders. */
export interface PromptTemplate {
  text: string;
  style: TemplateStyle;
  /** Names of the arguments, in order, for `$name`. */
  argumentNames: readonly string[];
  /** What `${NAME}` becomes. */
  variables?: Readonly<Record<string, string>> | undefined;
}

/** A piece of a filled template: text to send, or a shell command whose output takes its place. */
export type TemplatePart = { kind: "text"; text: string } | { kind: "shell"; command: string };

/** A template with its arguments. */
export interface FilledTemplate {
  parts: TemplatePart[];
  /** The files that its text mentions; what commands print is not searched for them. */
  mentions: string[];
}

/**
 * Fills the placeholders of a template in one pass: neither arguments nor what they contain is read as a placeholder, a
 * shell command or another command. The first argument is `$1`; it is `$0` in a file that uses `$0` or
 * `$ARGUMENTS[…]`, since nearly all public files count from one.
 */
export function fillTemplate(template: PromptTemplate, args: string): FilledTemplate {
  const filler = new Filler(template, args.trim());
  const parts = splitShell(template).map((part): TemplatePart => {
    if (part.kind === "text") return { kind: "text", text: filler.fill(part.text) };
    return { kind: "shell", command: filler.fillCommand(part.command) };
  });
  if (!filler.isUsed && args.trim() !== "") {
    const label = template.style.appended === "labelled" ? "ARGUMENTS: " : "";
    parts.push({ kind: "text", text: `\n\n${label}${args.trim()}` });
  }
  const texts = parts.flatMap((part) => (part.kind === "text" ? [part.text] : []));
  return { parts, mentions: [...new Set([...filler.files, ...texts.flatMap(findMentions)])] };
}

/** The shell commands of a template, without its arguments. */
export function listShellCommands(template: Pick<PromptTemplate, "text" | "style">): string[] {
  return splitShell(template).flatMap((part) => (part.kind === "shell" ? [part.command] : []));
}

function splitShell({ text, style }: Pick<PromptTemplate, "text" | "style">): TemplatePart[] {
  if (style.shell === "never") return [{ kind: "text", text }];
  if (style.marks === "braces") return splitBraces(text);
  return splitBackticks(text, style.shell === "anywhere" ? SHELL_ANYWHERE : SHELL_AFTER_SPACE);
}

const SHELL_ANYWHERE = /!`([^`\n]+)`/g;
// A sentence may end with `!` before code.
const SHELL_AFTER_SPACE = /(?<=^|\s)!`([^`\n]+)`/gm;

function splitBackticks(text: string, shell: RegExp): TemplatePart[] {
  const parts: TemplatePart[] = [];
  let end = 0;
  for (const match of text.matchAll(shell)) {
    parts.push({ kind: "text", text: text.slice(end, match.index) });
    parts.push({ kind: "shell", command: (match[1] ?? "").trim() });
    end = match.index + match[0].length;
  }
  return [...parts, { kind: "text", text: text.slice(end) }];
}

/** `!{…}` with balanced braces inside; an unclosed one is text. */
function splitBraces(text: string): TemplatePart[] {
  const parts: TemplatePart[] = [];
  let end = 0;
  for (let start = text.indexOf("!{"); start !== -1; start = text.indexOf("!{", end)) {
    const close = findClosingBrace(text, start + 1);
    if (close === undefined) break;
    parts.push({ kind: "text", text: text.slice(end, start) });
    parts.push({ kind: "shell", command: text.slice(start + 2, close).trim() });
    end = close + 1;
  }
  return [...parts, { kind: "text", text: text.slice(end) }];
}

function findClosingBrace(text: string, open: number): number | undefined {
  let depth = 0;
  for (let index = open; index < text.length; index++) {
    if (text[index] === "{") depth++;
    else if (text[index] === "}" && --depth === 0) return index;
  }
  return undefined;
}

const DOLLAR_PLACEHOLDERS =
  /\\(?<escaped>\$[\w@{])|\$ARGUMENTS\[(?<index>\d{1,4})\]|(?<all>\$ARGUMENTS\b|\$@)|\$\{@:(?<from>\d{1,4})(?::(?<count>\d{1,4}))?\}|\$\{(?<defaulted>\d{1,4}):-(?<fallback>[^}]*)\}|\$\{(?<variable>\w+)\}|\$(?<number>\d{1,4})|\$(?<name>[A-Za-z_]\w*)/g;

const BRACE_PLACEHOLDERS = /(?<all>\{\{args\}\})|@\{(?<file>[^}\n]+)\}/g;

type Groups = Readonly<Record<string, string | undefined>>;

class Filler {
  /** True once an argument has taken the place of a placeholder. */
  isUsed = false;
  /** Files that placeholders name. */
  readonly files: string[] = [];
  private readonly words: readonly string[];
  private readonly named: ReadonlyMap<string, string>;
  private readonly first: 0 | 1;
  /** The highest number in the template. */
  private readonly last: number;

  constructor(
    private readonly template: PromptTemplate,
    private readonly args: string,
  ) {
    const { text, style, argumentNames } = template;
    const words = splitArguments(args);
    const named = style.hasNamedArguments ? words.filter((word) => /^[A-Z_][A-Z0-9_]*=/.test(word)) : [];
    this.words = words.filter((word) => !named.includes(word));
    this.named = new Map([
      ...argumentNames.map((name, index) => [name, words[index] ?? ""] as const),
      ...named.map((word) => splitOnce(word, "=")),
    ]);
    this.first = /\$(?:0(?!\d)|ARGUMENTS\[)/.test(text) ? 0 : 1;
    this.last = Math.max(0, ...Array.from(text.matchAll(/\$(\d{1,4})/g), ([, digits]) => Number(digits)));
  }

  fill(text: string): string {
    const { marks } = this.template.style;
    const pattern = marks === "braces" ? BRACE_PLACEHOLDERS : DOLLAR_PLACEHOLDERS;
    return text.replace(pattern, (...match) => {
      const groups: Groups = match.at(-1);
      return this.replace(String(match[0]), groups);
    });
  }

  /** In a command between braces, the arguments are one quoted word. */
  fillCommand(command: string): string {
    if (this.template.style.marks === "backticks") return this.fill(command);
    return command.replaceAll("{{args}}", () => {
      this.isUsed = true;
      return `'${this.args.replaceAll("'", "'\\''")}'`;
    });
  }

  private replace(written: string, groups: Groups): string {
    const { escaped, index, all, from, defaulted, variable, number, name, file } = groups;
    if (escaped !== undefined) return escaped;
    if (file !== undefined) return this.takeFile(file.trim());
    if (variable !== undefined) return this.template.variables?.[variable] ?? written;
    if (name !== undefined) return this.takeNamed(name, written);
    this.isUsed = true;
    if (all !== undefined) return this.args;
    if (index !== undefined) return this.words[Number(index)] ?? this.missing(written);
    if (from !== undefined) return this.takeRange(Number(from), groups.count);
    if (defaulted !== undefined) return this.words[Number(defaulted) - 1] ?? groups.fallback ?? "";
    return this.takeNumbered(Number(number), written);
  }

  private takeNumbered(number: number, written: string): string {
    const position = number - this.first;
    if (position < 0) return this.missing(written);
    if (this.template.style.lastTakesRest && number === this.last && this.words.length > position)
      return this.words.slice(position).join(" ");
    return this.words[position] ?? this.missing(written);
  }

  private takeRange(from: number, count: string | undefined): string {
    const start = Math.max(0, from - 1);
    return this.words.slice(start, count === undefined ? undefined : start + Number(count)).join(" ");
  }

  private takeNamed(name: string, written: string): string {
    const value = this.named.get(name);
    if (value === undefined) return written;
    this.isUsed = true;
    return value;
  }

  private takeFile(path: string): string {
    this.files.push(path);
    return `@${path}`;
  }

  private missing(written: string): string {
    return this.template.style.missing === "keep" ? written : "";
  }
}

function splitOnce(text: string, separator: string): readonly [string, string] {
  const at = text.indexOf(separator);
  return [text.slice(0, at), text.slice(at + separator.length)];
}

/** Words as in a shell, with quotes; an apostrophe inside a word is a letter. */
export function splitArguments(args: string): string[] {
  const words = args.match(/"(?:[^"\\]|\\.)*"(?!\S)|'[^']*'(?!\S)|[^\s=]+="[^"]*"(?!\S)|\S+/g) ?? [];
  return words.map((word) => {
    const [, key = "", quoted] = /^([^\s="']+=)?"((?:[^"\\]|\\.)*)"$/s.exec(word) ?? [];
    if (quoted !== undefined) return key + quoted.replace(/\\(["\\])/g, "$1");
    return /^'[^']*'$/.test(word) ? word.slice(1, -1) : word;
  });
}

const MENTIONS = /(?<=^|[\s([{<"'`,;:])@(?:"([^"\n]{1,4096})"|([\w.~/][^\s"'`,;<>@()[\]{}]{0,4095}))/g;

/** The paths after `@`, without the punctuation of the sentence. */
function findMentions(text: string): string[] {
  return Array.from(
    text.matchAll(MENTIONS),
    ([, quoted, plain = ""]) => quoted ?? plain.replace(/[.:!?]+$/, ""),
  ).filter((path) => path !== "");
}
