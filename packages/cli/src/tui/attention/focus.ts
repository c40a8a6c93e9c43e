/** Lets the terminal tell when its window gets and loses the focus. */
export const FOCUS_ON = "\x1b[?1004h";
/** Ends what `FOCUS_ON` began. */
export const FOCUS_OFF = "\x1b[?1004l";

/** What the terminal tells of its focus; undefined where the input is something else. */
export function readFocus(input: string): "in" | "out" | undefined {
  if (input === "\x1b[I") return "in";
  return input === "\x1b[O" ? "out" : undefined;
}
