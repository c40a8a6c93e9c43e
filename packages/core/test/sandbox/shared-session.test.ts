import { afterEach, describe, expect, test } from "bun:test";
import { existsSync, readdirSync, readFileSync, readlinkSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { endAllProcesses } from "../../src/infrastructure/process/all-processes.ts";
import { findBoxProblem, makeBoxedProject } from "../support/boxed-project.ts";
import { BUSY_MS } from "../support/busy-machine.ts";
import { countLeftRunning, countProcesses, uniqueSleepSeconds } from "../support/process-census.ts";
import { makeTempDir } from "../support/temp-dir.ts";

const problem = await findBoxProblem();

afterEach(endAllProcesses);

const SERVE = `bun -e 'const s = Bun.serve({ port: 0, fetch: () => new Response("served") }); await Bun.write("port", String(s.port)); console.log("up")' > log 2>&1`;
const AWAIT_SERVER = "for i in $(seq 200); do [ -s log ] && break; sleep 0.05; done";
const FETCH = "curl -sS -m 5 http://localhost:$(cat port)/";

/** The process that holds the namespaces of the one session that this test has, and the first one in them. */
function findHolder(): number[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .filter((pid) => readQuietly(`/proc/${pid}/environ`).includes(`DILIGENT_PROCESS=/${process.pid}-`))
    .filter((pid) => readQuietly(`/proc/${pid}/cmdline`).includes("--as-pid-1"))
    .map(Number);
}

function readQuietly(path: string): string {
  try {
    return readFileSync(path, "latin1");
  } catch {
    return "";
  }
}

describe.skipIf(problem !== undefined)("commands of one session", () => {
  test("reach a server of an earlier one on localhost, and nothing else of the machine", async () => {
    const place = await makeBoxedProject();
    const outside = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: () => new Response("OUTSIDE") });
    await place.run(`${SERVE} & ${AWAIT_SERVER}`);
    const { output } = await place.run(`${FETCH}; curl -sS -m 2 http://localhost:${outside.port}/`);
    await outside.stop(true);
    expect(output).toStartWith("served");
    expect(output).not.toContain("OUTSIDE");
  });

  test("see each other's processes and no others, and can signal them", async () => {
    const place = await makeBoxedProject();
    const seconds = uniqueSleepSeconds();
    const stranger = Bun.spawn(["sleep", "61"]);
    await place.run(`sleep ${seconds} & echo $! > pid`);
    const { output } = await place.run("ps -eo args; kill $(cat pid)");
    stranger.kill();
    expect(output).toContain(`sleep ${seconds}`);
    expect(output).not.toMatch(/sleep 61|bun test/);
    expect(await countLeftRunning(seconds)).toBe(0);
  });

  test("have one directory for temporary files, under both of its names", async () => {
    const place = await makeBoxedProject({ sharedTemporary: ["/tmp", "/var/tmp"] });
    await place.run("echo kept > /tmp/file");
    expect((await place.run("cat /tmp/file /var/tmp/file $TMPDIR/file")).output).toBe("kept\nkept\nkept");
    expect(place.text("session/tmp/file")).toBe("kept\n");
  });

  test("see the kernel's settings and change none, and get no privileges over each other", async () => {
    const place = await makeBoxedProject();
    await place.run("sleep 60 & echo $! > pid");
    const entries = "root cwd exe environ maps mem auxv syscall fd/0 fd/1 fd/3 ns/mnt ns/user ns/pid";
    const attempt = [
      `for p in 1 2 $PPID $(cat pid); do for e in ${entries}; do`,
      "{ head -c 1 /proc/$p/$e || ls /proc/$p/$e/ || readlink /proc/$p/$e; } > out 2> /dev/null && [ -s out ] && echo OPEN $p $e;",
      "done; done; echo x > /proc/sys/kernel/hostname; echo 1 > /proc/sys/kernel/pid_max; echo x > /proc/sysrq-trigger;",
      "nsenter -t 1 -m -U true && echo JOINED; nsenter -t $(cat pid) -m -U true && echo JOINED; unshare -Ur true && echo MADE;",
      "mount -t tmpfs none /mnt && echo MOUNTED; ip link set lo down && echo LINK",
    ].join("\n");
    const { output } = await place.run(`${attempt}; cat /proc/sys/kernel/ostype`);
    expect(output).not.toMatch(/^(?:OPEN|JOINED|MADE|MOUNTED|LINK)/m);
    expect(output).toContain("Linux");
  });

  test("keep their own mounts: what one may not write, none can reach through another", async () => {
    const place = await makeBoxedProject();
    place.put("project/.env.local", "secret\n");
    await place.run("sleep 60 & echo $! > pid");
    const { output } = await place.run(
      "cat /proc/$(cat pid)/root/etc/hostname /proc/$(cat pid)/cwd/.env.local",
    );
    expect(output).not.toContain("secret");
    expect(output.match(/Permission denied/g)).toHaveLength(2);
  });
});

