/**
 * Characters that are invisible but are read by a model: controls, reordering marks, tags, fillers, selectors. Not all
 * of \p{Cf}, which includes visible Arabic signs.
 */
const INVISIBLE = /[\p{Cc}\p{Default_Ignorable_Code_Point}\p{Zl}\p{Zp}\ufff9-\ufffb]/u;

const EACH_INVISIBLE = new RegExp(INVISIBLE.source, "gu");

const RUNS = new RegExp(`(?:(?![\\t\\n\\r])${INVISIBLE.source})+`, "gu");

/** The joiners of emoji and many scripts: a variation selector, a joiner, or one after the other. */
const JOINING = /^(?:[\ufe0e\ufe0f]|\ufe0f?[\u200c\u200d])$/;

/** The end of a text that such a joiner can follow: not ASCII, except the digits and signs of emoji. */
const JOINABLE_BEFORE = /[^\p{ASCII}]$|[0-9#*]$/u;

/** The result of `removeInvisible`. */
interface VisibleText {
  text: string;
  /** The number of removed characters. */
  removed: number;
}

/**
 * Removes characters that are invisible to readers but not to a model: zero-width and control characters, direction
 * marks, Unicode tags. Joiners and selectors of emoji and of scripts such as Persian or Hindi stay when they join
 * something.
 */
export function removeInvisible(text: string): VisibleText {
  let removed = 0;
  const visible = text.replace(RUNS, (run, offset: number) => {
    if (JOINING.test(run) && joins(text, offset, offset + run.length)) return run;
    removed += Array.from(run).length;
    return "";
  });
  return { text: visible, removed };
}

function joins(text: string, start: number, end: number): boolean {
  if (!JOINABLE_BEFORE.test(text.slice(Math.max(0, start - 2), start))) return false;
  // A selector ends a character; a joiner needs another one after it.
  const isSelector = end - start === 1 && /[\ufe0e\ufe0f]/.test(text.charAt(start));
  return isSelector || /^[^\p{ASCII}]/u.test(text.slice(end, end + 2));
}

/** A name or path on one line, with invisible characters written as `\u{…}`. */
export function revealInvisible(name: string): string {
  if (/^[\x20-\x7e]*$/.test(name)) return name;
  return name.replace(EACH_INVISIBLE, (character) => {
    return `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`;
  });
}

/** A text in compressed form; code and logs take a third to a tenth of the memory. */
interface PackedText {
  /** The text, decompressed each time: 0.1 ms for 50 KB. */
  read(): string;
}

// The lowest level: 50 KB take a tenth of a millisecond, and higher levels gain little for text.
const OPTIONS = { level: 1 };

/** Undefined for a text that UTF-8 cannot represent, such as one with lone surrogates. */
export function packText(text: string): PackedText | undefined {
  if (!text.isWellFormed()) return undefined;
  const packed = Bun.zstdCompressSync(text, OPTIONS);
  return { read: () => Bun.zstdDecompressSync(packed).toString() };
}

/** A kind of key with the form documented by its vendor. No pattern matches in the middle of a word. */
const SECRET_FORMS: readonly { name: string; form: RegExp }[] = [
  { name: "a private key", form: /-----BEGIN [A-Z0-9 ]*PRIVATE KEY/ },
  { name: "an API key (sk-…)", form: /(?<![A-Za-z0-9])sk-(?:(?=[\w-]*\d)[\w-]{10,}|[A-Za-z0-9]{20,})/ },
  { name: "a GitHub token", form: /(?<![A-Za-z0-9])(?:gh[pousr]_[A-Za-z0-9]{10,}|github_pat_\w{10,})/ },
  { name: "a GitLab token", form: /(?<![A-Za-z0-9])glpat-[\w-]{10,}/ },
  { name: "an AWS access key", form: /(?<![A-Za-z0-9])(?:AKIA|ASIA)[A-Z0-9]{12,}/ },
  { name: "a Google API key", form: /(?<![A-Za-z0-9])AIza[\w-]{20,}/ },
  { name: "a Slack token", form: /(?<![A-Za-z0-9])xox[abeoprs]-[\w-]{10,}/ },
  { name: "a Stripe key", form: /(?<![A-Za-z0-9])[rs]k_(?:live|test)_[A-Za-z0-9]{10,}/ },
  { name: "a package registry token", form: /(?<![A-Za-z0-9])(?:npm_[A-Za-z0-9]{20,}|pypi-[\w-]{20,})/ },
  { name: "a signed token", form: /(?<![A-Za-z0-9])eyJ[\w-]{8,}\.eyJ[\w-]{8,}\./ },
  { name: "a password in an address", form: /[a-z][a-z0-9+.-]*:\/\/[^\s/:@]+:[^\s/@]{3,}@/i },
  {
    name: "a key or password",
    // Long, with letters and digits, directly after a word that announces a secret: prose does not look like that.
    form: /(?:api[ _-]?key|secret|token|passw(?:or)?d)["']?\s*(?:[:=]|is)\s*["'`]?(?=[\w+=-]*\d)(?=[\w+=-]*[a-z])[\w+=-]{16,}/i,
  },
];

/** The kind of key or password that a text seems to contain, such as `a GitHub token`; undefined for none. */
export function findSecretText(text: string): string | undefined {
  return SECRET_FORMS.find(({ form }) => form.test(text))?.name;
}

/**
 * A file name as the most permissive file system compares it: without case, Unicode form and invisible characters. Two
 * names that differ here are different files everywhere.
 */
export function foldName(name: string): string {
  // Most names are plain ASCII: only their case is folded.
  if (/^[ -~]*$/.test(name)) return name.toLowerCase();
  return name
    .replace(/\p{Default_Ignorable_Code_Point}/gu, "")
    .normalize("NFKC")
    .toLowerCase();
}
