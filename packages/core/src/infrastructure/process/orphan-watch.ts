/**
 * Reads the groups to watch from a pipe of which only the watching program holds the other end. When that ends, however
 * it did, their processes are ended, and those with the mark in their environment, and the groups of these, except the
 * program's own: it may have been killed between the start of a child and its report. TERM, then KILL after a second.
 */
const SCRIPT = `trap '' HUP INT TERM
group_of() { IFS= read -r stat <"/proc/$1/stat" || return; set -- \${stat##*) }; echo "$3"; }
own=$(group_of "$PPID")
groups=
while read -r word group; do
  kept=
  for each in $groups; do [ "$each" = "$group" ] || kept="$kept $each"; done
  groups=$kept
  [ "$word" = watch ] && groups="$groups $group"
done
find_marked() {
  for file in $(grep -lsF -- "$mark" /proc/[0-9]*/environ); do
    file=\${file#/proc/}
    echo "\${file%/environ}"
  done
}
find_targets() {
  for group in $groups; do echo "-$group"; done
  find_marked
}
signal() { for target in $(find_targets); do kill -s "$1" -- "$target"; done; }
is_alive() { for target in $(find_targets); do kill -s 0 -- "$target" && return; done; return 1; }
exec 2>/dev/null
mark=$1
for process in $(find_marked); do
  group=$(group_of "$process")
  [ -z "$group" ] || [ "$group" = "$own" ] || groups="$groups $group"
done
signal TERM
signal CONT
for round in 1 2 3 4 5 6 7 8 9 10; do is_alive || exit; sleep 0.1; done
for round in 1 2 3 4 5; do signal KILL; is_alive || exit; sleep 0.05; done`;

/**
 * A small process that ends this program's children when this program is killed and can no longer do that itself. What
 * has left its group and cleared its environment is not found.
 */
export class OrphanWatch {
  private readonly groups = new Set<number>();
  private watcher: Watcher | undefined;

  /** @param mark what the environment of all its children contains. */
  constructor(private readonly mark: string) {}

  /** Starts the watching process. From then on, children are found by the mark, also those not yet given to `watch`. */
  prepare(): void {
    if (!this.watcher) this.start();
  }

  watch(group: number): void {
    this.groups.add(group);
    if (this.watcher) this.send(`watch ${group}`);
    else this.start();
  }

  /** The group is empty: the system may use its number again. */
  forget(group: number): void {
    if (this.groups.delete(group)) this.send(`forget ${group}`);
  }

  private start(): void {
    try {
      const watcher = Bun.spawn(["/bin/sh", "-c", SCRIPT, "diligent-watch", this.mark], {
        cwd: "/",
        env: { PATH: "/usr/bin:/bin" },
        stdio: ["pipe", "ignore", "ignore"],
        detached: true,
      });
      watcher.unref();
      this.watcher = watcher;
      void watcher.exited.then(() => {
        if (this.watcher !== watcher) return;
        this.watcher = undefined;
        // Somebody has killed it. One that ends by itself cannot work here.
        if (watcher.signalCode !== null && this.groups.size > 0) this.start();
      });
    } catch {
      return; // Without a shell, children outlive a killed program.
    }
    for (const group of this.groups) this.send(`watch ${group}`);
  }

  private send(line: string): void {
    // It has just been killed where this fails: the next one gets all groups.
    const ignore = () => {};
    try {
      this.watcher?.stdin.write(`${line}\n`);
      void Promise.resolve(this.watcher?.stdin.flush()).catch(ignore);
    } catch {
      ignore();
    }
  }
}

type Watcher = Bun.Subprocess<"pipe", "ignore", "ignore">;
