/** What a text for a terminal may hold besides marks on the screen. */
export interface Allowed {
  lineFeeds?: boolean;
  tabs?: boolean;
  /** Colours and the like. */
  styles?: boolean;
}

const ESCAPE = 0x1b;

// Control characters, the halves of characters, what breaks lines, turns them round or cannot be seen; joiners and
// variation selectors aside, with which emoji and many scripts are written.
const FOREIGN =
  /[\p{Cc}\p{Cs}\p{Zl}\p{Zp}\p{Bidi_Control}]|(?!\u200c|\u200d|\p{Variation_Selector})\p{Default_Ignorable_Code_Point}/u;

/**
 * The first thing in a text that a terminal could take for anything but a mark on the screen, with what follows; undefined
 * when there is none. Reads as a terminal does, character by character, and shares nothing with what it checks.
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

/** Behind `ESC [ digits and semicolons m`; undefined for every other sequence. */
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
