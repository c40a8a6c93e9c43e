/** Where it goes; `isTTY` is left out, or false, for what is no terminal. */
export interface ProgressOutput {
  isTTY?: boolean;
  write(text: string): unknown;
}

/** How far a long measurement has come. */
export interface Progress {
  /** @param text one short line, in place of the one before. */
  show(text: string): void;
  /** Whatever comes after it begins on a line of its own. */
  end(): void;
}

/** One line that is written over; nothing at all in a file or a pipe, where that is only noise. */
export function createProgress(output: ProgressOutput): Progress {
  let width = 0;
  const write = (text: string) => void (output.isTTY === true && output.write(text));
  return {
    show(text) {
      write(`\r${text.padEnd(width)}`);
      width = text.length;
    },
    end: () => write("\n"),
  };
}
