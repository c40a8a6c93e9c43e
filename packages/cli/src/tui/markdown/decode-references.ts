import { sanitizeTerminalText } from "../../terminal-text.ts";

/** The character references that people and models write in Markdown; others are shown as they are written. */
const NAMED: ReadonlyMap<string, string> = new Map(
  Object.entries({
    amp: "&",
    apos: "'",
    bull: "•",
    cent: "¢",
    copy: "©",
    darr: "↓",
    deg: "°",
    divide: "÷",
    euro: "€",
    ge: "≥",
    gt: ">",
    harr: "↔",
    hellip: "…",
    infin: "∞",
    laquo: "«",
    larr: "←",
    ldquo: "“",
    le: "≤",
    lsquo: "‘",
    lt: "<",
    mdash: "—",
    middot: "·",
    nbsp: "\u00a0",
    ndash: "–",
    ne: "≠",
    para: "¶",
    plusmn: "±",
    pound: "£",
    quot: '"',
    raquo: "»",
    rarr: "→",
    rdquo: "”",
    reg: "®",
    rsquo: "’",
    sect: "§",
    times: "×",
    trade: "™",
    uarr: "↑",
  }),
);

const REFERENCE = /&(?:#(\d{1,7})|#[xX]([\da-fA-F]{1,6})|([a-zA-Z]{2,6}));/g;
const REPLACEMENT = "\ufffd";

/** Text with its character references (`&lt;`, `&#60;`) replaced. What they stand for is made safe like any other text. */
export function decodeReferences(text: string): string {
  if (!text.includes("&")) return text;
  const decoded = text.replace(
    REFERENCE,
    (reference, decimal: string | undefined, hexadecimal: string | undefined, name: string | undefined) => {
      if (name !== undefined) return NAMED.get(name) ?? reference;
      return fromCodePoint(decimal === undefined ? Number.parseInt(hexadecimal ?? "", 16) : Number(decimal));
    },
  );
  return sanitizeTerminalText(decoded);
}

function fromCodePoint(codePoint: number): string {
  const isCharacter = codePoint > 0 && codePoint <= 0x10ffff && (codePoint < 0xd800 || codePoint > 0xdfff);
  return isCharacter ? String.fromCodePoint(codePoint) : REPLACEMENT;
}
