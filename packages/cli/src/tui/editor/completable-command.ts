/** A slash command as far as completion knows it. */
export interface CompletableCommand {
  /** Without the slash. */
  name: string;
  aliases?: readonly string[];
  description: string;
  /** What may stand behind it, for the argument as far as it is written; nothing where anything may. */
  complete?(argument: string): readonly string[] | Promise<readonly string[]>;
}
