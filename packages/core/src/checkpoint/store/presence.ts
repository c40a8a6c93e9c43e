import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import {
  isProcessAlive,
  ownIdentity,
  type ProcessIdentity,
} from "../../infrastructure/processes/process-identity.ts";
import { listNames, processesOf } from "./store-place.ts";

/** Says that this process works in a place, until it is disposed of. @throws errors of the file system. */
export function announcePresence(generation: string, name: string): Disposable {
  const { pid, startTime } = ownIdentity();
  const path = join(processesOf(generation), `${pid}.${startTime ?? ""}.${name}`);
  writeFileSync(path, "", { mode: 0o600, flag: "wx" });
  return { [Symbol.dispose]: () => rmSync(path, { force: true }) };
}

/** True while some process works in a place; marks of processes that have died are taken away. */
export function isInUse(generation: string): boolean {
  const directory = processesOf(generation);
  let isUsed = false;
  for (const name of listNames(directory)) {
    const identity = readIdentity(name);
    if (identity && isProcessAlive(identity)) isUsed = true;
    else rmSync(join(directory, name), { force: true });
  }
  return isUsed;
}

function readIdentity(name: string): ProcessIdentity | undefined {
  const [, pid, startTime] = /^(\d{1,10})\.(\d*)\./.exec(name) ?? [];
  if (pid === undefined) return undefined;
  return { pid: Number(pid), startTime: startTime || undefined };
}
