import { describe, expect, test } from "bun:test";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { countProcesses, uniqueSleepSeconds } from "../../core/test/support/process-census.ts";
import { type PtyProgram, startInPty } from "./support/pty-program.ts";
import { bareEnvironment, PROGRAM } from "./support/run-diligent.ts";
import { savedMessages } from "./support/session-files.ts";
import { createTemporaryProject, type TemporaryProject } from "./support/temporary-project.ts";

/** A model that runs a command for a unique number of seconds. */
class Scene implements Disposable {
  readonly place: TemporaryProject = createTemporaryProject({ sandbox: "off" });
  readonly seconds = uniqueSleepSeconds();

  constructor(command?: string) {
    const toolCalls = [{ name: "bash", input: { command: command ?? `sleep ${this.seconds}` } }];
    this.place.write("script.json", { version: 1, turns: [{ toolCalls }, { text: "Done" }] });
  }

  commandLine(...more: string[]): string {
    return [PROGRAM, "--model", "scripted/script.json", "--approval", "auto", ...more, "go"].join(" ");
  }

  countSleepers(): number {
    return countProcesses(`sleep\0${this.seconds}`);
  }

  async startShell(): Promise<PtyProgram> {
    const options = { program: ["bash", "--norc", "-i"], environment: { PS1: "$ " } };
    const shell = startInPty(this.place, [], options);
    await shell.waitFor("$ ");
    return shell;
  }

  /** Every call has its result, and no process of the command is left. */
  expectWholeEnd(): void {
    expect(this.countSleepers()).toBe(0);
    const roles = savedMessages(this.place).map(({ role }) => role);
    expect(roles).toEqual(["user", "assistant", "tool_result"]);
  }

  [Symbol.dispose](): void {
    this.place.remove();
  }
}

async function until(isSo: () => boolean): Promise<void> {
  while (!isSo()) await Bun.sleep(10);
}

const isThere = (pid: number) => existsSync(`/proc/${pid}`);

function childrenOf(pid: number): number[] {
  const { stdout } = Bun.spawnSync(["pgrep", "-P", String(pid)]);
  return stdout.toString().split("\n").filter(Boolean).map(Number);
}

// Detection needs Linux.
describe.if(process.platform === "linux")("if the parent process dies while a command runs,", () => {
  for (const [name, mode] of [
    ["the screen", ""],
    ["print mode", "-p"],
  ] as const) {
    test.concurrent(`${name} in a terminal that now belongs to someone else ends, with its command`, async () => {
      using scene = new Scene();
      await using shell = await scene.startShell();
      shell.send(`sh -c '${scene.commandLine(mode)}; true'\r`);
      await until(() => scene.countSleepers() === 1);
      const [wrapper = 0] = childrenOf(shell.process.pid);
      const [own = 0] = childrenOf(wrapper);
      process.kill(wrapper, "SIGKILL");
      await until(() => !isThere(own));
      scene.expectWholeEnd();
      expect(shell.bytes).not.toContain("unexpected error");
      shell.send("\x03");
      await shell.settle();
      shell.send("echo the shell again\r");
      await shell.waitFor(/^the shell again$/m);
    });
  }

  test.concurrent("an output without a reader ends it, too", async () => {
    using scene = new Scene();
    const line = `${scene.commandLine("-p")} | sleep ${scene.seconds}; true`;
    const wrapper = Bun.spawn(["sh", "-c", line], {
      cwd: scene.place.project,
      env: bareEnvironment(scene.place),
      stdin: "ignore",
      stderr: "ignore",
    });
    await until(() => scene.countSleepers() === 2);
    const children = childrenOf(wrapper.pid);
    const reader = children.find((pid) => readFileSync(`/proc/${pid}/comm`, "latin1") === "sleep\n");
    const own = children.find((pid) => pid !== reader) ?? 0;
    for (const pid of [wrapper.pid, reader ?? 0]) process.kill(pid, "SIGKILL");
    await until(() => !isThere(own));
    scene.expectWholeEnd();
  });

  test.concurrent("a background job that writes to a file continues to its end", async () => {
    using scene = new Scene("touch began; until [ -e go ]; do sleep 0.05; done");
    const { project } = scene.place;
    await using shell = await scene.startShell();
    shell.send(`sh -c '${scene.commandLine("-p")} > out 2> /dev/null &'\r`);
    await until(() => existsSync(join(project, "began")));
    // Longer than it takes to detect that nobody waits for it.
    await Bun.sleep(2_200);
    scene.place.write("go", "");
    const out = join(project, "out");
    await until(() => readFileSync(out, "utf8") !== "");
    expect(readFileSync(out, "utf8")).toBe("Done\n");
  });
});
