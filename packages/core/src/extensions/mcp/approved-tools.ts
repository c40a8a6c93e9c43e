import { join } from "node:path";
import { updatePrivateFile } from "../../infrastructure/fs/private-files.ts";
import { readSmallText } from "../../infrastructure/fs/read.ts";
import { userStateDirectory } from "../../infrastructure/paths/user.ts";
import type { Environment } from "../../infrastructure/runtime.ts";
import type { CatalogTool } from "./catalog.ts";

/** A tool as it was when the user allowed it. */
interface ApprovedTool {
  /** The id of the server's definition. */
  server: string;
  tool: string;
  sha256: string;
  /** Description and arguments, a line each. */
  outline: string[];
}

const MAX_BYTES = 8 * 1024 * 1024;
// Older ones are dropped: they are asked about again only if they have changed.
const MAX_ENTRIES = 2_000;
const MAX_OUTLINE_LINES = 200;

/** Remembers which tools were allowed, and in which form. */
export class ApprovedTools {
  private readonly path: string | undefined;

  constructor(environment: Environment) {
    const directory = userStateDirectory(environment);
    this.path = directory && join(directory, "mcp", "approved.json");
  }

  /**
   * How a tool differs from the form in which it was allowed: the lines that are gone and those that are new, as in a
   * diff. Undefined for a tool that is the same, or was never allowed.
   */
  findChange(server: string, tool: CatalogTool): string | undefined {
    const before = this.read().find((each) => each.server === server && each.tool === tool.name);
    if (before === undefined || before.sha256 === hashTool(tool)) return undefined;
    const after = toOutline(tool);
    const removed = before.outline.filter((line) => !after.includes(line));
    const added = after.filter((line) => !before.outline.includes(line));
    const lines = [...removed.map((line) => `- ${line}`), ...added.map((line) => `+ ${line}`)];
    return lines.length > 0 ? lines.join("\n") : "details of its schema differ";
  }

  /** Remembers the form of a tool that may run now. It never rejects: then it is asked about again. */
  async add(server: string, tool: CatalogTool): Promise<void> {
    const { path } = this;
    if (path === undefined) return;
    const sha256 = hashTool(tool);
    const isSame = (each: ApprovedTool) => each.server === server && each.tool === tool.name;
    if (this.read().some((each) => isSame(each) && each.sha256 === sha256)) return;
    const entry = { server, tool: tool.name, sha256, outline: toOutline(tool) };
    await updatePrivateFile(path, (content) => {
      const others = parse(content && new TextDecoder().decode(content)).filter((each) => !isSame(each));
      return new TextEncoder().encode(`${JSON.stringify([...others, entry].slice(-MAX_ENTRIES))}\n`);
    }).catch(() => {});
  }

  private read(): ApprovedTool[] {
    return this.path === undefined ? [] : parse(readSmallText(this.path, MAX_BYTES));
  }
}

/** Changes with everything that the server says about a tool. */
export function hashTool({ description, inputSchema, isReadOnly }: CatalogTool): string {
  return Bun.SHA256.hash(JSON.stringify([description, inputSchema, isReadOnly]), "hex").slice(0, 16);
}

function toOutline({ description, inputSchema, isReadOnly }: CatalogTool): string[] {
  const { properties, required } = inputSchema;
  const names = Array.isArray(required) ? required : [];
  const listed = Object.entries(typeof properties === "object" && properties !== null ? properties : {});
  const lines = [
    ...description.split("\n"),
    ...(isReadOnly ? ["(marked as read-only)"] : []),
    ...listed.map(
      ([name, schema]) => `${name}${names.includes(name) ? " (required)" : ""}: ${JSON.stringify(schema)}`,
    ),
  ];
  return lines.slice(0, MAX_OUTLINE_LINES).map((line) => line.slice(0, 1_000).toWellFormed());
}

/** An unusable file counts as empty. */
function parse(text: string | undefined): ApprovedTool[] {
  try {
    const value: unknown = JSON.parse(text ?? "[]");
    return Array.isArray(value) ? value.filter(isApprovedTool) : [];
  } catch {
    return [];
  }
}

function isApprovedTool(value: unknown): value is ApprovedTool {
  if (typeof value !== "object" || value === null) return false;
  const { server, tool, sha256, outline }: Partial<Record<keyof ApprovedTool, unknown>> = value;
  const isNamed = typeof server === "string" && typeof tool === "string" && typeof sha256 === "string";
  return isNamed && Array.isArray(outline) && outline.every((line) => typeof line === "string");
}
