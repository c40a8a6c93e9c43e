const BEGIN = "\x1b[?2026h";
const END = "\x1b[?2026l";

/** The sizes in bytes of what a terminal shows at once: the synchronised updates in what a program has written. */
export function frameBytes(output: string): number[] {
  const [, ...frames] = output.split(BEGIN);
  return frames.map((frame) => Buffer.byteLength(BEGIN + frame.slice(0, frame.indexOf(END)) + END));
}

/** What is written without the colours and attributes of letters. */
export function withoutColors(output: string): string {
  const [first = "", ...others] = output.split("\x1b[");
  return first + others.map((rest) => (COLOR.test(rest) ? rest.replace(COLOR, "") : `\x1b[${rest}`)).join("");
}

const COLOR = /^[\d;:]*m/;