describe.skipIf(problem !== undefined)("stopping a command", () => {
  test("ends all of its descendants, wherever they moved, and nothing of other commands", async () => {
    const place = await makeBoxedProject();
    const [kept, ended] = [uniqueSleepSeconds(), uniqueSleepSeconds()];
    await place.run(`sleep ${kept} & echo started`);
    const hide = `setsid env -i sleep ${ended} & (env -i setsid sh -c 'sleep ${ended}; :' > /dev/null 2>&1 &)`;
    const { output } = await place.run(`${hide}; sleep ${ended}`, { timeout: 300 });
    expect(output).toContain("timed out after 300 ms");
    expect(await countLeftRunning(ended)).toBe(0);
    expect(countProcesses(`sleep\0${kept}`)).toBe(1);
  });

  test("ends processes that a command left behind after killing its own supervisor", async () => {
    const place = await makeBoxedProject();
    const seconds = uniqueSleepSeconds();
    const controller = new AbortController();
    const running = place.run(`setsid env -i sleep ${seconds} & while :; do sleep 0.05; done`, {
      signal: controller.signal,
    });
    while (countProcesses(`sleep\0${seconds}`) === 0) await Bun.sleep(5);
    controller.abort();
    await running;
    expect(await countLeftRunning(seconds)).toBe(0);
    const { output } = await place.run(`setsid env -i sleep ${seconds} & sleep 0.2; kill -9 $PPID; sleep 1`);
    expect(output).toContain("a background process it started is still running");
    await endAllProcesses();
    expect(countProcesses(seconds)).toBe(0);
  });
});

describe.skipIf(problem !== undefined)("the process that holds a session's namespaces", () => {
  test("cannot be ended from inside", async () => {
    const place = await makeBoxedProject();
    const seconds = uniqueSleepSeconds();
    await place.run(`setsid sleep ${seconds} &`);
    await place.run("kill -9 1; kill -TERM 1; kill -STOP 1; kill -9 2; kill -9 2");
    expect(countProcesses(`sleep\0${seconds}`)).toBe(1);
    expect((await place.run("echo alive")).output).toBe("alive");
  });

  test("ends everything with it when it is killed; the next command reports that and works", async () => {
    const place = await makeBoxedProject();
    const seconds = uniqueSleepSeconds();
    await place.run(`setsid sleep ${seconds} & echo kept > /tmp/file`);
    const running = place.run(`sleep ${seconds}`);
    while (countProcesses(`sleep\0${seconds}`) < 2) await Bun.sleep(5);
    for (const pid of findHolder()) process.kill(pid, "SIGKILL");
    expect((await running).output).toContain("ended by SIGKILL");
    expect(await countLeftRunning(seconds)).toBe(0);
    const notes =
      "[all processes of this session had ended: the process that held its namespaces was killed]";
    expect((await place.run("echo back")).output).toBe(`back\n${notes}`);
    expect((await place.run("echo on")).output).toBe("on");
  });

  test("leaves no zombies of orphaned processes", async () => {
    const place = await makeBoxedProject();
    await place.run("for i in 1 2 3 4 5; do (true &); done; (sleep 0.1 &)");
    const deadline = performance.now() + 2_000 + BUSY_MS;
    let zombies = "-";
    while (zombies !== "0" && performance.now() < deadline)
      zombies = (await place.run("ps -eo stat= | grep -c Z || true")).output;
    expect(zombies).toBe("0");
  });

  test("does not keep an otherwise idle program alive", async () => {
    const { top } = await makeBoxedProject();
    const script = join(import.meta.dir, "..", "support", "run-boxed.ts");
    const child = Bun.spawn([process.execPath, script, top, "true"], { env: { PATH: process.env.PATH } });
    expect(await child.exited).toBe(0);
  });
});

describe.skipIf(problem !== undefined)("two sessions at once", () => {
  test("share no process, no port and no temporary file", async () => {
    const [one, two] = await Promise.all([makeBoxedProject(), makeBoxedProject()]);
    const seconds = uniqueSleepSeconds();
    await one.run(`echo own > /tmp/own; ${SERVE} & sleep ${seconds} & ${AWAIT_SERVER}`);
    const port = one.text("project/port") ?? "";
    const { output } = await two.run(
      `ps -eo args; curl -sS -m 2 http://localhost:${port}/; cat /tmp/own; ls ${one.session}; kill -9 -1`,
    );
    expect(output).not.toMatch(new RegExp(`${seconds}|served|own$`, "m"));
    expect((await one.run(FETCH)).output).toBe("served");
  });
});

describe.skipIf(problem !== undefined)("if commands cannot share namespaces", () => {
  test("each gets its own, and a server continues invisibly", async () => {
    const bin = makeTempDir();
    for (const name of ["bwrap", "sh", "bash", "sleep", "readlink", "env", "cat"]) {
      const program = Bun.which(name);
      if (program) symlinkSync(program, join(bin, name));
    }
    const place = await makeBoxedProject({ environment: { PATH: bin } });
    expect(place.box.sharesProcesses).toBe(false);
    const seconds = uniqueSleepSeconds();
    const first = await place.run(`readlink /proc/self/ns/net; sleep ${seconds} & echo`);
    const second = await place.run("readlink /proc/self/ns/net");
    expect(second.output).not.toBe(first.output.split("\n")[0]);
    expect(second.output).not.toBe(readlinkSync("/proc/self/ns/net"));
    expect(countProcesses(`sleep\0${seconds}`)).toBe(1);
    expect(existsSync(join(place.session, "tmp"))).toBe(true);
  });
});
