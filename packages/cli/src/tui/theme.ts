import { Chalk } from "chalk";

/** Puts a look around text; the text itself stays, and so do the looks inside of it. */
export type Style = (text: string) => string;

/**
 * How things look, by what they are. Only the terminal's own sixteen colours are used, so that what its owner chose to
 * be readable on their background is; running text keeps the terminal's own foreground.
 */
export interface Theme {
  /** False: every style leaves the text as it is, and views say in characters what colours would say. */
  readonly isColored: boolean;
  readonly bold: Style;
  readonly italic: Style;
  readonly underline: Style;
  readonly strikethrough: Style;
  /** What may be overlooked. */
  readonly dim: Style;
  /** What the eye should find: markers, keys, questions, the running tool. Magenta is the one colour that can be read on every ground. */
  readonly accent: Style;
  /** The chosen row of a list. */
  readonly selected: Style;
  /** What the user wrote, in bold: the eye looks for it in a long transcript, and it is running text. */
  readonly user: Style;
  readonly heading: Style;
  /** A heading of the first rank. */
  readonly title: Style;
  /** Code within a sentence, which has to be read: cyan, green and yellow are pale on white, and blue is dark on black. */
  readonly code: Style;
  readonly link: Style;
  readonly success: Style;
  readonly warning: Style;
  readonly error: Style;
  readonly added: Style;
  readonly removed: Style;
  /** The part of an added or removed line that differs from its counterpart; used inside of `added` and `removed`. */
  readonly changedWord: Style;
  readonly keyword: Style;
  readonly string: Style;
  readonly number: Style;
  readonly comment: Style;
  /** Names of types, functions, tags and keys. */
  readonly name: Style;
}

/** @param color False for `NO_COLOR`, a terminal without colours, and whoever does not see them. */
export function createTheme({ color }: { color: boolean }): Theme {
  // Set here and not found out by chalk, which looks at the process and does not know NO_COLOR.
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

/** Of one argument only: chalk joins all that it gets, and styles are handed to `map`. */
function toStyle(paint: (text: string) => string): Style {
  return (text) => paint(text);
}
