import type { ToolCallBlock } from "../types.ts";
import type { ToolRegistry } from "./registry.ts";

/**
 * Models trained with other agents call tools by those agents' names. By the name of our tool: the names that mean it,
 * in lower case without separators.
 */
const TOOL_ALIASES: Readonly<Record<string, readonly string[]>> = {
  read: ["readfile", "view", "viewfile", "openfile"],
  write: ["writefile", "createfile", "writetofile"],
  edit: ["editfile", "multiedit", "strreplace", "replace", "searchreplace", "strreplaceeditor"],
  bash: ["shell", "runshellcommand", "executecommand", "runcommand", "runterminalcmd", "localshell", "exec"],
  glob: ["findfiles", "globfiles", "filesearch"],
  grep: ["search", "searchfiles", "ripgrep", "grepsearch", "searchfilecontent"],
  apply_patch: ["patch"],
  ask_user: ["askuserquestion", "askquestion", "askfollowupquestion", "requestuserinput", "question"],
  todo: ["todowrite", "writetodos", "updateplan", "settodolist", "todolist"],
  ls: ["listdir", "listdirectory", "listfiles", "list"],
  task: ["agent", "subagent", "spawnagent", "invokeagent", "runagent", "delegate", "delegatetask", "newtask"],
};

/** The same for arguments, by the name of ours. */
const ARGUMENT_ALIASES: Readonly<Record<string, readonly string[]>> = {
  file_path: ["path", "filename", "file", "filepath", "absolutepath", "targetfile"],
  path: ["directory", "dir", "folder", "dirpath", "directorypath", "filepath", "searchpath"],
  command: ["cmd", "script", "commandline"],
  patch: ["input", "diff"],
  content: ["contents", "text", "filetext", "filecontent", "step"],
  todos: ["plan", "items", "tasks"],
  old_string: ["oldstr", "oldtext", "search", "find"],
  new_string: ["newstr", "newtext", "replacement"],
  pattern: ["regex", "query", "regexp", "globpattern", "includepattern"],
  timeout: ["timeoutms", "timeoutmilliseconds"],
  background: ["runinbackground", "isbackground"],
  glob: ["include"],
  limit: ["maxlines", "numlines", "lines"],
  offset: ["startline", "line", "linenumber"],
  agent: ["subagenttype", "agenttype", "agentname", "subagent"],
};

interface PropertySchema {
  type?: unknown;
  maximum?: unknown;
  /** The schema of the entries of an array. */
  items?: unknown;
}

/**
 * The call as our tool takes it: another case or another agent's name of a tool or an argument, numbers and booleans as
 * strings, limits above their maximum. The same object where nothing of that occurs. What it leaves is validated
 * strictly, so nothing is guessed that the schema does not ask for.
 */
export function coerceCall(given: ToolCallBlock, registry: ToolRegistry): ToolCallBlock {
  const call = toPatchCall(given, registry);
  const name = findToolName(call.name, registry.names);
  const schema = name === undefined ? undefined : registry.schemaOf(name);
  const input = schema && call.invalidInput === undefined ? coerceInput(call.input, schema) : call.input;
  if (name === undefined || (name === call.name && input === call.input)) return call;
  return { ...call, name, input };
}

