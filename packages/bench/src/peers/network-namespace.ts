/**
 * A command as it is started in a network namespace that has loopback and nothing else; undefined where none can be had,
 * which is looked up by making one.
 */
export function withoutNetwork(argv: readonly string[]): string[] | undefined {
  const script = ["sh", "-c", 'ip link set lo up && exec "$@"', "sh"];
  // A user who is not root becomes one in there; that is allowed on most systems, not on all.
  const prefix = process.getuid?.() === 0 ? ["unshare", "-n"] : ["unshare", "-r", "-n"];
  if (Bun.which("unshare") === null || Bun.which("ip") === null) return undefined;
  const trial = Bun.spawnSync([...prefix, ...script, "true"], { stdout: "ignore", stderr: "ignore" });
  return trial.exitCode === 0 ? [...prefix, ...script, ...argv] : undefined;
}
