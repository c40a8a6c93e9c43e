import fc from "fast-check";

/**
 * One thing that a bad disk, an editor or an interrupted program does to a file. Positions are fractions of
 * its length.
 */
interface Damage {
  kind: "cut" | "overwrite" | "insert" | "remove" | "zeros" | "repeat";
  at: number;
  length: number;
  bytes: Uint8Array;
}

/** One to four damages, including pieces of JSON, which are harder to distinguish from valid content. */
export const anyDamage: fc.Arbitrary<readonly Damage[]> = fc.array(
  fc.record({
    kind: fc.constantFrom("cut", "overwrite", "overwrite", "insert", "remove", "zeros", "repeat"),
    at: fc.double({ min: 0, max: 1, noNaN: true }),
    length: fc.integer({ min: 1, max: 60 }),
    bytes: fc.oneof(
      fc.uint8Array({ minLength: 1, maxLength: 6 }),
      fc.constantFrom("\n", "{", "}", '"', "]", ",", "null", "\u0000", '{"id":7}\n').map(toBytes),
    ),
  }),
  { minLength: 1, maxLength: 4 },
);

/** The bytes with all damages applied, except the first `kept` of them. */
export function applyDamage(whole: Uint8Array, damages: readonly Damage[], kept = 0): Uint8Array {
  const head = whole.subarray(0, kept);
  const rest = damages.reduce(damageOnce, Buffer.from(whole.subarray(kept)));
  return Buffer.concat([head, rest]);
}

function damageOnce(whole: Buffer, { kind, at, length, bytes }: Damage): Buffer {
  const start = Math.floor(at * whole.length);
  const [before, touched, after] = [
    whole.subarray(0, start),
    whole.subarray(start, start + length),
    whole.subarray(start + length),
  ];
  switch (kind) {
    case "cut":
      return before;
    case "overwrite":
      return Buffer.concat([before, bytes, whole.subarray(start + bytes.length)]);
    case "insert":
      return Buffer.concat([before, bytes, whole.subarray(start)]);
    case "remove":
      return Buffer.concat([before, after]);
    case "zeros":
      return Buffer.concat([before, Buffer.alloc(touched.length), after]);
    case "repeat":
      return Buffer.concat([before, touched, touched, after]);
  }
}

function toBytes(text: string): Uint8Array {
  return Buffer.from(text);
}

const INVISIBLE = [
  ...[0xad, 0x34f, 0x61c, 0x115f, 0x17b4, 0x180b, 0x180e, 0x200b, 0x200c, 0x200d, 0x200e, 0x2028, 0x2029],
  ...[0x202a, 0x202e, 0x2060, 0x2064, 0x2066, 0x2069, 0x206a, 0x2800, 0x3164, 0xfe0f, 0xfeff, 0xffa0, 0xfff9],
  ...[0x1bca0, 0x1d173, 0xe0001, 0xe0041, 0xe0100, 0xd800, 0xdc00],
];

const SEQUENCES = [
  ...[
    "\x1b[2J",
    "\x1b[6n",
    "\x1b[31m",
    "\x1b[?1049h",
    "\x1b]0;t\x07",
    "\x1b]52;c;eA==\x07",
    "\x1b]52;c;eA==",
  ],
  ...[
    "\x1b]8;;http://e.x\x1b\\",
    "\x1bP$q\x1b\\",
    "\x1b_G\x1b\\",
    "\x1b^p",
    "\x1bX",
    "\x1bc",
    "\x1b(0",
    "\x1b",
  ],
  ...[
    "\x9b31m",
    "\x9d0;t\x9c",
    "\x90q",
    "[2J",
    "]52;c;x\x07",
    "&#27;[2J",
    "&#x1b;]52;c;x&#7;",
    "&#155;",
    "&#0;",
  ],
  ...["&amp;#27;", "&#8238;", "&#xd800;", "&#10;", "%1b[2J", "\\x1b[2J", "⟦", "⟧"],
];

