import { UsageError } from "./errors.ts";
import type { ExtensionCommand, PromptExpansion, SessionScope } from "./types.ts";

/** What a line of the user stands for. */
export type ExpandedLine =
  /** The prompt to send in its place. */
  | ({ kind: "prompt" } & PromptExpansion)
  /** What a command has to say to the user; nothing is sent. */
  | { kind: "output"; text: string };

/** The commands of a harness, and the session in which a line was entered. */
export interface ExpandOptions {
  commands: readonly ExtensionCommand[];
  /** See `HarnessExtension`. */
  untrusted: readonly string[];
  session: SessionScope;
  signal: AbortSignal;
}

const SKILL_PREFIX = "skill:";
// A command of Codex is /prompts:NAME.
const PREFIXES = [SKILL_PREFIX, "prompts:"];

/**
 * Expands `/NAME arguments` of an extension, and `$SKILL` anywhere in a prompt. Undefined for any other text, which is
 * sent as it is. What a command expands to is not expanded again.
 * @throws UsageError when there is nothing to send, with a sentence for the user.
 */
export async function expandLine(text: string, options: ExpandOptions): Promise<ExpandedLine | undefined> {
  const [, name, args = ""] = /^\/([^\s/]+)(?:\s+([\s\S]*))?$/.exec(text.trim()) ?? [];
  if (name === undefined) return expandSkills(text, options);
  const { commands, untrusted, session, signal } = options;
  const command = findCommand(name, commands);
  if (command === undefined && findName(name, untrusted) !== undefined)
    throw new UsageError(`/${name} is defined by this project, which is not trusted; see "diligent trust"`);
  if (command === undefined) return undefined;
  if ("run" in command) return { kind: "output", text: (await command.run(args)) ?? "" };
  return { kind: "prompt", ...(await command.toPrompt(args, signal, session)) };
}

/** The command of this name; a skill is also found by its name alone, and so is a prompt of Codex. */
export function findCommand(
  name: string,
  commands: readonly ExtensionCommand[],
): ExtensionCommand | undefined {
  const found = findName(
    name,
    commands.map((command) => command.name),
  );
  return commands.find((command) => command.name === found);
}

/** The whole name that is meant by what the user entered after the slash. */
export function findName(entered: string, names: readonly string[]): string | undefined {
  return [entered, ...PREFIXES.map((prefix) => prefix + entered)].find((name) => names.includes(name));
}

const SKILL_MENTION = /(?<=^|[\s("'])\$((?:[\w.-]+:)?[a-z0-9]+(?:-[a-z0-9]+)*)(?=$|[\s.,;:!?)"'])/g;

async function expandSkills(
  text: string,
  { commands, session, signal }: ExpandOptions,
): Promise<ExpandedLine | undefined> {
  const names = new Set(Array.from(text.matchAll(SKILL_MENTION), ([, name = ""]) => name));
  const skills = [...names].flatMap(
    (name) => commands.find((command) => command.name === `${SKILL_PREFIX}${name}`) ?? [],
  );
  const expansions: PromptExpansion[] = [];
  for (const skill of skills) {
    if ("toPrompt" in skill) expansions.push(await skill.toPrompt("", signal, session));
  }
  if (expansions.length === 0) return undefined;
  const texts = [text, ...expansions.map((expansion) => expansion.text)];
  const mentions = expansions.flatMap((expansion) => expansion.mentions ?? []);
  return { kind: "prompt", text: texts.join("\n\n"), mentions };
}
