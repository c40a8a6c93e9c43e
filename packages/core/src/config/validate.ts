import type { z } from "zod";
import { nearestName } from "../infrastructure/nearest-name.ts";
import type { ConfigDocument } from "./document.ts";
import { type ConfigProblem, formatKey } from "./errors.ts";
import { configJsonSchema, type DiligentConfig, DiligentConfigSchema } from "./schema.ts";
import { isPlainObject } from "./settings.ts";

type Issue = z.core.$ZodIssue;
type Path = readonly PropertyKey[];

/** A problem of one setting; `isName` if its name is invalid, not its value. */
interface Finding {
  path: Path;
  message: string;
  isName: boolean;
  /** True if the setting does not exist. */
  isUnknown?: boolean;
}

/** How unknown settings, such as those of a newer version, are handled. */
export type UnknownSettings = "refuse" | "skip";

/**
 * Validates a document against the schema: returns the configuration with the unknown settings that were skipped, or
 * all problems; both in the order of the text.
 */
export function validateDocument(
  document: ConfigDocument,
  unknownSettings: UnknownSettings = "refuse",
): { config: DiligentConfig; skipped: ConfigProblem[] } | { problems: ConfigProblem[] } {
  const parsed = DiligentConfigSchema.safeParse(document.value);
  if (parsed.success) return { config: parsed.data, skipped: [] };
  const findings = parsed.error.issues.flatMap((issue) => describeIssue(issue, document));
  const unknown = findings.filter(({ isUnknown }) => isUnknown);
  if (unknownSettings === "refuse" || unknown.length < findings.length)
    return { problems: toProblems(findings, document) };
  const value = unknown.reduce((rest, { path }) => withoutSetting(rest, path), document.value);
  const checked = validateDocument({ ...document, value }, "skip");
  if ("problems" in checked) return checked;
  return { config: checked.config, skipped: [...toProblems(unknown, document), ...checked.skipped] };
}

function toProblems(findings: readonly Finding[], document: ConfigDocument): ConfigProblem[] {
  return findings
    .map((finding) => locate(finding, document))
    .sort((left, right) => left.offset - right.offset)
    .map(({ key, offset, message }) => ({
      source: document.source,
      location: document.locate(offset),
      key,
      message,
    }));
}

/** A copy without the setting. A rule that allows becomes one that asks: the unknown part could have restricted it. */
function withoutSetting(value: unknown, [part, ...rest]: Path): unknown {
  if (part === undefined || typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) {
    const list: readonly unknown[] = value;
    return list.map((item, index) => (index === part ? withoutSetting(item, rest) : item));
  }
  const entries: [string, unknown][] = Object.entries(value);
  if (rest.length > 0)
    return Object.fromEntries(
      entries.map(([name, item]) => [name, name === part ? withoutSetting(item, rest) : item]),
    );
  const isRule = Object.hasOwn(value, "permission") && Object.hasOwn(value, "pattern");
  return Object.fromEntries(
    entries.flatMap(([name, item]) => {
      if (name === part) return [];
      return [[name, isRule && name === "action" && item === "allow" ? "ask" : item]];
    }),
  );
}

function locate({ path, message, isName }: Finding, { locations }: ConfigDocument) {
  const location = locations.get(formatKey(path));
  if (location) return { key: location.key, offset: isName ? location.nameOffset : location.offset, message };
  // A missing setting is reported where it should be.
  const parent = locations.get(formatKey(path.slice(0, -1)));
  const last = formatKey(path.slice(-1));
  const key = parent === undefined || parent.key === "" ? formatKey(path) : `${parent.key}.${last}`;
  return { key, offset: parent?.offset ?? 0, message };
}

function describeIssue(issue: Issue, document: ConfigDocument): Finding[] {
  const { path } = issue;
  switch (issue.code) {
    case "unrecognized_keys":
      return issue.keys.map((name) => ({
        path: [...path, name],
        message: describeUnknown(name, path),
        isName: true,
        isUnknown: true,
      }));
    case "invalid_union":
      return describeUnion(issue, document);
    case "invalid_key":
      return [{ path, message: issue.issues[0]?.message ?? "this name is not allowed", isName: true }];
    case "invalid_type":
      return [{ path, message: describeType(issue, document), isName: false }];
    case "invalid_value":
      return [{ path, message: describeChoice(issue, document), isName: false }];
    case "too_small":
      return [{ path, message: describeMinimum(issue), isName: false }];
    case "too_big":
      return [{ path, message: `must be at most ${issue.maximum}`, isName: false }];
    default:
      return [{ path, message: issue.message, isName: false }];
  }
}

