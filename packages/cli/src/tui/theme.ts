import { Chalk } from "chalk";

/** Styles a text; the text stays the same, and so do styles inside it. */
export type Style = (text: string) => string;

/**
 * Styles, named by purpose. Only the terminal's own sixteen colours are used, since its owner has chosen them
 * to be readable on their background. Running text has the terminal's own foreground.
 */
export interface Theme {
  /** False: styles leave the text unchanged, and views use characters instead of colours. */
  readonly isColored: boolean;
  readonly bold: Style;
  readonly italic: Style;
  readonly underline: Style;
  readonly strikethrough: Style;
  /** For text that may be overlooked. */
  readonly dim: Style;
  /**
   * For text that the eye should find: markers, keys, questions, the running tool. Magenta is the only colour
   * that is readable on every background.
   */
  readonly accent: Style;
  /** The selected row of a list. */
  readonly selected: Style;
  /** The user's messages, in bold: the eye looks for them in a long transcript, and they are running text. */
  readonly user: Style;
  readonly heading: Style;
  /** A heading of the first level. */
  readonly title: Style;
  /**
   * Code within a sentence, which must be readable: cyan, green and yellow are pale on white, and blue is
   * dark on black.
   */
  readonly code: Style;
  readonly link: Style;
  readonly success: Style;
  readonly warning: Style;
  readonly error: Style;
  readonly added: Style;
  readonly removed: Style;
  /**
   * The part of an added or removed line that differs from its counterpart; used inside `added` and
   * `removed`.
   */
  readonly changedWord: Style;
  readonly keyword: Style;
  readonly string: Style;
  readonly number: Style;
  readonly comment: Style;
  /** Names of types, functions, tags and keys. */
  readonly name: Style;
}

/** @param color False for `NO_COLOR` and for a terminal without colours. */
export function createTheme({ color }: { color: boolean }): Theme {
  // Set explicitly: chalk's own detection examines the process and does not know NO_COLOR.
  const chalk = new Chalk({ level: color ? 1 : 0 });
  return {
    isColored: color,
    bold: toStyle(chalk.bold),
    italic: toStyle(chalk.italic),
    underline: toStyle(chalk.underline),
    strikethrough: toStyle(chalk.strikethrough),
    dim: toStyle(chalk.dim),
    accent: toStyle(chalk.magenta),
    selected: toStyle(chalk.inverse),
    user: toStyle(chalk.bold),
    heading: toStyle(chalk.bold),
    title: toStyle(chalk.bold.underline),
    code: toStyle(chalk.magenta),
    link: toStyle(chalk.underline),
    success: toStyle(chalk.green),
    warning: toStyle(chalk.yellow),
    error: toStyle(chalk.red),
    added: toStyle(chalk.green),
    removed: toStyle(chalk.red),
    changedWord: toStyle(chalk.inverse),
    keyword: toStyle(chalk.magenta),
    string: toStyle(chalk.green),
    number: toStyle(chalk.cyan),
    comment: toStyle(chalk.dim),
    name: toStyle(chalk.cyan),
  };
}

/** Wrapped to take one argument: chalk joins all arguments, and styles are passed to `map`. */
function toStyle(paint: (text: string) => string): Style {
  return (text) => paint(text);
}
