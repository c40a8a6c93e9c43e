import { expect, test } from "bun:test";
import { join } from "node:path";
import { countLeftRunning, countProcesses, uniqueSleepSeconds } from "../support/process-census.ts";

const PROCESS = join(import.meta.dir, "../../src/infrastructure/process/process.ts");

const PRELUDE = `
import { startProcess } from ${JSON.stringify(PROCESS)};
const start = (script) =>
  startProcess({ argv: ["/bin/sh", "-c", script], cwd: "/", environment: { PATH: "/usr/bin:/bin" } });
/** The watching process; 0 if there is none. */
const watcher = () =>
  Number(Bun.spawnSync(["pgrep", "-P", String(process.pid), "-f", "diligent-watch"]).stdout.toString());
`;

/** A program that runs this code, says that it has, and waits to be killed. */
function startParent(code: string) {
  const lines = [PRELUDE, code, `console.log("ready");`, "setInterval(() => {}, 1_000);"];
  return Bun.spawn([process.execPath, "-e", lines.join("\n")], { stdout: "pipe", stderr: "inherit" });
}

async function firstLine(stream: ReadableStream<Uint8Array>): Promise<string> {
  const reader = stream.getReader();
  let text = "";
  for (;;) {
    const { done, value } = await reader.read();
    if (value) text += new TextDecoder().decode(value);
    if (done || text.includes("\n")) return text.split("\n", 1)[0] ?? "";
  }
}

async function until(isTrue: () => boolean): Promise<void> {
  while (!isTrue()) await Bun.sleep(5);
}

test.each([
  ["ends by TERM", "exec sleep N"],
  ["ignores TERM", "trap '' TERM; while :; do sleep N; done"],
  ["is stopped", "sleep N & until grep -qx sleep /proc/$!/comm; do :; done; kill -STOP $!; wait"],
  ["has left its group", "exec setsid sleep N"],
  ["has cleared its environment", "exec env -i /usr/bin/sleep N"],
])("a process that %s ends with a program that is killed", async (_, script) => {
  const seconds = uniqueSleepSeconds();
  const parent = startParent(`await start(${JSON.stringify(script.replaceAll("N", seconds))});`);
  await until(() => countProcesses(`sleep\0${seconds}`) === 1);
  expect(await firstLine(parent.stdout)).toBe("ready");
  parent.kill("SIGKILL");
  expect(await countLeftRunning(`sleep\0${seconds}`)).toBe(0);
});

test("a program that is killed as soon as its first child runs leaves nothing running", async () => {
  const seconds = uniqueSleepSeconds();
  const kill = `kill -KILL $PPID; exec sleep ${seconds}`;
  const parent = startParent(`await start(${JSON.stringify(kill)});`);
  await parent.exited;
  expect(await countLeftRunning(`sleep\0${seconds}`)).toBe(0);
});

test("a watching process that was killed is replaced, and the new one knows what the old one did", async () => {
  const seconds = uniqueSleepSeconds();
  const parent = startParent(`
    await start("exec env -i /usr/bin/sleep ${seconds}1");
    const first = watcher();
    process.kill(first, "SIGKILL");
    await start("exec env -i /usr/bin/sleep ${seconds}2");
    while ([0, first].includes(watcher())) await Bun.sleep(5);
  `);
  await until(() => countProcesses(`sleep\0${seconds}`) === 2);
  expect(await firstLine(parent.stdout)).toBe("ready");
  parent.kill("SIGKILL");
  expect(await countLeftRunning(`sleep\0${seconds}`)).toBe(0);
});
