const PROGRAMS = ["unshare", "ip", "mount", "bwrap", "nsenter", "curl"];

/** Starts a program in a namespace of its own, in which it may capture packets and mount files. */
export const UNSHARE: readonly string[] = ["unshare", "--user", "--map-root-user", "--net", "--mount"];

/** Why egress cannot be tested on this machine, a clause; undefined if it can. */
export function findEgressObstacle(): string | undefined {
  if (process.platform !== "linux") return "it needs Linux";
  const missing = PROGRAMS.filter((name) => Bun.which(name) === null);
  if (missing.length > 0) return `${missing.join(", ")} not found in PATH`;
  // The sandbox of commands is one more namespace within.
  const nested = ["bwrap", "--unshare-all", "--ro-bind", "/", "/", "true"];
  const { success, stderr } = Bun.spawnSync([...UNSHARE, ...nested]);
  if (success) return undefined;
  return `there are no such namespaces: ${/\S.*/.exec(stderr.toString())?.[0] ?? "unshare fails"}`;
}