const MARKDOWN = [
  ...[
    "# ",
    "- ",
    "1. ",
    "> ",
    "```ts\n",
    "```\n",
    "~~~\n",
    "| a | b |\n|-|-|\n",
    "|",
    "**",
    "*",
    "_",
    "`",
    "~~",
  ],
  ...[
    "[a](",
    "http://x.y/",
    ")",
    "![i](",
    "<b>",
    "<!-- ",
    "-->",
    "<br>",
    "[x]: http://a\n",
    "- [ ] ",
    "    ",
    "---\n",
  ],
];

const FILLING = [
  ...[
    "word",
    " ",
    "\n",
    "\n\n",
    "\r\n",
    "\r",
    "\t",
    "日本語",
    "👩‍👩‍👧",
    "e\u0301",
    "क्षि",
    "🇩🇪",
    "a".repeat(45),
  ],
];

const control = fc.oneof(
  fc.integer({ min: 0, max: 0x1f }),
  fc.integer({ min: 0x7f, max: 0x9f }),
  fc.constantFrom(...INVISIBLE),
);

const piece = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom(...SEQUENCES) },
  { weight: 2, arbitrary: control.map((code) => String.fromCodePoint(code)) },
  { weight: 3, arbitrary: fc.constantFrom(...FILLING) },
  { weight: 2, arbitrary: fc.constantFrom(...MARKDOWN) },
  { weight: 1, arbitrary: fc.string({ unit: "binary", maxLength: 4 }) },
);

/**
 * Text that tries to leave its place: complete and partial control sequences, invisible characters, and
 * Markdown around them.
 */
export const hostileText: fc.Arbitrary<string> = fc
  .array(piece, { maxLength: 25 })
  .map((pieces) => pieces.join(""));

/** What a text for a terminal may contain besides visible characters. */
export interface Allowed {
  lineFeeds?: boolean;
  tabs?: boolean;
  /** Colours and other styles. */
  styles?: boolean;
}

const ESCAPE = 0x1b;

// Control characters, surrogate halves, and characters that break lines, reverse them or are invisible;
// except joiners and variation selectors, which emoji and many scripts need.
const FOREIGN =
  /[\p{Cc}\p{Cs}\p{Zl}\p{Zp}\p{Bidi_Control}]|(?!\u200c|\u200d|\p{Variation_Selector})\p{Default_Ignorable_Code_Point}/u;

/**
 * The first part of a text that a terminal could interpret as anything but visible characters, with what
 * follows; undefined if there is none. Parses like a terminal, character by character, and shares no code
 * with what it checks.
 */
export function findForeign(text: string, { lineFeeds, tabs, styles }: Allowed = {}): string | undefined {
  for (let at = 0; at < text.length; ) {
    const code = text.codePointAt(at) ?? 0;
    const character = String.fromCodePoint(code);
    if (code === ESCAPE) {
      const end = styles ? endOfStyle(text, at) : undefined;
      if (end === undefined) return show(text, at);
      at = end;
      continue;
    }
    const isAllowed = (character === "\n" && lineFeeds) || (character === "\t" && tabs);
    if (!isAllowed && FOREIGN.test(character)) return show(text, at);
    at += character.length;
  }
  return undefined;
}

/** The index after `ESC [ digits and semicolons m`; undefined for every other sequence. */
function endOfStyle(text: string, start: number): number | undefined {
  if (text[start + 1] !== "[") return undefined;
  let at = start + 2;
  while (/[0-9;]/.test(text.charAt(at))) at++;
  return text[at] === "m" ? at + 1 : undefined;
}

function show(text: string, at: number): string {
  const found = Array.from(text.slice(at, at + 20), (character) => {
    const code = character.codePointAt(0) ?? 0;
    return code > 0x20 && code < 0x7f ? character : `\\u{${code.toString(16)}}`;
  });
  return `at ${at}: ${found.join("")}`;
}
