import { afterEach, describe, expect, test } from "bun:test";
import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { endAllProcesses } from "../../src/infrastructure/process/all-processes.ts";
import { createBashTool } from "../../src/tools/bash.ts";
import { BUSY_MS } from "../support/busy-machine.ts";
import { countLeftRunning, countProcesses, uniqueSleepSeconds } from "../support/process-census.ts";
import { createToolWorkspace, runTool } from "../support/tool-workspace.ts";

afterEach(endAllProcesses);

const run = (
  command: string,
  { timeout, ...options }: { timeout?: number; signal?: AbortSignal; onUpdate?: (text: string) => void } = {},
) =>
  runTool(
    createBashTool(createToolWorkspace()),
    { command, ...(timeout !== undefined && { timeout }) },
    options,
  );

/** Runs a command that is interrupted as soon as it has printed something. */
function interrupt(command: string) {
  const abort = new AbortController();
  let abortedAt = Number.NaN;
  const onUpdate = () => {
    abortedAt = performance.now();
    abort.abort();
  };
  const running = run(command, { signal: abort.signal, onUpdate });
  return running.then((value) => ({ value, elapsedMs: performance.now() - abortedAt }));
}

async function timed<T>(action: () => Promise<T>): Promise<{ value: T; elapsedMs: number }> {
  const begin = performance.now();
  return { value: await action(), elapsedMs: performance.now() - begin };
}

describe("what the model gets", () => {
  test("stdout and stderr arrive in the order in which they were written", async () => {
    const result = await run("echo one; echo two >&2; echo three; echo four > /dev/stderr; echo five");
    expect(result.output).toBe("one\ntwo\nthree\nfour\nfive");
    expect(result.isError).toBe(false);
  });

  test("a command without output says so", async () => {
    expect((await run("true")).output).toBe("(no output)");
  });

  test("a non-zero exit is an error with the code in the text", async () => {
    const { metadata, ...result } = await run("echo broken; exit 3");
    expect(result).toEqual({ output: "broken\n[exit code 3]", isError: true });
    expect(metadata).toEqual({ exitCode: 3, durationMs: expect.any(Number) });
  });

  test("a signal is named", async () => {
    const result = await run("kill -KILL $$");
    expect(result.output).toBe("(no output)\n[ended by SIGKILL]");
    expect(result.metadata).toEqual({ exitCode: null, signal: "SIGKILL", durationMs: expect.any(Number) });
  });

  test("every call starts in the working directory", async () => {
    const workspace = createToolWorkspace();
    const tool = createBashTool(workspace);
    await runTool(tool, { command: "cd /; export LEFT=1" });
    expect((await runTool(tool, { command: "pwd; echo [$LEFT]" })).output).toBe(`${workspace.cwd}\n[]`);
  });

  test("the newest output is shown while the command runs", async () => {
    const updates: string[] = [];
    const tool = createBashTool(createToolWorkspace());
    const command = "echo first; sleep 0.25; echo second; sleep 0.25";
    await runTool(tool, { command }, { onUpdate: (text) => updates.push(text) });
    expect(updates).toEqual(["first\n", "first\nsecond\n"]);
  });

  test("a quick command reports no progress", async () => {
    const updates: string[] = [];
    await runTool(
      createBashTool(createToolWorkspace()),
      { command: "echo done" },
      { onUpdate: (text) => updates.push(text) },
    );
    await Bun.sleep(120);
    expect(updates).toEqual([]);
  });
});

describe("arguments", () => {
  const { parameters, approval } = createBashTool(createToolWorkspace());

  test("a timeout above the maximum is rejected with the maximum", () => {
    const parsed = parameters.safeParse({ command: "true", timeout: 600_001 });
    expect(parsed.error?.issues[0]?.message).toBe("timeout is at most 600000 milliseconds");
    expect(parameters.safeParse({ command: "true", timeout: 600_000 }).success).toBe(true);
  });

  test("the request contains the command verbatim and one line for a person", () => {
    expect(approval?.({ command: "cd src\n  rm -r x\n" })).toEqual({
      permission: "execute",
      toolName: "bash",
      description: "bash: cd src ↵ rm -r x",
      details: { command: "cd src\n  rm -r x\n" },
    });
  });

  test("a command that the system cannot accept is rejected with advice", async () => {
    await expect(run(`echo ${"x".repeat(200_000)}`)).rejects.toThrow(/at most 131071. Write it to a file/);
    await expect(run("echo a\0b")).rejects.toThrow("NUL character");
    expect((await run(`: ${"x".repeat(131_000)}`)).isError).toBe(false);
  });

  test("a missing working directory is named", async () => {
    const workspace = createToolWorkspace();
    rmSync(workspace.cwd, { recursive: true });
    const running = runTool(createBashTool(workspace), { command: "true" });
    await expect(running).rejects.toThrow(`The working directory ${workspace.cwd} no longer exists`);
  });
});

