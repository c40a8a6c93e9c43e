const START = "\x1b[200~";
const END = "\x1b[201~";

/** A key, or the whole of a paste, as the terminal sent it. */
export interface InputPart {
  kind: "keys" | "paste";
  data: string;
}

/**
 * Tells pastes from keys in what pi-tui hands on. A paste is given when its end has come, without its marks; a character
 * of two halves, such as most emoji, when both have.
 */
export class InputReader {
  private pending: string | undefined;
  private half = "";

  read(data: string): InputPart[] {
    return this.divide(data).flatMap((part) => {
      if (part.kind === "paste") return [part];
      const whole = /^[\udc00-\udfff]/.test(part.data) ? this.half + part.data : part.data;
      this.half = /^[\ud800-\udbff]$/.test(whole) ? whole : "";
      return this.half === "" ? [{ ...part, data: whole }] : [];
    });
  }

  private divide(data: string): InputPart[] {
    const parts: InputPart[] = [];
    let rest = data;
    while (rest !== "" || this.pending !== undefined) {
      const isInPaste = this.pending !== undefined;
      const text = (this.pending ?? "") + rest;
      const mark = text.indexOf(isInPaste ? END : START);
      if (isInPaste && mark < 0) {
        this.pending = text;
        break;
      }
      const end = mark < 0 ? text.length : mark;
      if (isInPaste || end > 0) parts.push({ kind: isInPaste ? "paste" : "keys", data: text.slice(0, end) });
      rest = text.slice(end + (mark < 0 ? 0 : END.length));
      this.pending = isInPaste || mark < 0 ? undefined : "";
    }
    return parts;
  }
}
