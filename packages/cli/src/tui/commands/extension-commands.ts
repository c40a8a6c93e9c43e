import type { ExtensionCommand } from "@diligent/core/harness";
import { toSingleLine } from "../../text/terminal-text.ts";
import type { SlashCommand } from "./types.ts";

const MAX_HINT_COLUMNS = 60;
const MAX_DESCRIPTION_COLUMNS = 200;

/** A command of an extension, such as a skill or a file of the project, in lists and completions. */
export function toSlashCommand({ name, description, argumentHint, source }: ExtensionCommand): SlashCommand {
  return {
    name: toSingleLine(name, MAX_DESCRIPTION_COLUMNS),
    description: toSingleLine(description, MAX_DESCRIPTION_COLUMNS),
    ...(argumentHint !== undefined && { argumentHint: toSingleLine(argumentHint, MAX_HINT_COLUMNS) }),
    ...(source !== undefined && { source: toSingleLine(source, MAX_DESCRIPTION_COLUMNS) }),
    isAlwaysPossible: true,
    // What it stands for is only known when it is sent.
    run: (argument, { send }) => send(`/${name} ${argument}`.trimEnd()),
  };
}
