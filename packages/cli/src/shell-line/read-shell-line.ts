/** A command that the user typed for the shell, and whether the model is told of it. */
export interface ShellLine {
  /** Empty where nothing stands behind the marks. */
  command: string;
  /** False for `!!`: it is in no context and no file. */
  isTold: boolean;
}

/** `!command` and `!!command`; undefined for every other text. */
export function readShellLine(text: string): ShellLine | undefined {
  const [, marks, command = ""] = /^\s*(!!?)([\s\S]*)$/.exec(text) ?? [];
  return marks === undefined ? undefined : { command: command.trim(), isTold: marks === "!" };
}

/** What to say where there is no command behind the marks. */
export const NO_COMMAND = "Write a shell command behind the !, or behind !! to keep it from the model.";
