import { configJsonSchema, describeConfig } from "@diligent/core/config";
import { loadConfig } from "@diligent/core/harness";
import type { LoadedConfig } from "@diligent/core/run";
import { EXIT_SUCCESS, UsageError } from "../errors.ts";
import { type CliIo, writeLine } from "../io/io.ts";
import { resolveDirectory } from "../session/project-directory.ts";
import { toJsonText } from "../text/format.ts";
import { sanitizeTerminalText } from "../text/terminal-text.ts";
import { readSubcommandArguments } from "./arguments.ts";

/**
 * @param directory as given with `-C`.
 * @throws UsageError when a configuration file is broken.
 */
export async function runConfig(rest: readonly string[], io: CliIo, directory?: string): Promise<number> {
  const { words, switches } = readSubcommandArguments("config", rest);
  const isSchema = switches.has("schema");
  const [word, more] = words;
  if (more !== undefined || (word !== undefined && !isSchema))
    throw new UsageError(`config takes no arguments: ${more ?? word}`);
  if (isSchema) io.stdout.write(toJsonText(await findSchema(word)));
  else
    await showConfig(
      await loadConfig(resolveDirectory(directory, io.cwd), io.environment),
      switches.has("json"),
      io,
    );
  return EXIT_SUCCESS;
}

/** @throws UsageError for a schema that does not exist. */
async function findSchema(name: string | undefined): Promise<Record<string, unknown>> {
  if (name === undefined) return configJsonSchema();
  if (name !== "events" && name !== "input")
    throw new UsageError(`config --schema ${name}: there is no such schema; it is events or input`);
  const { eventJsonSchema, inputJsonSchema } = await import("@diligent/core/protocol");
  return name === "events" ? eventJsonSchema() : inputJsonSchema();
}

async function showConfig(loaded: LoadedConfig, isJson: boolean, { stdout, stderr }: CliIo): Promise<void> {
  for (const { message } of loaded.warnings) writeLine(stderr, `warning: ${message}`);
  stdout.write(isJson ? toJsonText(describeConfig(loaded)) : formatConfig(loaded));
}

/** Every setting with its source, keys masked, as terminal lines. */
export function formatConfig(loaded: LoadedConfig): string {
  const { sources, projectRoot } = loaded;
  const settings = describeConfig(loaded);
  const assignments = settings.map(({ key, value }) => `${key} = ${JSON.stringify(value)}`);
  const width = Math.min(60, Math.max(0, ...assignments.map((text) => text.length)));
  const lines = assignments.map((text, index) => `${text.padEnd(width)}  (${settings[index]?.origin})`);
  const files = sources.length === 0 ? ["no file"] : sources;
  return sanitizeTerminalText(
    [...lines, "", `Project root: ${projectRoot}`, `Read: ${files.join(", ")}`, ""].join("\n"),
  );
}
