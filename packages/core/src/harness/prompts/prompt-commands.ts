import { belongsToProject } from "../../extensions/definitions/directories.ts";
import { expandTemplate } from "../../extensions/prompt-commands/expand-template.ts";
import {
  type CommandFile,
  findCommands,
  type SkippedCommand,
} from "../../extensions/prompt-commands/find-commands.ts";
import { COMMAND_TRUST, toCommandItem } from "../../extensions/prompt-commands/trust.ts";
import type { ExtensionPlace } from "../extensions.ts";
import type { HarnessExtension, Notice, PromptCommand, SessionScope } from "../types.ts";
import { ListedToolGrants } from "./listed-tool-grants.ts";

/** The commands in files of the user and, where they are trusted, of the project. */
export async function openPromptCommands(place: ExtensionPlace): Promise<HarnessExtension> {
  const { cwd, environment, loaded } = place;
  const root = loaded.projectRoot;
  const { active: plugins } = await place.plugins();
  const { commands: found, skipped } = await findCommands({ cwd, root, environment, plugins });
  const commands = await selectTrusted(found, place);
  const sessions = new Map<string, ListedToolGrants>();
  const grantsOf = (scope: SessionScope) => {
    const known = sessions.get(scope.sessionId) ?? new ListedToolGrants("command", scope);
    sessions.set(scope.sessionId, known);
    return known;
  };
  return {
    name: "commands",
    commands: commands.map((command) => toPromptCommand(command, { grantsOf, place })),
    untrustedCommands: found.filter((command) => !commands.includes(command)).map(({ name }) => name),
    openSession: ({ sessionId }) => ({
      notices: describeSkipped(skipped),
      close: () => void sessions.delete(sessionId),
    }),
    close() {},
  };
}

async function selectTrusted(found: readonly CommandFile[], place: ExtensionPlace): Promise<CommandFile[]> {
  const root = place.loaded.projectRoot;
  const ofProject = found.filter(belongsToProject);
  if (ofProject.length === 0) return [...found];
  const items = ofProject.map((command) => toCommandItem(command, root));
  const trust = await place.trust();
  const trusted = new Set((await trust.selectTrusted(COMMAND_TRUST, items)).map(({ command }) => command));
  return found.filter((command) => !belongsToProject(command) || trusted.has(command));
}

/** One line, however many there are. */
function describeSkipped(skipped: readonly SkippedCommand[]): Notice[] {
  const [first, ...others] = skipped;
  if (first === undefined) return [];
  const more = others.length === 0 ? "" : ` (and ${others.length} more)`;
  const message = `${first.shown} is not used as a command: ${first.reason}${more}`;
  return [{ level: "info", code: "command_not_loaded", message }];
}

interface CommandDeps {
  grantsOf(scope: SessionScope): ListedToolGrants;
  place: Pick<ExtensionPlace, "agentsOf">;
}

function toPromptCommand(command: CommandFile, { grantsOf, place }: CommandDeps): PromptCommand {
  const { name, description, argumentHint, shown, model, agent } = command;
  return {
    ...{ name, description, argumentHint },
    source: shown,
    async toPrompt(args, signal, session) {
      await grantsOf(session).confirm(command, signal);
      const run = (line: string) => session.runCommand(line, signal);
      const expansion = await expandTemplate(command.template, args, run);
      const isGiven =
        agent !== undefined &&
        place.agentsOf(session.sessionId).assign({ agent, model, prompt: expansion.text, title: `/${name}` });
      // The sub-agent has the model then.
      return isGiven ? expansion : { ...expansion, model };
    },
  };
}
