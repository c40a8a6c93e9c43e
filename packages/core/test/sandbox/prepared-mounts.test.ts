import { afterEach, describe, expect, test } from "bun:test";
import { linkSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { endAllProcesses } from "../../src/infrastructure/process/all-processes.ts";
import { type BoxedProject, findBoxProblem, makeBoxedProject } from "../support/boxed-project.ts";

const problem = await findBoxProblem();

afterEach(endAllProcesses);

/** A project in which a command has run and the mounts of the next one are made, where the system allows that. */
async function makePreparedProject(): Promise<BoxedProject> {
  // Elsewhere, each socket that another program makes is hidden by a mount of its own, so that mounts differ.
  const place = await makeBoxedProject({ sharedTemporary: ["/tmp", "/var/tmp"] });
  for (const path of [".env", "CLAUDE.md", ".git/config"]) place.put(`project/${path}`);
  await place.run("true");
  await place.box.prepare();
  return place;
}

/** Whether the next command gets prepared mounts. */
async function isPrepared({ box, root, workspace }: BoxedProject): Promise<boolean> {
  const wrapped = await box.wrapCommand({
    argv: ["/bin/true"],
    cwd: root,
    environment: { PATH: workspace.environment.PATH ?? "" },
  });
  wrapped.abandon();
  return wrapped.argv.some((argument) => argument.startsWith("--mount=/proc/"));
}

/** The processes that this one has started and that have not ended. */
function listOwnChildren(): string[] {
  const lists = readdirSync("/proc/self/task").map((thread) =>
    readFileSync(`/proc/self/task/${thread}/children`, "utf8"),
  );
  return lists.flatMap((list) => list.split(" ").filter(Boolean)).sort();
}

/**
 * Runs a test that depends on no other mounts coming or going, as tests beside it mount file systems: it counts once
 * none has, at the latest after a minute.
 */
async function whileMountsStay(body: () => Promise<void>): Promise<void> {
  const deadline = performance.now() + 60_000;
  for (;;) {
    const before = readFileSync("/proc/self/mountinfo", "latin1");
    const failure = await body().then(
      () => undefined,
      (error: unknown) => ({ error }),
    );
    if (failure === undefined) return;
    const isUnchanged = readFileSync("/proc/self/mountinfo", "latin1") === before;
    if (isUnchanged || performance.now() > deadline) throw failure.error;
  }
}

describe.skipIf(problem !== undefined)("a command in mounts that were made before it", () => {
  // What differs from command to command anyway.
  const PROBE =
    "id; env | grep -v DILIGENT_PROCESS | sort; pwd; ls -A $HOME / /dev /run; cat .env /etc/shadow; echo x > CLAUDE.md; " +
    "echo x >> .git/config; echo x > /etc/new; echo x > /proc/sys/vm/swappiness; unshare --user true; mount -t tmpfs x /mnt; " +
    "ls /proc/self/fd | wc -l; grep -E '^(Cap|NoNewPrivs|Seccomp)' /proc/self/status; echo x > /dev/shm/x && cat /dev/shm/x; " +
    "echo x > /dev/null && echo written; hostname; stat -c %a /dev/shm /run /tmp";

  test("can do what any other can, and no more", () =>
    whileMountsStay(async () => {
      const place = await makePreparedProject();
      expect(await isPrepared(place)).toBe(true);
      const prepared = await place.run(PROBE);
      place.put("project/.npmrc");
      expect(await isPrepared(place)).toBe(false);
      const fresh = await place.run(PROBE);
      expect(prepared.output).toBe(fresh.output);
      expect(place.text("project/CLAUDE.md")).toBe("original\n");
    }));

  test("finds nothing that another one has left in directories of its own", () =>
    whileMountsStay(async () => {
      const place = await makePreparedProject();
      await place.run("touch /run/left /dev/shm/left");
      const { output } = await place.run("ls /run /dev/shm");
      expect([await isPrepared(place), output]).toEqual([true, expect.not.stringContaining("left")]);
    }));

  test("cannot write a protected file whose name was removed and made again for it", async () => {
    const place = await makePreparedProject();
    // In the mounts, nothing lies on the new name.
    linkSync(place.at("project/CLAUDE.md"), place.at("kept"));
    rmSync(place.at("project/CLAUDE.md"));
    linkSync(place.at("kept"), place.at("project/CLAUDE.md"));
    await place.run("echo CANARY >> CLAUDE.md");
    expect(place.text("project/CLAUDE.md")).toBe("original\n");
  });

  test("cannot write one that came meanwhile, nor one that took the place of another", async () => {
    const place = await makePreparedProject();
    place.put("project/AGENTS.md");
    rmSync(place.at("project/.env"));
    writeFileSync(place.at("project/.env"), "original\n");
    await place.run("echo CANARY >> AGENTS.md; echo CANARY >> .env");
    expect([place.text("project/AGENTS.md"), place.text("project/.env")]).toEqual([
      "original\n",
      "original\n",
    ]);
  });

  test("runs, as do others in the background, when a command ends the process that holds the mounts", async () => {
    const place = await makePreparedProject();
    await place.run("sleep 60 & echo $! > background");
    // But for the first process, this one and that in the background.
    const kept = 'case $p in 1 | $$ | "$(cat background)") ;; *) kill -9 $p ;; esac';
    await place.run(`cd /proc; for p in [0-9]*; do cd $OLDPWD; ${kept}; done 2> errors; true`);
    const { output, isError } = await place.run("kill -0 $(cat background) && echo still there");
    expect([isError, output]).toEqual([false, "still there"]);
  });

  test("cannot look into the process that holds them, whose /proc can be written to", () =>
    whileMountsStay(async () => {
      const place = await makePreparedProject();
      expect(await isPrepared(place)).toBe(true);
      const ways = [
        "ls $p/root",
        "cat $p/environ",
        "echo 60 > $p/root/proc/sys/vm/swappiness",
        "nsenter --user=$p/ns/user --mount=$p/ns/mnt true",
      ];
      const attempts = ways.map((way) => `(${way}) > /dev/null 2>&1 && echo "$p: ${way}"`).join("; ");
      const { output } = await place.run(
        `for p in /proc/[0-9]*; do [ $p/ns/mnt -ef /proc/$$/ns/mnt ] || { echo seen; ${attempts}; }; done | sort -u`,
      );
      expect(output).toBe("seen");
    }));

  test("is prepared once, and again only after something has changed", () =>
    whileMountsStay(async () => {
      const place = await makePreparedProject();
      const before = listOwnChildren();
      await place.box.prepare();
      await place.run("true");
      await place.box.prepare();
      expect(listOwnChildren()).toEqual(before);
      place.put("project/AGENTS.md");
      await place.run("true");
      expect(await isPrepared(place)).toBe(false);
      await place.box.prepare();
      expect(await isPrepared(place)).toBe(true);
    }));

  test("is not prepared for a session that is over", async () => {
    const place = await makeBoxedProject();
    await place.run("true");
    const before = listOwnChildren();
    const preparing = place.box.prepare();
    await place.box.close();
    await preparing;
    // The process of the mounts ends a moment after it is killed.
    while (listOwnChildren().length > before.length) await Bun.sleep(5);
    await place.box.prepare();
    expect(listOwnChildren()).toEqual(before);
  });
});
