import type { z } from "zod";
import { nearestName } from "../infrastructure/nearest-name.ts";
import { type ConfigProblem, formatKey } from "./config-error.ts";
import type { ConfigDocument } from "./document.ts";
import { findKnownNames, findSettingsNamed } from "./known-names.ts";
import { type DiligentConfig, DiligentConfigSchema } from "./schema.ts";

type Issue = z.core.$ZodIssue;
type Path = readonly PropertyKey[];

/** What is wrong with one setting; `isName` when it is the name that is wrong, not the value. */
interface Finding {
  path: Path;
  message: string;
  isName: boolean;
}

/** Checks a document against the schema: the configuration, or all that is wrong with it in the order of the text. */
export function validateDocument(
  document: ConfigDocument,
): { config: DiligentConfig } | { problems: ConfigProblem[] } {
  const parsed = DiligentConfigSchema.safeParse(document.value);
  if (parsed.success) return { config: parsed.data };
  const located = parsed.error.issues
    .flatMap((issue) => describeIssue(issue, document))
    .map((finding) => locate(finding, document))
    .sort((left, right) => left.offset - right.offset);
  return {
    problems: located.map(({ key, offset, message }) => ({
      source: document.source,
      place: document.placeOf(offset),
      key,
      message,
    })),
  };
}

function locate({ path, message, isName }: Finding, { spots }: ConfigDocument) {
  const spot = spots.get(formatKey(path));
  if (spot) return { key: spot.key, offset: isName ? spot.nameOffset : spot.offset, message };
  // What is missing is where it should be.
  const parent = spots.get(formatKey(path.slice(0, -1)));
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
      }));
    case "invalid_union":
      return describeUnion(issue, document);
    case "invalid_key":
      return [{ path, message: issue.issues[0]?.message ?? "cannot be named so", isName: true }];
    case "invalid_type":
      return [{ path, message: describeType(issue, document), isName: false }];
    case "invalid_value":
      return [{ path, message: describeChoice(issue, document), isName: false }];
    case "too_small":
      return [{ path, message: describeMinimum(issue), isName: false }];
    case "too_big":
      return [{ path, message: `has to be at most ${issue.maximum}`, isName: false }];
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
  return `there is no such setting; known here are ${known.filter((key) => key !== "$schema").join(", ")}`;
}

/** A union is a text or an object: what is wrong within the object is worth more than that it is no text. */
function describeUnion(
  issue: Extract<Issue, { code: "invalid_union" }>,
  document: ConfigDocument,
): Finding[] {
  const within = issue.errors.find((branch) =>
    branch.every(({ code, path }) => code !== "invalid_type" || path.length > 0),
  );
  if (!within) return [{ path: issue.path, message: "has to be a text or an object", isName: false }];
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

function describeType(issue: Extract<Issue, { code: "invalid_type" }>, { spots }: ConfigDocument): string {
  if (!spots.has(formatKey(issue.path))) return "is missing";
  return `has to be ${TYPE_NAMES[issue.expected] ?? issue.expected}`;
}

function describeChoice(issue: Extract<Issue, { code: "invalid_value" }>, document: ConfigDocument): string {
  if (!document.spots.has(formatKey(issue.path))) return "is missing";
  const choices = issue.values.map(String);
  const written = valueAt(document.value, issue.path);
  const nearest = typeof written === "string" ? nearestName(written, choices) : undefined;
  const hint = nearest === undefined ? "" : `; did you mean "${nearest}"?`;
  return `has to be one of ${choices.map((choice) => `"${choice}"`).join(", ")}${hint}`;
}

function describeMinimum(issue: Extract<Issue, { code: "too_small" }>): string {
  if (issue.origin === "string") return "may not be empty";
  return issue.inclusive === false
    ? `has to be above ${issue.minimum}`
    : `has to be at least ${issue.minimum}`;
}

function valueAt(value: unknown, path: Path): unknown {
  return path.reduce<unknown>((current, part) => {
    if (typeof current !== "object" || current === null || !Object.hasOwn(current, part)) return undefined;
    return Reflect.get(current, part);
  }, value);
}
