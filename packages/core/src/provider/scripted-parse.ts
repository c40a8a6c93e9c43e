import { realpath } from "node:fs/promises";
import type { z } from "zod";
import { decodeUtf8 } from "../infrastructure/content/text-file.ts";
import { nearestName } from "../infrastructure/nearest-name.ts";
import { openRegularFile } from "../infrastructure/reading/regular-file.ts";
import { systemErrorCode, systemErrorText } from "../infrastructure/system-error.ts";
import { findJsonSyntaxError, findJsonValue } from "./json-position.ts";
import { asRecord } from "./json-value.ts";
import { numberToolCalls } from "./scripted-calls.ts";
import { type Script, scriptJsonSchema, scriptSchema } from "./scripted-schema.ts";

type Path = readonly PropertyKey[];

/**
 * Reads a script from the file at `path`.
 *
 * @throws Error with one line for the user: the file, the place in it, what is wrong.
 */
export async function readScript(path: string): Promise<Script> {
  return parseScript(readText(await readBytes(path), path), path);
}

async function readBytes(path: string): Promise<Uint8Array> {
  try {
    const { handle } = await openRegularFile(await realpath(path));
    return await handle.readFile().finally(() => handle.close());
  } catch (error) {
    const isPlain = systemErrorCode(error) === undefined && error instanceof Error;
    const reason = isPlain ? error.message : `Cannot read ${path}: ${systemErrorText(error)}.`;
    throw new Error(`The script does not open. ${reason}`, { cause: error });
  }
}

function readText(bytes: Uint8Array, path: string): string {
  try {
    return decodeUtf8(bytes).text;
  } catch (error) {
    const found = error instanceof Error ? error.message : String(error);
    throw new Error(`The script does not open. ${path} is no JSON: ${found}.`, { cause: error });
  }
}

/**
 * The script in `text`. `path` is for messages only.
 *
 * @throws Error with one line for the user: the file, line, column and JSON path, what is wrong and what was meant.
 */
export function parseScript(text: string, path: string): Script {
  const json = text.startsWith("\uFEFF") ? text.slice(1) : text;
  const parsed = scriptSchema.safeParse(parseJson(json, path));
  if (!parsed.success) throw new Error(describeIssues(parsed.error, { json, path }));
  const clash = findIdClash(parsed.data);
  if (clash) throw new Error(`${placeIn({ json, path }, clash.path)}${clash.message}`);
  return parsed.data;
}

function parseJson(json: string, path: string): unknown {
  try {
    return JSON.parse(json);
  } catch (error) {
    const fault = findJsonSyntaxError(json);
    const place = fault ? `:${fault.line}:${fault.column}` : "";
    const wanted = fault ? `expected ${fault.expected}` : String(error);
    throw new Error(`${path}${place}: not valid JSON: ${wanted}.`, { cause: error });
  }
}

interface Source {
  json: string;
  path: string;
}

/** The first thing that is wrong; an unknown field goes first, since it is mostly why another one is missing. */
function describeIssues({ issues }: z.ZodError, source: Source): string {
  const issue = issues.find(({ code }) => code === "unrecognized_keys") ?? issues[0];
  if (!issue) return `${source.path}: not a script.`;
  const others = issues.length > 1 ? ` (${issues.length - 1} more after it)` : "";
  if (issue.code !== "unrecognized_keys") {
    return `${placeIn(source, issue.path)}${describeValue(issue, source)}${others}`;
  }
  const key = issue.keys[0] ?? "";
  const known = knownFields(issue.path);
  const nearest = nearestName(key, known);
  const hint = nearest ? `did you mean ${JSON.stringify(nearest)}?` : `known are ${known.join(", ")}.`;
  return `${placeIn(source, [...issue.path, key])}unknown field ${JSON.stringify(key)}; ${hint}${others}`;
}

function describeValue(issue: z.core.$ZodIssue, source: Source): string {
  if (issue.path.length > 0 && !findJsonValue(source.json, issue.path)) return "this field is missing";
  return issue.message.replace(/^(?:Invalid (?:input|option|string)|Too (?:small|big)): /, "");
}

/** `FILE:LINE:COLUMN: turns[3].toolCalls[0].name: ` */
function placeIn({ json, path }: Source, at: Path): string {
  const position = findJsonValue(json, at) ?? findJsonValue(json, at.slice(0, -1));
  const place = position ? `:${position.line}:${position.column}` : "";
  return at.length > 0 ? `${path}${place}: ${formatPath(at)}: ` : `${path}${place}: `;
}

function formatPath(path: Path): string {
  return path.reduce<string>((whole, key) => {
    if (typeof key === "number") return `${whole}[${key}]`;
    const name = String(key);
    if (!/^[$\w]+$/.test(name)) return `${whole}[${JSON.stringify(name)}]`;
    return whole === "" ? name : `${whole}.${name}`;
  }, "");
}

/** The fields of the object at `path`, from the published schema. */
function knownFields(path: Path): string[] {
  let schema: unknown = scriptJsonSchema();
  for (const key of path) {
    schema =
      typeof key === "number" ? field(schema, "items") : field(field(schema, "properties"), String(key));
  }
  return Object.keys(asRecord(field(schema, "properties"))).filter((name) => name !== "$schema");
}

function field(value: unknown, name: string): unknown {
  const record = asRecord(value);
  return Object.hasOwn(record, name) ? record[name] : undefined;
}

/** Two calls with one id would make every later request invalid. */
function findIdClash(script: Script): { path: Path; message: string } | undefined {
  const { turns, summaries = [] } = numberToolCalls(script);
  const places = new Map<string, Path>();
  for (const [list, numbered] of Object.entries({ turns, summaries })) {
    for (const [turnIndex, { turn, callIds }] of numbered.entries()) {
      for (const [callIndex, id] of callIds.entries()) {
        const path = turn.events ? [list, turnIndex, "events"] : [list, turnIndex, "toolCalls", callIndex];
        const first = places.get(id);
        if (first)
          return { path, message: `its id ${JSON.stringify(id)} is also that of ${formatPath(first)}` };
        places.set(id, path);
      }
    }
  }
  return undefined;
}
