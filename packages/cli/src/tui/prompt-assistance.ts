import { DraftFile, readRecentInputs } from "@diligent/core/interactive";
import { type Environment, findProjectRoot, homeDirectory } from "@diligent/core/run";
import type { CommandContext, SlashCommand } from "./commands/types.ts";
import { createCompletion } from "./editor/completion.ts";
import { createFileIndex } from "./editor/create-file-index.ts";
import { DraftKeeper } from "./editor/draft.ts";
import type { PromptEditor } from "./editor/prompt-editor.ts";

const MAX_HISTORY = 100;

interface Place {
  cwd: string;
  environment: Environment;
}

/** Gives the editor earlier prompts and completion; nothing of it is needed to write the first words. */
export function assistEditor(
  editor: PromptEditor,
  { cwd, environment }: Place,
  context: CommandContext,
): void {
  const root = findProjectRoot(cwd, homeDirectory(environment));
  editor.setHistory(readRecentInputs(environment, { root, limit: MAX_HISTORY }).map(({ text }) => text));
  editor.setCompletion(
    createCompletion({
      commands: context.commands.map((command) => toCompletable(command, context)),
      files: createFileIndex({ cwd, root, environment }),
    }),
  );
}

/** Keeps the unsent prompt of this project, so that it survives the end of the program. */
export function openDraft({ cwd, environment }: Place): DraftKeeper {
  return new DraftKeeper(new DraftFile(environment, findProjectRoot(cwd, homeDirectory(environment))));
}

function toCompletable(command: SlashCommand, context: CommandContext) {
  const { name, aliases, description, complete } = command;
  return {
    name,
    description,
    ...(aliases && { aliases }),
    ...(complete && { complete: async (argument: string) => complete(argument, context) }),
  };
}
