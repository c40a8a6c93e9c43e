import fc from "fast-check";

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

/** Text that tries to leave its place: control sequences whole and in part, what is not seen, Markdown around them. */
export const hostileText: fc.Arbitrary<string> = fc
  .array(piece, { maxLength: 25 })
  .map((pieces) => pieces.join(""));
