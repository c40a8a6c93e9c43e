import type { CommandContext } from "./commands/types.ts";
import { notice } from "./view.ts";

/** A word of the program's about what it did, quieter than what a command was asked to print. */
export function note({ show }: Pick<CommandContext, "show">, text: string): void {
  show(notice("info", text));
}