describe("without a person at the terminal", () => {
  test("stdin is empty and there is no terminal", async () => {
    const result = await run("cat; tty; read x; echo [$x]; echo hi > /dev/tty");
    expect(result.output).toContain("not a tty\n[]\n");
    expect(result.output).toContain("/dev/tty: No such device or address");
  });

  test("git fails immediately instead of opening an editor", async () => {
    const { value, elapsedMs } = await timed(() =>
      run("git init -q . && git -c user.name=a -c user.email=a@b commit --allow-empty"),
    );
    expect(value.isError).toBe(true);
    expect(value.output).toContain("editor");
    expect(elapsedMs).toBeLessThan(2_000 + BUSY_MS);
  });

  test("a key in our environment is not in the command's", async () => {
    const environment = {
      PATH: process.env.PATH,
      ANTHROPIC_API_KEY: "sk-secret",
      AWS_ACCESS_KEY_ID: "secret",
      DATABASE_URL: "secret",
      GITHUB_PAT: "secret",
      BASH_ENV: "/nonexistent",
    };
    const { output } = await runTool(createBashTool(createToolWorkspace({ environment })), {
      command: "env",
    });
    expect(output).not.toContain("secret");
    expect(output).not.toContain("BASH_ENV");
    expect(output).toContain("AI_AGENT=diligent\n");
    expect(output).toContain("DILIGENT_SESSION_ID=20260225103000-abcdef");
  });
});

test("programs with the same names in the project are not run", async () => {
  const workspace = createToolWorkspace();
  const canary = join(workspace.root, "canary");
  mkdirSync(join(workspace.root, "bin"));
  for (const name of ["bash", "sh", "git", "bin/bash", "bin/sh"]) {
    writeFileSync(join(workspace.root, name), `#!/bin/sh\ntouch ${canary}\n`);
    chmodSync(join(workspace.root, name), 0o755);
  }
  const PATH = `.::${workspace.root}:${join(workspace.root, "bin")}:bin:${process.env.PATH}`;
  const tool = createBashTool({ ...workspace, environment: { PATH } });
  expect((await runTool(tool, { command: "git --version" })).output).toMatch(/^git version/);
  expect(existsSync(canary)).toBe(false);
});

describe("background children", () => {
  const commands = (seconds: string): Record<string, string> => ({
    "a silent one": `sleep ${seconds} & echo done`,
    // Its own line comes first: the middle of a long output is left out.
    "a chatty one": `echo done; (while :; do echo ${seconds}; done) &`,
    "one under nohup": `nohup sleep ${seconds} & echo done`,
    "one in a session of its own": `setsid sleep ${seconds} & echo done`,
    "a daemon": `(setsid sh -c 'sleep ${seconds}; :' > /dev/null 2>&1 &); echo done`,
  });

  test.each(Object.keys(commands("1")))("%s does not delay the result", async (kind) => {
    const seconds = uniqueSleepSeconds();
    const { value, elapsedMs } = await timed(() => run(commands(seconds)[kind] ?? ""));
    expect(elapsedMs).toBeLessThan(1_000 + BUSY_MS);
    expect(value.output).toContain("done");
    while (countProcesses(seconds) === 0) await Bun.sleep(5);
    await endAllProcesses();
    expect(await countLeftRunning(seconds)).toBe(0);
  });

  test("one that keeps the output open or stays in the group is mentioned", async () => {
    const note = "[a background process it started is still running]";
    expect((await run("setsid sleep 30 & echo done")).output).toBe(`done\n${note}`);
    expect((await run("sleep 30 > /dev/null 2>&1 & echo done")).output).toBe(`done\n${note}`);
  });

  test("one that writes more than a pipe holds neither blocks nor dies once nobody reads", async () => {
    const workspace = createToolWorkspace();
    const proof = join(workspace.root, "proof");
    await runTool(createBashTool(workspace), {
      command: `(sleep 0.1; head -c 300000 /dev/zero && touch ${proof}) & echo started`,
    });
    while (!existsSync(proof)) await Bun.sleep(5);
  });
});

