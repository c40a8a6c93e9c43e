/** The fields at the head of a Markdown file, between two lines of `---`, and the text below them. */
export interface Frontmatter {
  /** Empty without a head. Any key, also `__proto__`; values as YAML gives them. */
  fields: ReadonlyMap<string, unknown>;
  /** The text after the head; the whole text without one. Line ends are LF. */
  body: string;
  /** Why the head could be read only line by line, or not at all; a clause without a full stop. */
  problem?: string;
}

// Longer heads than this hold no fields that anyone reads; parsing is linear, but not free.
const MAX_HEAD_CHARS = 64 * 1024;

/**
 * Reads the head of a Markdown file. Of public files, one in twenty is not valid YAML, mostly because of an unquoted
 * `: ` in a description: those are read line by line. Never throws.
 */
export function readFrontmatter(content: string): Frontmatter {
  const text = content.replace(/^\ufeff/, "").replaceAll(/\r\n?/g, "\n");
  const opening = /^---[ \t]*\n/.exec(text);
  if (!opening) return { fields: new Map(), body: text };
  const rest = text.slice(opening[0].length);
  const closing = /^---[ \t]*(?:\n|$)/m.exec(rest);
  if (!closing) return { fields: new Map(), body: text, problem: 'its frontmatter has no closing "---"' };
  const head = rest.slice(0, closing.index);
  const body = rest.slice(closing.index + closing[0].length);
  if (head.length > MAX_HEAD_CHARS)
    return {
      fields: new Map(),
      body,
      problem: `its frontmatter is longer than ${MAX_HEAD_CHARS} characters`,
    };
  return { ...readFields(head), body };
}

function readFields(head: string): Pick<Frontmatter, "fields" | "problem"> {
  try {
    const value: unknown = Bun.YAML.parse(head);
    if (value === null || value === undefined) return { fields: new Map() };
    if (typeof value === "object" && !Array.isArray(value)) return { fields: new Map(Object.entries(value)) };
  } catch {
    // Read line by line below.
  }
  const fields = readLines(head);
  return { fields, problem: "its frontmatter is not valid YAML and was read line by line" };
}

/** `key: rest of the line`; every other line belongs to the key before it. */
function readLines(head: string): Map<string, string> {
  const collected = new Map<string, string[]>();
  let current: string[] | undefined;
  for (const line of head.split("\n")) {
    const [, key, value = ""] = /^([A-Za-z_][\w-]*)[ \t]*:(?:[ \t]+(.*)|[ \t]*)$/.exec(line) ?? [];
    if (key !== undefined) {
      current = [value.trim()];
      collected.set(key, current);
    } else if (!/^\s*#/.test(line)) current?.push(line.trim());
  }
  return new Map([...collected].map(([key, lines]) => [key, joinLines(lines)]));
}

function joinLines([first = "", ...others]: readonly string[]): string {
  const isBlock = /^[>|][+-]?$/.test(first);
  const separator = first.startsWith("|") && isBlock ? "\n" : " ";
  const text = [...(isBlock ? [] : [first]), ...others].join(separator).trim();
  return /^(?:"[^"]*"|'[^']*')$/.test(text) ? text.slice(1, -1) : text;
}

/** The text of a field; undefined if it is missing, empty or no text. */
export function readTextField({ fields }: Pick<Frontmatter, "fields">, name: string): string | undefined {
  const value = fields.get(name);
  const isScalar = typeof value === "string" || typeof value === "number" || typeof value === "boolean";
  const text = isScalar ? String(value).trim() : "";
  return text === "" ? undefined : text;
}

/** True and false, also as `yes`, `no`, `on`, `off`, `1` and `0`; undefined for anything else. */
export function readBooleanField({ fields }: Pick<Frontmatter, "fields">, name: string): boolean | undefined {
  const word = String(fields.get(name) ?? "")
    .trim()
    .toLowerCase();
  if (["true", "yes", "on", "1"].includes(word)) return true;
  return ["false", "no", "off", "0"].includes(word) ? false : undefined;
}

/**
 * The entries of a list: a YAML list, or one text separated by commas or blanks. What stands in parentheses stays
 * whole, such as `Bash(git add:*)`. Undefined if the field is missing.
 */
export function readListField({ fields }: Pick<Frontmatter, "fields">, name: string): string[] | undefined {
  const value = fields.get(name);
  if (value === undefined || value === null) return undefined;
  const texts = (Array.isArray(value) ? value : [value]).flatMap((entry: unknown) =>
    typeof entry === "string" || typeof entry === "number" ? [String(entry)] : [],
  );
  if (Array.isArray(value)) return texts.map((text) => text.trim()).filter((text) => text !== "");
  return texts.flatMap((text) => text.match(/(?:\([^)]*\)?|[^\s,(])+/g) ?? []).map(withoutBrackets);
}

/** `[a, b]` that was not read as YAML. */
function withoutBrackets(word: string): string {
  return word.replace(/^\[/, "").replace(/\]$/, "");
}
