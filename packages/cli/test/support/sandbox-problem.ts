/** Why this machine has no sandbox. */
export function findSandboxProblem(): string | undefined {
  const bwrap = Bun.which("bwrap", { PATH: "/usr/local/bin:/usr/bin:/bin" });
  const words = ["--unshare-all", "--ro-bind", "/", "/", "--proc", "/proc", "--dev", "/dev", "true"];
  const trial = bwrap ? Bun.spawnSync([bwrap, ...words], { env: {} }) : undefined;
  if (trial?.success) return undefined;
  const reason = trial?.stderr.toString().trim() ?? "bubblewrap is not installed";
  console.log(`Tests of the sandbox are skipped: ${reason}`);
  return reason;
}
