import { UsageError } from "../../harness/errors.ts";
import type { PromptCommand, PromptExpansion } from "../../harness/types.ts";
import type { CatalogPrompt } from "./catalog.ts";
import type { ServerConnection } from "./connection.ts";
import type { McpServers } from "./servers.ts";
import { ToolNames } from "./tool-names.ts";

/** The prompts of all servers as commands: `/mcp__SERVER__PROMPT ARGUMENTS`. */
export function createPromptCommands(servers: McpServers): PromptCommand[] {
  const names = new ToolNames();
  return [...servers.connections.values()].flatMap((connection) => {
    const server = connection.definition.name;
    return (servers.catalogOf(connection)?.prompts ?? []).map((prompt): PromptCommand => {
      const hint = prompt.arguments
        .map(({ name, isRequired }) => (isRequired ? `<${name}>` : `[${name}]`))
        .join(" ");
      return {
        name: names.add({ server, tool: prompt.name }),
        description: prompt.description.replace(/\s+/g, " "),
        source: `server ${server}`,
        ...(hint !== "" && { argumentHint: hint }),
        ...(prompt.arguments.length > 0 && {
          complete: (typed: string) => completeArgument(connection, prompt, typed),
        }),
        toPrompt: (args) => expand(connection, prompt, args),
      };
    });
  });
}

async function expand(
  connection: ServerConnection,
  prompt: CatalogPrompt,
  args: string,
): Promise<PromptExpansion> {
  const input = toArguments(prompt, args);
  const missing = prompt.arguments.filter(
    ({ name, isRequired }) => isRequired && !Object.hasOwn(input, name),
  );
  if (missing.length > 0)
    throw new UsageError(`The prompt ${prompt.name} needs ${missing.map(({ name }) => name).join(", ")}.`);
  const { messages } = await connection.getPrompt(prompt.name, input).catch((error: unknown) => {
    throw new UsageError(error instanceof Error ? error.message : String(error));
  });
  const texts = messages.flatMap(({ content, role }) => {
    const text =
      content.type === "text"
        ? content.text
        : content.type === "resource" && "text" in content.resource
          ? content.resource.text
          : undefined;
    if (text === undefined) return [];
    return [role === "user" ? text : `Example of an answer:\n${text}`];
  });
  if (texts.length === 0) throw new UsageError(`The prompt ${prompt.name} has no text.`);
  return { text: texts.join("\n\n") };
}

/** What the server suggests for the word at the end, which is the value of the first argument without one. */
async function completeArgument(
  connection: ServerConnection,
  prompt: CatalogPrompt,
  typed: string,
): Promise<string[]> {
  const [, before = "", given = ""] = /^(.*\s)?(\S*)$/s.exec(typed) ?? [];
  const others = toArguments(prompt, before);
  const [, named, value = given] = /^([\w-]+)=(.*)$/s.exec(given) ?? [];
  const isNamed = prompt.arguments.some(({ name }) => name === named);
  const next = prompt.arguments.find(({ name }) => (isNamed ? name === named : !Object.hasOwn(others, name)));
  if (!next) return [];
  const argument = { name: next.name, value: isNamed ? value : given };
  const values = await connection.complete(prompt.name, argument, others);
  const start = before + (isNamed ? `${next.name}=` : "");
  return values.map((each) => start + (/\s/.test(each) ? `"${each}"` : each));
}

/** `name=value` by name, everything else in order; the last argument takes the rest. Quotes keep words together. */
function toArguments({ arguments: known }: CatalogPrompt, args: string): Record<string, string> {
  const input: Record<string, string> = {};
  const words = [...args.matchAll(/(?:[^\s"']+|"[^"]*"|'[^']*')+/g)].map(([word]) => word);
  const plain: string[] = [];
  for (const word of words) {
    const [, name, value] = /^([\w-]+)=(.*)$/s.exec(word) ?? [];
    if (name !== undefined && value !== undefined && known.some((each) => each.name === name))
      input[name] = unquote(value);
    else plain.push(unquote(word));
  }
  const free = known.filter(({ name }) => !Object.hasOwn(input, name));
  for (const [index, { name }] of free.entries()) {
    const value = index === free.length - 1 ? plain.slice(index).join(" ") : plain[index];
    if (value !== undefined && value !== "") input[name] = value;
  }
  return input;
}

function unquote(word: string): string {
  return word.replace(
    /"([^"]*)"|'([^']*)'/g,
    (_, double?: string, single?: string) => double ?? single ?? "",
  );
}