// A directory in which the shell changes nothing.
const PLAIN_WORD =
  /(?:"(?<double>[^"$`\\\n]+)"|'(?<single>[^'\n]+)'|(?<bare>[^\s"'$`\\*?[\]{}~#!;&|<>()=-][^\s"'$`\\*?[\]{};&|<>()]*))/;
// With or without quotes around the delimiter: nothing in a patch is meant for the shell.
const TYPED_PATCH = new RegExp(
  `^\\s*(?:cd\\s+${PLAIN_WORD.source}\\s*&&\\s*)?(?:apply_patch|applypatch)\\s*<<-?\\s*(?<quote>["']?)(?<end>\\w+)\\k<quote>` +
    "[ \\t]*\\r?\\n(?<patch>[\\s\\S]*?)\\r?\\n\\k<end>\\s*$",
);
const PATCH_PATH = /^(\*\*\* (?:(?:Add|Delete|Update) File|Move to): )(?!\/)/gm;

/** A patch that a model types into the shell, as it was trained to, also after a `cd`, becomes a call of the tool. */
function toPatchCall(call: ToolCallBlock, registry: ToolRegistry): ToolCallBlock {
  if (!registry.names.includes("apply_patch") || findToolName(call.name, registry.names) !== "bash")
    return call;
  const command = call.input.command ?? call.input.cmd;
  const found = typeof command === "string" ? TYPED_PATCH.exec(command)?.groups : undefined;
  if (found?.patch === undefined) return call;
  const directory = (found.double ?? found.single ?? found.bare)?.replace(/\/+$/, "");
  // An option, the previous directory, or a name that the tool would read as the home directory.
  if (directory !== undefined && /^[-~]/.test(directory)) return call;
  // Every other line of a patch begins with a mark of its own.
  const patch =
    directory === undefined
      ? found.patch
      : found.patch.replace(PATCH_PATH, (header) => `${header}${directory}/`);
  return { ...call, name: "apply_patch", input: { patch } };
}

/** The name among `names` that is meant by `name`, which may be another agent's name for it. */
export function findToolName(name: string, names: readonly string[]): string | undefined {
  if (names.includes(name)) return name;
  const plain = toPlain(name);
  return (
    names.find((each) => toPlain(each) === plain) ?? names.find((each) => TOOL_ALIASES[each]?.includes(plain))
  );
}

/** @param schema the JSON Schema of an object. */
function coerceInput(
  input: Record<string, unknown>,
  schema: Record<string, unknown>,
): Record<string, unknown> {
  const properties = toRecord(schema.properties);
  let isChanged = false;
  const coerced: Record<string, unknown> = {};
  for (const [given, value] of Object.entries(input)) {
    const key = findKey(given, input, properties);
    const property: PropertySchema = toRecord(properties[key]);
    // Some models send null for what they leave out.
    if (value === null && property.type !== undefined && !allows(property, "null")) {
      isChanged = true;
      continue;
    }
    const fitting = coerceValue(value, property);
    isChanged ||= key !== given || fitting !== value;
    coerced[key] = fitting;
  }
  return isChanged ? coerced : input;
}

/** The argument that is meant; the same name where none is, or where that is given as well. */
function findKey(given: string, input: Record<string, unknown>, properties: Record<string, unknown>): string {
  if (given in properties) return given;
  const plain = toPlain(given);
  const names = Object.keys(properties).filter((name) => !(name in input));
  const same = names.find((name) => toPlain(name) === plain);
  return same ?? names.find((name) => ARGUMENT_ALIASES[name]?.includes(plain)) ?? given;
}

function coerceValue(value: unknown, schema: PropertySchema): unknown {
  if (Array.isArray(value)) return coerceItems(value, toRecord(schema.items));
  const { maximum } = schema;
  if (typeof value === "number" && typeof maximum === "number" && value > maximum) return maximum;
  const isNumeric = allows(schema, "integer") || allows(schema, "number");
  if (typeof value === "number" && !isNumeric && allows(schema, "string")) return String(value);
  if (typeof value !== "string" || allows(schema, "string")) return value;
  const text = value.trim();
  if (isNumeric && /^-?\d+(\.\d+)?$/.test(text)) {
    return coerceValue(Number(text), schema);
  }
  if (allows(schema, "boolean") && /^(true|false)$/i.test(text)) return text.toLowerCase() === "true";
  if (!allows(schema, "array") && !allows(schema, "object")) return value;
  const parsed = parseJsonOr(value);
  return typeof parsed === "string" ? value : coerceValue(parsed, schema);
}

/** The same array where every entry fits. */
function coerceItems(items: unknown[], schema: Record<string, unknown>): unknown[] {
  const coerced = items.map((item) =>
    isObject(item) ? coerceInput(item, schema) : coerceValue(item, schema),
  );
  return coerced.some((item, index) => item !== items[index]) ? coerced : items;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function parseJsonOr(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text; // The strict validation says what was expected.
  }
}

function allows({ type }: PropertySchema, wanted: string): boolean {
  return type === wanted || (Array.isArray(type) && type.includes(wanted));
}

function toPlain(name: string): string {
  return name.toLowerCase().replace(/[_\-\s.]/g, "");
}

function toRecord(value: unknown): Record<string, unknown> {
  return typeof value === "object" && value !== null ? { ...value } : {};
}
