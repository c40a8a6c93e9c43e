import { showWord } from "../show-word.ts";
import type { Operand } from "./program-options.ts";
import { namesOnly, type ProgramReading } from "./program-spec.ts";

// Only conversions that print their argument, and print it at most 999 wide. `%n` sets a variable, `%*d` takes its
// width from an argument, `%(…)T` has a language of its own.
const CONVERSION = String.raw`%(?:%|[-+ 0#]*\d{0,3}(?:\.\d{0,3})?[diouxXeEfFgGaAcsbq])`;
const ESCAPE = String.raw`\\(?:[abefnrtv\\"']|033|x1[bB])`;
const FORMAT = new RegExp(`^(?:[^%\\\\]|${CONVERSION}|${ESCAPE})*$`);
const NUMBER = /%[-+ 0#]*[\d.]*[diouxXeEfFgGaAc]/;

/** Some shells take a number for an expression, in which an index may run a command. */
export const EXPRESSION = /[[\]$`(){}]/;

/**
 * A format that is understood to its last character. The only option that means anything writes into a variable, whose
 * index may run a command.
 */
export function readPrintf(words: readonly Operand[]): ProgramReading {
  const [format, ...rest] = words[0]?.text === "--" ? words.slice(1) : words;
  if (!format || format.names !== undefined) return { obstacle: "its format" };
  if (format.text.startsWith("-") && words[0] === format)
    return { obstacle: `the option ${showWord(format.text)}` };
  if (!FORMAT.test(format.text)) return { obstacle: "its format" };
  const strange = NUMBER.test(format.text) && rest.find(({ text }) => EXPRESSION.test(text));
  if (strange) return { obstacle: showWord(strange.text) };
  return namesOnly(rest.flatMap(({ names }) => names ?? []));
}
