/** The parts of a style that an SGR parameter below 30 sets, and the one that unsets them. */
const ATTRIBUTE_ENDS: ReadonlyMap<number, readonly number[]> = new Map([
  [22, [1, 2]],
  [23, [3, 20]],
  [24, [4, 21]],
  [25, [5, 6]],
  [27, [7]],
  [28, [8]],
  [29, [9]],
]);
// Slots of what is set by more than one parameter.
const FOREGROUND = 38;
const BACKGROUND = 48;
const UNDERLINE_COLOR = 58;
const OVERLINE = 53;
const RESET = "\x1b[m";
const LINK_END = "\x1b]8;;\x1b\\";
// Bold, dim, italic, blinking, hidden and the colours of what is not there: nobody sees them on a blank.
const UNSEEN_ON_BLANKS: ReadonlySet<number> = new Set([1, 2, 3, 5, 6, 8, FOREGROUND, UNDERLINE_COLOR]);

/**
 * Which attributes, colours and link are in force at a place of a line, followed by the SGR (`CSI … m`) and OSC 8
 * sequences before it. A line begins with none.
 */
export class LineStyle {
  private readonly slots = new Map<number, string>();
  private link = "";

  /** Nothing is in force: what follows looks like a terminal's plain text. */
  get isPlain(): boolean {
    return this.slots.size === 0 && this.link === "";
  }

  /** A blank in this style looks otherwise than a plain one. */
  get isSeenOnBlanks(): boolean {
    return this.link !== "" || [...this.slots.keys()].some((slot) => !UNSEEN_ON_BLANKS.has(slot));
  }

  /** Takes in one whole SGR or OSC 8 sequence. */
  apply(sequence: string): void {
    if (sequence.startsWith("\x1b]8;")) this.applyLink(sequence);
    else this.applyAttributes(sequence.slice(2, -1).split(";"));
  }

  /** The sequences that bring this style about where there is none. */
  opening(): string {
    const codes = [...this.slots.values()];
    return this.link + (codes.length === 0 ? "" : `\x1b[${codes.join(";")}m`);
  }

  /** The sequences that end it. */
  closing(): string {
    return (this.slots.size === 0 ? "" : RESET) + (this.link === "" ? "" : LINK_END);
  }

  /** The fewest sequences that bring this style about where `before` is in force; none where they are the same. */
  changeFrom(before: LineStyle): string {
    return this.changeAttributesFrom(before) + (this.link === before.link ? "" : this.link || LINK_END);
  }

  copy(): LineStyle {
    const copy = new LineStyle();
    for (const [slot, attribute] of this.slots) copy.slots.set(slot, attribute);
    copy.link = this.link;
    return copy;
  }

  private changeAttributesFrom(before: LineStyle): string {
    const isEnded = [...before.slots.keys()].some((slot) => !this.slots.has(slot));
    if (isEnded) return this.slots.size === 0 ? RESET : `\x1b[0;${[...this.slots.values()].join(";")}m`;
    const changed = [...this.slots].flatMap(([slot, attribute]) =>
      before.slots.get(slot) === attribute ? [] : [attribute],
    );
    return changed.length === 0 ? "" : `\x1b[${changed.join(";")}m`;
  }

  private applyLink(sequence: string): void {
    const body = sequence.slice(4, sequence.endsWith("\x07") ? -1 : -2);
    this.link = body.slice(body.indexOf(";") + 1) === "" ? "" : sequence;
  }

  private applyAttributes(parameters: readonly string[]): void {
    for (let at = 0; at < parameters.length; ) {
      const length = parameterLength(parameters, at);
      this.applyAttribute(parameters.slice(at, at + length).join(";"));
      at += length;
    }
  }

  /** One attribute with what belongs to it, such as `1`, `38;5;208` or `4:3`. */
  private applyAttribute(attribute: string): void {
    const code = Number.parseInt(attribute, 10) || 0;
    const ended = ATTRIBUTE_ENDS.get(code);
    if (code === 0) this.slots.clear();
    else if (ended !== undefined) for (const slot of ended) this.slots.delete(slot);
    else if (code === 39) this.slots.delete(FOREGROUND);
    else if (code === 49) this.slots.delete(BACKGROUND);
    else if (code === 55) this.slots.delete(OVERLINE);
    else if (code === 59) this.slots.delete(UNDERLINE_COLOR);
    else if (attribute === "4:0") this.slots.delete(4);
    else this.slots.set(slotOf(code), attribute);
  }
}

/** Colours with semicolons take further parameters: `38;5;N` two, `38;2;R;G;B` four. */
function parameterLength(parameters: readonly string[], at: number): number {
  const isColor = ["38", "48", "58"].includes(parameters[at] ?? "");
  if (!isColor) return 1;
  if (parameters[at + 1] === "5") return 3;
  return parameters[at + 1] === "2" ? 5 : 1;
}

function slotOf(code: number): number {
  if ((code >= 30 && code <= 38) || (code >= 90 && code <= 97)) return FOREGROUND;
  if ((code >= 40 && code <= 48) || (code >= 100 && code <= 107)) return BACKGROUND;
  return code;
}
