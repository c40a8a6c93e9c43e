import { join } from "node:path";
import { updatePrivateFile } from "../../infrastructure/fs/private-files.ts";
import { readSmallText } from "../../infrastructure/fs/read.ts";
import { userStateDirectory } from "../../infrastructure/paths/user.ts";
import type { Environment } from "../../infrastructure/runtime.ts";

const MAX_BYTES = 1024 * 1024;

/** A project's server that the user does not want; the project's files stay as they are. */
interface SwitchedOff {
  directory: string;
  server: string;
}

/** The names of the project's servers that the user has disabled. */
export function readSwitchedOff(environment: Environment, root: string): ReadonlySet<string> {
  const path = findPath(environment);
  const entries = path === undefined ? [] : parse(readSmallText(path, MAX_BYTES));
  return new Set(entries.filter(({ directory }) => directory === root).map(({ server }) => server));
}

/** Enables or disables a project's server for this user. @throws Error when it cannot be saved. */
export async function switchServer(
  environment: Environment,
  { root, server, isEnabled }: { root: string; server: string; isEnabled: boolean },
): Promise<void> {
  const path = findPath(environment);
  if (path === undefined) throw new Error("This cannot be saved: there is no home directory.");
  await updatePrivateFile(path, (content) => {
    const entries = parse(content && new TextDecoder().decode(content));
    const others = entries.filter((entry) => entry.directory !== root || entry.server !== server);
    const changed = isEnabled ? others : [...others, { directory: root, server }];
    return new TextEncoder().encode(`${JSON.stringify(changed, undefined, 2)}\n`);
  });
}

/** An unusable file disables nothing. */
function parse(text: string | undefined): SwitchedOff[] {
  try {
    const value: unknown = JSON.parse(text ?? "[]");
    return Array.isArray(value) ? value.filter(isEntry) : [];
  } catch {
    return [];
  }
}

function isEntry(value: unknown): value is SwitchedOff {
  return (
    typeof value === "object" &&
    value !== null &&
    "directory" in value &&
    typeof value.directory === "string" &&
    "server" in value &&
    typeof value.server === "string"
  );
}

function findPath(environment: Environment): string | undefined {
  const directory = userStateDirectory(environment);
  return directory && join(directory, "mcp", "disabled.json");
}