describe("an end from outside", () => {
  const stubborn = (seconds: string) =>
    `trap '' TERM; echo begun; (trap '' TERM; sleep ${seconds} & setsid sh -c 'trap "" TERM; sleep ${seconds}; :' & wait) & sleep ${seconds}; sleep ${seconds}`;

  test("a time limit ends everything that ignores TERM, and reports it with the output so far", async () => {
    const seconds = uniqueSleepSeconds();
    const { value, elapsedMs } = await timed(() => run(stubborn(seconds), { timeout: 1_000 }));
    expect(value.output).toBe("begun\n[timed out after 1000 ms; process group killed]");
    expect(value.isError).toBe(true);
    expect(elapsedMs).toBeLessThan(3_000 + BUSY_MS);
    expect(countProcesses(seconds)).toBe(0);
  });

  test("an interrupt returns immediately with the output so far", async () => {
    const seconds = uniqueSleepSeconds();
    const { value } = await interrupt(`echo begun; sleep ${seconds}`);
    expect(value.output).toBe("begun\n[interrupted; process group killed]");
    expect(value.isError).toBe(true);
    expect(countProcesses(seconds)).toBe(0);
  });

  test("a call that is interrupted before it begins runs nothing", async () => {
    const workspace = createToolWorkspace();
    const running = runTool(
      createBashTool(workspace),
      { command: "touch ran" },
      { signal: AbortSignal.abort() },
    );
    await expect(running).rejects.toThrow("Interrupted before the command was started.");
    expect(existsSync(join(workspace.cwd, "ran"))).toBe(false);
  });

  test("a process that ignores TERM does not delay an interrupt and is killed two seconds later", async () => {
    const seconds = uniqueSleepSeconds();
    const { value, elapsedMs } = await interrupt(stubborn(seconds));
    expect(value.output).toBe("begun\n[interrupted; a process it started is still running]");
    expect(elapsedMs).toBeLessThan(900 + BUSY_MS);
    expect(await countLeftRunning(seconds)).toBe(0);
  });
});

describe("long output", () => {
  test("all of it is in a private file that the result names", async () => {
    const { output, metadata } = await run("seq 1 100000");
    const path = String(metadata?.outputPath);
    expect(output).toStartWith("1\n2\n3\n");
    expect(output).toEndWith("\n99999\n100000");
    expect(output).toContain(`omitted here; complete output: ${path}]`);
    expect(Buffer.byteLength(output)).toBeLessThanOrEqual(50 * 1024);
    expect(output.split("\n").length).toBeLessThanOrEqual(2_000);
    expect(readFileSync(path, "utf8")).toBe(
      `${Array.from({ length: 100_000 }, (_, index) => index + 1).join("\n")}\n`,
    );
    expect(statSync(path).mode & 0o777).toBe(0o600);
  });

  test("10 MB in one line are truncated within the limit", async () => {
    const { output } = await run("head -c 10000000 /dev/zero | tr '\\0' x");
    expect(Buffer.byteLength(output)).toBeLessThanOrEqual(50 * 1024);
    expect(output).toMatch(/^x+\n\[9\.5 MB omitted here; complete output: \S+\]\nx+$/);
  });

  test("an endless one ends with the time limit", async () => {
    Bun.gc(true);
    const before = process.memoryUsage().rss;
    const { output, isError } = await run("yes", { timeout: 300 });
    expect(isError).toBe(true);
    expect(output).toEndWith("[timed out after 300 ms; process group killed]");
    Bun.gc(true);
    // 300 ms of it are gigabytes; what the other tests of this process leave to be collected is not.
    expect(process.memoryUsage().rss - before).toBeLessThan(256 * 1024 * 1024);
  });
});
