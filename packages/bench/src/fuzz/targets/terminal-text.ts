import fc from "fast-check";
import { formatJudgedLine, formatJudgedText } from "../../../../cli/src/judged-text.ts";
import {
  revealTerminalText,
  sanitizeTerminalText,
  TerminalTextStream,
  toSingleLine,
} from "../../../../cli/src/terminal-text.ts";
import { notificationSequence } from "../../../../cli/src/tui/attention/notification.ts";
import { titleText } from "../../../../cli/src/tui/attention/terminal-title.ts";
import { createTarget } from "../create-target.ts";
import { type Allowed, findForeign } from "../find-foreign.ts";
import { hostileText } from "../hostile-text.ts";

const TEXT: Allowed = { lineFeeds: true, tabs: true };

/** Every way by which a text is made harmless: nothing that acts on a terminal is left, wherever the text was cut. */
export const TERMINAL_TEXT = createTarget({
  name: "terminal-text",
  about: "nothing of a hostile text acts on a terminal, wherever it is cut",
  runs: { usual: 50_000, short: 600 },
  values: fc.record({ text: hostileText, cuts: fc.array(fc.nat(80), { maxLength: 6 }) }),
  findProblem({ text, cuts }) {
    const whole = sanitizeTerminalText(text);
    if (inPieces(text, cuts) !== whole) return "in pieces it becomes something else";
    if (sanitizeTerminalText(whole) !== whole) return "made harmless twice it becomes something else";
    const notice = notificationSequence({ title: text, body: text }, { kind: "osc777", environment: {} });
    // Between its own beginning and the bell at its end.
    const told = notice.slice("\x1b]777;notify;".length, -1);
    return firstForeign([
      ["sanitised", whole, TEXT],
      ["revealed", revealTerminalText(text), TEXT],
      ["on one line", toSingleLine(text, 40), {}],
      ["judged", formatJudgedText(text), TEXT],
      ["judged on one line", formatJudgedLine(text), { tabs: true }],
      ["title", titleText(text, "working"), {}],
      ["notification", told, {}],
    ]);
  },
});

function firstForeign(shown: readonly (readonly [what: string, text: string, allowed: Allowed])[]) {
  for (const [what, text, allowed] of shown) {
    const foreign = findForeign(text, allowed);
    if (foreign !== undefined) return `${what}, ${foreign}`;
  }
  return undefined;
}

function inPieces(text: string, cuts: readonly number[]): string {
  const stream = new TerminalTextStream();
  let [made, at] = ["", 0];
  for (const length of cuts) {
    made += stream.push(text.slice(at, at + length));
    at += length;
  }
  return made + stream.push(text.slice(at)) + stream.end();
}
