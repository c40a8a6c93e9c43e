import { nearestName } from "@diligent/core/light";
import { isSubcommandWord, SUBCOMMAND_PAGES, type SubcommandWord } from "../arguments/subcommand-table.ts";
import type { CliIo } from "../cli-io.ts";
import { EXIT_SUCCESS } from "../exit-codes.ts";
import { UsageError } from "../usage-error.ts";
import { formatBash } from "./completions/bash.ts";
import { formatFish } from "./completions/fish.ts";
import { createVocabulary, type Vocabulary } from "./completions/vocabulary.ts";
import { formatZsh } from "./completions/zsh.ts";
import { readSubcommandArguments } from "./subcommand-arguments.ts";

const SHELLS: Readonly<Record<SubcommandWord<"completions">, (vocabulary: Vocabulary) => string>> = {
  bash: formatBash,
  zsh: formatZsh,
  fish: formatFish,
};

/** Shells that there is no script for: whoever names one means it, however near another's name is. */
const OTHER_SHELLS: ReadonlySet<string> = new Set(
  "ash cmd csh dash elvish ksh mksh nu nushell oil osh powershell pwsh rc sh tcsh xonsh yash".split(" "),
);

/**
 * Writes the completion script for a shell. Reads no configuration: the models are those that are known anyway.
 * @throws UsageError for a shell that there is none for.
 */
export async function runCompletions(rest: readonly string[], { stdout }: CliIo): Promise<number> {
  const { words } = readSubcommandArguments("completions", rest);
  const [shell, other] = words;
  if (shell === undefined || !isSubcommandWord("completions", shell)) throw unknownShell(shell);
  if (other !== undefined) throw new UsageError(`completions takes one shell, not also ${other}`);
  const { KNOWN_MODELS } = await import("@diligent/core/run");
  const models = KNOWN_MODELS.flatMap(({ id, aliases = [] }) => [id, ...aliases]);
  stdout.write(SHELLS[shell](createVocabulary([...new Set(models)])));
  return EXIT_SUCCESS;
}

function unknownShell(shell: string | undefined): UsageError {
  const known = SUBCOMMAND_PAGES.completions.words ?? [];
  if (shell === undefined)
    return new UsageError(`completions needs the name of a shell: ${known.join(", ")}`);
  const nearest = OTHER_SHELLS.has(shell) ? undefined : nearestName(shell, known);
  const hint = nearest === undefined ? `there are ${known.join(", ")}` : `did you mean ${nearest}?`;
  return new UsageError(`completions: there are none for ${shell} (${hint})`);
}
