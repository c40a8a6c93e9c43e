import { readdirSync, readFileSync, readlinkSync, statSync } from "node:fs";
import { isAbsolute, join } from "node:path";

const TABLE = "/proc/net/unix";

// Beside those of the directories that are hidden whole; a desktop has a handful.
const MAX_SOCKETS = 150;

/**
 * The sockets with a path that something outside listens on: a namespace of its own keeps a command from networks, not
 * from these. Those that were bound by a relative name are looked for where processes work. Without those below
 * `hidden`. Empty where the system tells of none.
 * @throws Error where there are more than can be hidden.
 */
export function findSockets(hidden: readonly string[]): string[] {
  const names = readTable()
    .split("\n")
    .flatMap((line) => /^\S+(?: \S+){5}\s+\d+ ([^@].*)$/.exec(line)?.[1] ?? []);
  const relative = [...new Set(names.filter((name) => !isAbsolute(name)))];
  const directories = relative.length > 0 ? findWorkingDirectories() : [];
  const paths = [
    ...names.filter((name) => isAbsolute(name)),
    ...relative.flatMap((name) => directories.map((directory) => join(directory, name))),
  ];
  const isHidden = (path: string) => hidden.some((directory) => path.startsWith(`${directory}/`));
  const found = [...new Set(paths)].filter((path) => !isHidden(path) && isSocket(path));
  if (found.length > MAX_SOCKETS)
    throw new Error(`${found.length} sockets are to be hidden from commands; ${MAX_SOCKETS} are possible`);
  return found;
}

/** Of the processes that this user may ask. */
function findWorkingDirectories(): string[] {
  const processes = readdirSync("/proc").filter((name) => /^\d+$/.test(name));
  return [...new Set(processes.flatMap(readWorkingDirectory))];
}

function readWorkingDirectory(process: string): string[] {
  try {
    return [readlinkSync(`/proc/${process}/cwd`)];
  } catch {
    return []; // It has ended, or is somebody else's.
  }
}

function readTable(): string {
  try {
    return readFileSync(TABLE, "utf8");
  } catch {
    return ""; // No Linux.
  }
}

function isSocket(path: string): boolean {
  try {
    return statSync(path).isSocket();
  } catch {
    return false; // Gone since it was bound, or in another view of the file system.
  }
}
