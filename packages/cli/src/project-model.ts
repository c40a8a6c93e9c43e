import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { findKnownModel } from "@diligent/core";
import { type Node, type ParseError, parseTree, printParseErrorCode } from "jsonc-parser";
import type { Notice } from "./output/run-output.ts";
import { UsageError } from "./usage-error.ts";

export interface ProjectModel {
  modelId?: string;
  notices: Notice[];
}

const FILE_NAMES = ["diligent.jsonc", "diligent.json"];
const MAX_BYTES = 1024 * 1024;

/**
 * The `model` of the project's file, where it has one. The file is somebody else's: an id that does not name one of
 * the public providers' models is ignored, with a warning, since it could send the conversation somewhere else.
 * @throws UsageError with file, line and column for a file that is broken.
 */
export function readProjectModel(root: string): ProjectModel {
  const path = FILE_NAMES.map((name) => join(root, name)).find(isPlainFile);
  if (path === undefined) return { notices: [] };
  const text = readText(path);
  const value = findModel(text, path);
  if (value === undefined) return { notices: [] };
  if (isPublicModel(value)) return { modelId: value, notices: [] };
  const message = `${path}: "model" is ignored, since ${JSON.stringify(value)} is no model of a known provider`;
  return { notices: [{ level: "warning", code: "ignored_key", message }] };
}

function isPublicModel(modelId: string): boolean {
  return (
    /^(claude-|gpt-|o\d)/.test(modelId) || (!modelId.includes("/") && findKnownModel(modelId) !== undefined)
  );
}

/** Something else than a file, such as a pipe that never ends, is no configuration. */
function isPlainFile(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isFile() ?? false;
}

function readText(path: string): string {
  if (statSync(path).size > MAX_BYTES) throw new UsageError(`${path}: larger than 1 MB`);
  try {
    return readFileSync(path, "utf8").replace(/^\uFEFF/, "");
  } catch (error) {
    throw new UsageError(`${path}: ${error instanceof Error ? error.message : String(error)}`);
  }
}

function findModel(text: string, path: string): string | undefined {
  if (text.trim() === "") return undefined;
  const errors: ParseError[] = [];
  const tree = parseTree(text, errors, { allowTrailingComma: true });
  const [error] = errors;
  const failAt = (offset: number, message: string) =>
    new UsageError(`${path}:${formatPlace(text, offset)}: ${message}`);
  if (error) throw failAt(error.offset, printParseErrorCode(error.error));
  if (tree?.type !== "object") throw failAt(tree?.offset ?? 0, "an object is expected");
  const node = findProperty(tree, "model");
  if (node === undefined) return undefined;
  if (typeof node.value !== "string") throw failAt(node.offset, '"model" has to be a string');
  return node.value;
}

/** The value of the last property with this name, as JSON readers take it. */
function findProperty(object: Node, name: string): Node | undefined {
  return object.children?.findLast((property) => property.children?.[0]?.value === name)?.children?.[1];
}

function formatPlace(text: string, offset: number): string {
  const before = text.slice(0, offset).split("\n");
  return `${before.length}:${(before.at(-1) ?? "").length + 1}`;
}
