const running = new Set<number>();
process.on("exit", () => {
  for (const pid of running) signalGroup(pid, "SIGKILL");
});

/** Has the group of the process killed when this one exits, until the returned function is called. */
export function watchGroup(pid: number): () => void {
  running.add(pid);
  return () => void running.delete(pid);
}

/** @param pid of a process that leads a group of its own. */
export function signalGroup(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(-pid, signal);
  } catch {
    // It has ended in the meantime, which is what was wanted.
  }
}
