import { join } from "node:path";
import { updatePrivateFile } from "../../infrastructure/fs/private-files.ts";
import { readSmallText } from "../../infrastructure/fs/read.ts";
import { userStateDirectory } from "../../infrastructure/paths/user.ts";
import type { Environment } from "../../infrastructure/runtime.ts";
import { removeInvisible } from "../../infrastructure/text/unicode.ts";

/** A tool as its server describes it. */
export interface CatalogTool {
  name: string;
  description: string;
  /** A JSON Schema of an object. */
  inputSchema: Record<string, unknown>;
  /** The server says that the tool changes nothing. */
  isReadOnly: boolean;
}

/** An argument of a prompt. */
export interface PromptArgument {
  name: string;
  isRequired: boolean;
}

/** A prompt that a server offers. */
export interface CatalogPrompt {
  name: string;
  description: string;
  arguments: PromptArgument[];
}

/** What a server offers. Texts are the server's own, without invisible and control characters. */
export interface ServerCatalog {
  instructions: string;
  tools: CatalogTool[];
  prompts: CatalogPrompt[];
  hasResources: boolean;
  /** The addresses of its resources, for completion; at most `MAX_RESOURCES`. */
  resources: string[];
}

/** More are read by their address; nobody can choose from them. */
export const MAX_RESOURCES = 500;

// Far above any useful server; the rest could not be searched either.
const MAX_TOOLS = 10_000;
const MAX_DESCRIPTION_CHARS = 4_000;
const MAX_INSTRUCTION_CHARS = 8_000;
const MAX_SCHEMA_CHARS = 64_000;
const MAX_FILE_BYTES = 32 * 1024 * 1024;

/** The part of a listed tool that matters here. */
interface ListedTool {
  name: string;
  description?: string | undefined;
  title?: string | undefined;
  inputSchema: object;
  annotations?: { readOnlyHint?: boolean | undefined } | undefined;
}

/** Tools as a server lists them; of two with the same name, the first. */
export function toCatalogTools(listed: readonly ListedTool[]): CatalogTool[] {
  const tools = new Map<string, CatalogTool>();
  for (const { name, description, title, inputSchema, annotations } of listed.slice(0, MAX_TOOLS)) {
    if (tools.has(name)) continue;
    tools.set(name, {
      name,
      description: toPlainText(description ?? title ?? "", MAX_DESCRIPTION_CHARS),
      inputSchema: toPlainSchema(inputSchema),
      isReadOnly: annotations?.readOnlyHint === true,
    });
  }
  return [...tools.values()];
}

/** The server's instructions as they may be shown to a model. */
export function toInstructions(text: string | undefined): string {
  return toPlainText(text ?? "", MAX_INSTRUCTION_CHARS);
}

/** Without characters that a person would not see, or that a terminal would act on. */
export function toPlainText(text: string, maxChars: number): string {
  const cut = text.length > maxChars ? `${text.slice(0, maxChars).toWellFormed()}…` : text.toWellFormed();
  const plain = cut.replace(CONTROL_SEQUENCE, "").replace(/\r\n?/g, "\n");
  return removeInvisible(plain).text.trim();
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: it removes them.
const CONTROL_SEQUENCE = /\u001b(?:\[[0-?]*[ -/]*[@-~]|\][^\u0007\u001b]*(?:\u0007|\u001b\\)?|[@-Z\\-_])/g;
/** The schema for a model: providers only accept that of an object, without alternatives at its top. */
export function toOfferedSchema(given: Record<string, unknown>): Record<string, unknown> {
  const { $schema: _, anyOf: __, oneOf: ___, allOf: ____, ...schema } = given;
  const { properties } = schema;
  return { ...schema, type: "object", properties: isObject(properties) ? properties : {} };
}

function toPlainSchema(schema: object): Record<string, unknown> {
  const text = JSON.stringify(schema, (_, value: unknown) =>
    typeof value === "string" ? toPlainText(value, MAX_DESCRIPTION_CHARS) : value,
  );
  const plain: unknown = text.length > MAX_SCHEMA_CHARS ? {} : JSON.parse(text);
  return isObject(plain) ? plain : {};
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** The version of the file; one of another version counts as missing. */
const VERSION = 1;

/** What the server offered last time; undefined if it was never reached, or has been configured differently. */
export function readCatalog(environment: Environment, id: string): ServerCatalog | undefined {
  const path = catalogPath(environment, id);
  if (path === undefined) return undefined;
  try {
    const stored: unknown = JSON.parse(readSmallText(path, MAX_FILE_BYTES) ?? "");
    return isObject(stored) && stored.version === VERSION ? toStoredCatalog(stored) : undefined;
  } catch {
    return undefined; // Missing or damaged: it is written again when the server is reached.
  }
}

function toStoredCatalog({
  instructions,
  tools,
  prompts,
  hasResources,
  resources,
}: Record<string, unknown>): ServerCatalog {
  return {
    instructions: typeof instructions === "string" ? instructions : "",
    tools: Array.isArray(tools) ? tools.filter(isStoredTool) : [],
    prompts: Array.isArray(prompts) ? prompts.filter(isStoredPrompt) : [],
    hasResources: hasResources === true,
    resources: Array.isArray(resources) ? resources.filter((uri) => typeof uri === "string") : [],
  };
}

function isStoredTool(value: unknown): value is CatalogTool {
  return (
    isObject(value) &&
    typeof value.name === "string" &&
    typeof value.description === "string" &&
    isObject(value.inputSchema) &&
    typeof value.isReadOnly === "boolean"
  );
}

function isStoredPrompt(value: unknown): value is CatalogPrompt {
  return (
    isObject(value) &&
    typeof value.name === "string" &&
    typeof value.description === "string" &&
    Array.isArray(value.arguments) &&
    value.arguments.every((each) => isObject(each) && typeof each.name === "string")
  );
}

/** Remembers what a server offers, so that the next session can list it before the server is reached. */
export async function saveCatalog(
  environment: Environment,
  id: string,
  catalog: ServerCatalog,
): Promise<void> {
  const path = catalogPath(environment, id);
  if (path === undefined) return;
  const content = `${JSON.stringify({ version: VERSION, ...catalog })}\n`;
  if (readSmallText(path, MAX_FILE_BYTES) === content) return;
  await updatePrivateFile(path, () => new TextEncoder().encode(content));
}

function catalogPath(environment: Environment, id: string): string | undefined {
  const directory = userStateDirectory(environment);
  return directory && join(directory, "mcp", `catalog-${id}.json`);
}