function describeUnknown(name: string, path: Path): string {
  const known = findKnownNames(path);
  const nearest = nearestName(name, known);
  if (nearest !== undefined) return `there is no such setting; did you mean "${nearest}"?`;
  const elsewhere = findSettingsNamed(name).slice(0, 3);
  if (elsewhere.length > 0) {
    return `there is no such setting here; did you mean ${elsewhere.map((key) => `"${key}"`).join(" or ")}?`;
  }
  return `there is no such setting; known settings here: ${known.filter((key) => key !== "$schema").join(", ")}`;
}

/** A union of a string and an object: an error inside the object is more useful than "must be a string". */
function describeUnion(
  issue: Extract<Issue, { code: "invalid_union" }>,
  document: ConfigDocument,
): Finding[] {
  const isInside = ({ path }: { path: Path }) => path.length > 0;
  const within =
    issue.errors.find((branch) => branch.some(isInside)) ??
    issue.errors.find((branch) => branch.every(({ code }) => code !== "invalid_type"));
  if (!within) return [{ path: issue.path, message: "must be a string or an object", isName: false }];
  return within.flatMap((inner) =>
    describeIssue({ ...inner, path: [...issue.path, ...inner.path] }, document),
  );
}

const TYPE_NAMES: Readonly<Record<string, string>> = {
  string: "a text in double quotes",
  number: "a number",
  int: "a whole number",
  boolean: "true or false",
  array: "a list in [ ]",
  object: "an object in { }",
  record: "an object in { }",
};

function describeType(
  issue: Extract<Issue, { code: "invalid_type" }>,
  { locations }: ConfigDocument,
): string {
  if (!locations.has(formatKey(issue.path))) return "is missing";
  return `must be ${TYPE_NAMES[issue.expected] ?? issue.expected}`;
}

function describeChoice(issue: Extract<Issue, { code: "invalid_value" }>, document: ConfigDocument): string {
  if (!document.locations.has(formatKey(issue.path))) return "is missing";
  const choices = issue.values.map(String);
  const written = valueAt(document.value, issue.path);
  const nearest = typeof written === "string" ? nearestName(written, choices) : undefined;
  const hint = nearest === undefined ? "" : `; did you mean "${nearest}"?`;
  return `must be one of ${choices.map((choice) => `"${choice}"`).join(", ")}${hint}`;
}

function describeMinimum(issue: Extract<Issue, { code: "too_small" }>): string {
  if (issue.origin === "string") return "must not be empty";
  return issue.inclusive === false ? `must be above ${issue.minimum}` : `must be at least ${issue.minimum}`;
}

function valueAt(value: unknown, path: Path): unknown {
  return path.reduce<unknown>((current, part) => {
    if (typeof current !== "object" || current === null || !Object.hasOwn(current, part)) return undefined;
    return Reflect.get(current, part);
  }, value);
}

/** Created on the first problem. */
let knownSettings: { schema: unknown; keys: readonly string[] } | undefined;

function getKnownSettings(): { schema: unknown; keys: readonly string[] } {
  if (knownSettings === undefined) {
    const schema = configJsonSchema();
    knownSettings = { schema, keys: listNames(schema, "") };
  }
  return knownSettings;
}

/** The names that the object at `path` may have; empty if any name is allowed. */
export function findKnownNames(path: readonly PropertyKey[]): string[] {
  return Object.keys(propertiesOf(path.reduce(step, getKnownSettings().schema)));
}

/** The full names of all settings that end in this name, ignoring case; for a setting in the wrong place. */
function findSettingsNamed(name: string): string[] {
  const wanted = name.toLowerCase();
  return getKnownSettings().keys.filter((key) => key.toLowerCase().endsWith(`.${wanted}`));
}

function step(schema: unknown, part: PropertyKey): unknown {
  if (!isPlainObject(schema)) return undefined;
  if (typeof part === "number") return schema.items;
  const properties = propertiesOf(schema);
  const name = String(part);
  return Object.hasOwn(properties, name) ? properties[name] : schema.additionalProperties;
}

function propertiesOf(schema: unknown): Record<string, unknown> {
  if (!isPlainObject(schema)) return {};
  if (isPlainObject(schema.properties)) return schema.properties;
  const branches = Array.isArray(schema.anyOf) ? schema.anyOf : [];
  return Object.assign({}, ...branches.map(propertiesOf));
}

function listNames(schema: unknown, prefix: string): string[] {
  return Object.entries(propertiesOf(schema)).flatMap(([name, child]) => {
    const key = prefix === "" ? name : `${prefix}.${name}`;
    return [key, ...listNames(child, key)];
  });
}
