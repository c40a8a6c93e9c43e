import {
  type Frontmatter,
  readBooleanField,
  readFrontmatter,
  readListField,
  readTextField,
} from "../../infrastructure/text/frontmatter.ts";
import type { PermissionRule } from "../../tool/types.ts";
import type { AgentDefinition, ToolSelection } from "./definition.ts";

/** A definition file, or the reason why it defines no sub-agent: a clause without a full stop. */
export type ParsedAgent = { definition: AgentDefinition } | { reason: string };

/** What is known of a definition besides its text. */
interface AgentFile {
  /** Of the file, without its extension: the name where the text gives none. */
  fileName: string;
  /** For people. */
  source: string;
}

const NAME = /^[\p{L}\p{N}][\p{L}\p{N} ._:-]{0,63}$/u;
const MAX_DESCRIPTION_CHARS = 1_024;
const EFFORTS = ["off", "low", "medium", "high", "xhigh", "max"] as const;

/**
 * Reads the definition of a sub-agent: frontmatter with at least a description, and its system prompt. The fields are
 * those of Claude Code, opencode and gemini-cli; what a field would loosen is ignored. Never throws.
 */
export function parseAgent(text: string, { fileName, source }: AgentFile): ParsedAgent {
  const head = readFrontmatter(text);
  const name = readTextField(head, "name") ?? fileName;
  const description = readTextField(head, "description") ?? "";
  const problems = head.problem === undefined ? [] : [head.problem];
  if (!NAME.test(name)) return { reason: "its name is not made of letters, digits, spaces and . _ : -" };
  if (description === "") return { reason: "it has no description" };
  if (readBooleanField(head, "disable") === true) return { reason: "it is disabled" };
  if (readTextField(head, "mode") === "primary")
    return { reason: "its mode is primary, so it is no sub-agent" };
  const rules = [...readToolRules(head), ...readPermissions(head.fields.get("permission"))];
  const permissionMode = readTextField(head, "permissionMode");
  return {
    definition: {
      name,
      description: description.replace(/\s+/g, " ").slice(0, MAX_DESCRIPTION_CHARS).toWellFormed(),
      prompt: head.body.trim(),
      source,
      tools: readTools(head),
      ...(rules.length > 0 && { rules }),
      ...(permissionMode === "plan" && { isReadOnly: true }),
      ...readModel(head),
      ...readEffort(head),
      ...readTurns(head),
      ...(readBooleanField(head, "background") === true && { isBackground: true }),
      ...(problems.length > 0 && { problems }),
    },
  };
}

/** A list of names; or, as in opencode, a map from patterns to whether they are offered. */
function readTools(head: Frontmatter): ToolSelection {
  const denied = readListField(head, "disallowedTools") ?? [];
  const given = head.fields.get("tools");
  if (!isRecord(given)) {
    const allowed = readListField(head, "tools");
    return { ...(allowed && !allowed.includes("*") && { allowed }), ...(denied.length > 0 && { denied }) };
  }
  const names = (isOn: boolean) =>
    Object.entries(given).flatMap(([name, value]) => (value === isOn ? [name] : []));
  const off = names(false);
  // With `"*": false`, the others are what is left.
  if (off.includes("*")) return { allowed: names(true), denied };
  return off.length + denied.length > 0 ? { denied: [...off, ...denied] } : {};
}

/** `Bash(git *)` limits the commands; several such entries add up. */
function readToolRules(head: Frontmatter): PermissionRule[] {
  const entries = (readListField(head, "tools") ?? []).filter((entry) => /^bash\(/i.test(entry));
  const patterns = entries.map((entry) =>
    entry.slice("bash(".length).replace(/\)$/, "").replace(/:\*$/, " *").trim(),
  );
  return patterns.length === 0 ? [] : limitCommands(patterns.map((pattern) => [pattern, "allow"]));
}

/** opencode's permissions: `{edit: "deny", bash: {"*": "ask", "git *": "allow"}}`; the last match wins there, too. */
function readPermissions(value: unknown): PermissionRule[] {
  if (!isRecord(value)) return [];
  const edit = toAction(value.edit);
  const writes: PermissionRule[] =
    edit === undefined || edit === "allow" ? [] : [{ permission: "write", pattern: "**", action: edit }];
  const { bash } = value;
  const all = toAction(bash);
  const commands: PermissionRule[] = isRecord(bash)
    ? toRules(Object.entries(bash))
    : all === undefined || all === "allow"
      ? []
      : [{ permission: "execute", pattern: "*", action: all }];
  return [...writes, ...commands];
}

/** Everything that no pattern names is denied. */
function limitCommands(entries: readonly (readonly [string, unknown])[]): PermissionRule[] {
  return [{ permission: "execute", pattern: "*", action: "deny" }, ...toRules(entries)];
}

function toRules(entries: readonly (readonly [string, unknown])[]): PermissionRule[] {
  return entries.flatMap(([pattern, value]) => {
    const action = toAction(value);
    return action === undefined || pattern === "" ? [] : [{ permission: "execute", pattern, action }];
  });
}

function toAction(value: unknown): PermissionRule["action"] | undefined {
  return value === "allow" || value === "deny" || value === "ask" ? value : undefined;
}

function readModel(head: Frontmatter): Pick<AgentDefinition, "model"> {
  const model = readTextField(head, "model");
  return model === undefined || model === "inherit" ? {} : { model };
}

function readEffort(head: Frontmatter): Pick<AgentDefinition, "effort"> {
  const given = readTextField(head, "effort")?.toLowerCase();
  const effort = EFFORTS.find((each) => each === given);
  return effort === undefined ? {} : { effort };
}

function readTurns(head: Frontmatter): Pick<AgentDefinition, "maxTurns"> {
  for (const name of ["maxTurns", "max_turns", "steps"]) {
    const turns = Number(head.fields.get(name));
    if (Number.isSafeInteger(turns) && turns > 0) return { maxTurns: turns };
  }
  return {};
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
