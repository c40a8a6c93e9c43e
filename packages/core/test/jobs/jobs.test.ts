import { afterEach, describe, expect, test } from "bun:test";
import { existsSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { endAllProcesses } from "../../src/infrastructure/process/all-processes.ts";
import type { JobUpdate } from "../../src/jobs/job.ts";
import { SessionJobs } from "../../src/jobs/session-jobs.ts";
import type { Tool, ToolContext, ToolResult } from "../../src/tool/types.ts";
import { createBashTool } from "../../src/tools/bash.ts";
import { createJobTools } from "../../src/tools/job-tools.ts";
import type { Workspace } from "../../src/tools/workspace.ts";
import { findBoxProblem, makeBoxedProject } from "../support/boxed-project.ts";
import { countLeftRunning, countProcesses, uniqueSleepSeconds } from "../support/process-census.ts";
import { describeUnless } from "../support/test-unless.ts";
import { createToolWorkspace, runTool } from "../support/tool-workspace.ts";

const problem = await findBoxProblem();

afterEach(endAllProcesses);

interface JobProject {
  jobs: SessionJobs;
  updates: JobUpdate[];
  at(path: string): string;
  bash(command: string, more?: object, context?: Partial<ToolContext>): Promise<ToolResult>;
  output(id: string | number, more?: object, context?: Partial<ToolContext>): Promise<ToolResult>;
  kill(id: string): Promise<ToolResult>;
}

function toProject(workspace: Workspace, jobs: SessionJobs): JobProject {
  const [output, kill] = createJobTools(workspace) as [Tool, Tool];
  const updates: JobUpdate[] = [];
  jobs.subscribe((update) => updates.push(update));
  return {
    jobs,
    updates,
    at: (path) => join(workspace.root, path),
    bash: (command, more, context) => runTool(createBashTool(workspace), { command, ...more }, context),
    output: (id, more, context) => runTool(output, { id, ...more }, context),
    kill: (id) => runTool(kill, { id }),
  };
}

const MAKE: Readonly<Record<string, () => Promise<JobProject>>> = {
  "in the sandbox": async () => {
    const { workspace, jobs } = await makeBoxedProject();
    return toProject(workspace, jobs);
  },
  "without a sandbox": async () => {
    const jobs = new SessionJobs();
    return toProject(createToolWorkspace({ jobs }), jobs);
  },
};

async function until(isTrue: () => boolean): Promise<void> {
  while (!isTrue()) await Bun.sleep(5);
}

const background = { background: true };

for (const [place, make] of Object.entries(MAKE)) {
  const obstacle = place === "in the sandbox" ? problem : undefined;

  describeUnless(obstacle)(`a job ${place}`, () => {
    test("starts at once, and each call has what it printed since the last one", async () => {
      const project = await make();
      const script = "echo one; read x < go; echo two; read x < on; exit 3";
      await project.bash("mkfifo go on");
      const started = await project.bash(script, background);
      expect([started.output, started.isError, started.metadata?.jobId]).toEqual([
        "Started job 1",
        false,
        "1",
      ]);
      expect((await project.output("1", { filter: "one", wait_ms: 20_000 })).output).toBe("one\n[running]");
      expect((await project.output("1")).output).toBe("(no new output)\n[running]");
      writeFileSync(project.at("go"), "\n");
      expect((await project.output("1", { filter: "tw", wait_ms: 20_000 })).output).toBe("two\n[running]");
      writeFileSync(project.at("on"), "\n");
      const last = await project.output("1", { wait_ms: 20_000 });
      expect([last.output, last.metadata]).toEqual([
        "(no new output)\n[exit 3]",
        { jobId: "1", jobState: "ended", exitCode: 3 },
      ]);
      expect(project.updates).toEqual([
        { id: "1", state: "running", command: script },
        { id: "1", state: "ended", command: script, exitCode: 3 },
      ]);
      expect(project.jobs.takeNotices()).toEqual([]);
    });

    test("that ends at once is a job all the same", async () => {
      const project = await make();
      expect((await project.bash("echo oops; exit 4", background)).output).toBe("Started job 1");
      expect((await project.output("1", { wait_ms: 20_000 })).output).toBe("oops\n[exit 4]");
    });

    test("is killed with all that it started, and says so once", async () => {
      const project = await make();
      const seconds = uniqueSleepSeconds();
      await project.bash(`trap '' TERM; sleep ${seconds} & sleep ${seconds}`, background);
      await until(() => countProcesses(`sleep\0${seconds}`) === 2);
      expect((await project.kill("1")).output).toStartWith("Job 1 was ended: trap");
      expect(await countLeftRunning(seconds)).toBe(0);
      expect((await project.kill("1")).output).toBe("Job 1 has ended already [killed].");
      expect((await project.output("1")).output).toBe("(no new output)\n[killed]");
      expect(project.jobs.takeNotices()).toEqual([]);
      expect(project.updates.at(-1)).toMatchObject({ id: "1", state: "killed" });
    });

    test("tells the model once that it has ended, unless it has seen that", async () => {
      const project = await make();
      await project.bash("echo first; echo last; exit 7", background);
      await project.bash("kill -9 $$", background);
      await Promise.all(project.jobs.list.map(({ ended }) => ended));
      expect(project.jobs.takeNotices()).toEqual([
        "[Job 1 ended (exit 7): echo first; echo last; exit 7. Its last line: last]",
        expect.stringMatching(/^\[Job 2 ended \((?:exit 137|ended by SIGKILL)\): kill -9 \$\$\]$/),
      ]);
      expect(project.jobs.takeNotices()).toEqual([]);
    });

    test("is what a command becomes at its time limit, if that is wanted", async () => {
      const project = await make();
      const script = "echo before; read x < go; echo after";
      await project.bash("mkfifo go");
      const moved = await project.bash(script, { timeout: 2_000, on_timeout: "background" });
      expect([moved.output, moved.isError]).toEqual([
        "before\n[still running after 2000 ms. Moved to the background as job 1]",
        false,
      ]);
      writeFileSync(project.at("go"), "\n");
      expect((await project.output("1", { wait_ms: 20_000 })).output).toBe("after\n[exit 0]");
      const killed = await project.bash("sleep 60", { timeout: 100, on_timeout: "kill" });
      expect(killed.output).toContain("timed out after 100 ms; process group killed");
    });

    test("is what a command becomes when the user wants to go on", async () => {
      const project = await make();
      await project.bash("mkfifo go");
      const running = project.bash("touch up; read x < go; echo after", { timeout: 60_000 });
      await until(() => existsSync(project.at("up")));
      expect(project.jobs.leaveForeground()).toBe(true);
      expect((await running).output).toContain("Moved to the background as job 1");
      expect([project.jobs.hasForeground, project.jobs.runningCount]).toEqual([false, 1]);
      expect((await project.kill("1")).isError).toBeUndefined();
    });

    test("is what a command becomes when the user wants that before it has started", async () => {
      const project = await make();
      expect(project.jobs.leaveForeground()).toBe(true);
      const command = "sleep 60";
      expect((await project.bash(command)).output).toContain("Moved to the background as job 1");
      // That was meant for one command.
      expect((await project.bash("echo here")).output).toBe("here");
      await project.jobs.endAll();
    });

    test("is what a command leaves behind", async () => {
      const project = await make();
      const seconds = uniqueSleepSeconds();
      const { output } = await project.bash(`sleep ${seconds} & echo started; exit 5`);
      expect(output).toBe(
        "started\n[exit code 5]\n[a background process it started is still running: job 1]",
      );
      expect(project.jobs.list[0]?.describeState()).toBe("running");
      await project.kill("1");
      expect(await countLeftRunning(seconds)).toBe(0);
    });

    test("ends with the session", async () => {
      const project = await make();
      const seconds = uniqueSleepSeconds();
      await project.bash(`sleep ${seconds}`, background);
      await until(() => countProcesses(`sleep\0${seconds}`) === 1);
      await project.jobs.endAll();
      expect(await countLeftRunning(seconds)).toBe(0);
    });

    test("that prints without end leaves room for other commands, and its output stays bounded", async () => {
      const project = await make();
      await project.bash("exec yes", background);
      const [job] = project.jobs.list;
      await until(() => (job?.output.totalBytes ?? 0) > 120 * 1024 * 1024);
      expect((await project.bash("echo here")).output).toBe("here");
      const { output } = await project.output("1");
      expect(output).toMatch(/^y\ny\n/);
      expect(output).toEndWith("y\n[running]");
      await project.kill("1");
      expect(statSync(job?.output.path ?? "").size).toBeLessThan(101 * 1024 * 1024);
    }, 60_000);

    test("is one of fifty at most", async () => {
      const project = await make();
      for (let count = 0; count < 50; count++) await project.bash("sleep 60", background);
      const more = project.bash("sleep 60", background);
      await expect(more).rejects.toThrow(
        "50 jobs are running, which is the limit. End one with job_kill first.",
      );
      await project.kill("17");
      expect((await project.bash("sleep 60", background)).output).toBe("Started job 51");
      await project.jobs.endAll();
    }, 60_000);

    test("tells its processor time and its last line", async () => {
      const project = await make();
      await project.bash("echo first; printf '\\033[31mlast\\033[0m\\n\\n'; while :; do :; done", background);
      const [job] = project.jobs.list;
      await until(() => (job?.cpuTimeMs() ?? 0) > 50 && job?.output.lastLine() !== "");
      expect(job?.output.lastLine()).toBe("last");
      await project.kill("1");
      expect(job?.cpuTimeMs()).toBe(0);
    });
  });
}

describe("the output of a job", () => {
  test("is filtered by lines, of which the last one counts once it is whole", async () => {
    const project = await MAKE["without a sandbox"]?.();
    if (!project) throw new Error("There is no project.");
    await project.bash("mkfifo go on");
    const script = "echo 'error: a'; echo ok; printf 'error'; read x < go; echo ': b'; read x < on";
    await project.bash(script, background);
    expect((await project.output(1, { filter: "^error", wait_ms: 20_000 })).output).toBe(
      "error: a\n[running]",
    );
    writeFileSync(project.at("go"), "\n");
    expect((await project.output(1, { filter: "^error", wait_ms: 20_000 })).output).toBe(
      "error: b\n[running]",
    );
    expect((await project.output(1, { filter: "^error" })).output).toBe("(no new line matches)\n[running]");
    await expect(project.output(1, { filter: "(" })).rejects.toThrow("The filter cannot be used");
    await project.jobs.endAll();
  });

  test("is searched in linear time, whatever the expression", async () => {
    const project = await MAKE["without a sandbox"]?.();
    if (!project) throw new Error("There is no project.");
    await project.bash(`printf '%s\\n' ${"a".repeat(40)}b; read x`, background);
    const begin = performance.now();
    await project.output("1", { filter: "^(a+)+$", wait_ms: 500 });
    expect(performance.now() - begin).toBeLessThan(20_000);
    await project.jobs.endAll();
  });

  test("that is long is cut in the middle, and the file that is named has all of it", async () => {
    const project = await MAKE["without a sandbox"]?.();
    if (!project) throw new Error("There is no project.");
    await project.bash("seq 100000", background);
    const { output } = await project.output("1", { wait_ms: 20_000 });
    const path = /complete output: (\S+)\]/.exec(output)?.[1] ?? "";
    expect(Buffer.byteLength(output)).toBeLessThan(51 * 1024);
    expect(output).toEndWith("100000\n[exit 0]");
    expect(readFileSync(path, "utf8").split("\n")).toHaveLength(100_001);
  });

  test("is waited for until the user stops the run", async () => {
    const project = await MAKE["without a sandbox"]?.();
    if (!project) throw new Error("There is no project.");
    await project.bash("sleep 60", background);
    const stop = new AbortController();
    for (const more of [{}, { filter: "x" }]) {
      const waiting = project.output("1", { wait_ms: 60_000, ...more }, { signal: stop.signal });
      stop.abort();
      expect((await waiting.catch(() => ({ output: "stopped" }))).output).toMatch(/running|stopped/);
    }
    await project.jobs.endAll();
  });

  test("of a job that is not there names those that are", async () => {
    const project = await MAKE["without a sandbox"]?.();
    if (!project) throw new Error("There is no project.");
    await expect(project.output("3")).rejects.toThrow("There is no job 3. None was started.");
    await project.bash("sleep 60", background);
    await expect(project.output("3")).rejects.toThrow("There is no job 3. Jobs: 1 (running).");
    expect((await project.output("job_1")).output).toEndWith("[running]");
    await project.jobs.endAll();
  });
});

describeUnless(problem)("a job in the sandbox whose holder is killed", () => {
  test("has ended, and the next command says what happened and works", async () => {
    const project = await MAKE["in the sandbox"]?.();
    if (!project) throw new Error("There is no project.");
    const seconds = uniqueSleepSeconds();
    await project.bash(`echo up; exec sleep ${seconds}`, background);
    expect((await project.output("1", { filter: "up", wait_ms: 20_000 })).output).toBe("up\n[running]");
    const list = Bun.spawnSync(["ps", "--ppid", String(process.pid), "-o", "pid=,args="]).stdout.toString();
    const holder = list.split("\n").find((line) => line.includes("--as-pid-1"));
    process.kill(Number.parseInt(holder ?? "", 10), "SIGKILL");
    await project.jobs.list[0]?.ended;
    expect(countProcesses(`sleep\0${seconds}`)).toBe(0);
    expect(project.jobs.takeNotices()[0]).toStartWith("[Job 1 ended (");
    const next = await project.bash("echo works");
    expect(next.output).toStartWith("works\n[all processes of this session had ended: ");
  });
});

describe("a session that is opened again", () => {
  test("tells the model which jobs it has lost, and gives new numbers", async () => {
    const jobs = new SessionJobs();
    jobs.continueFrom([
      { id: "1", isEndKnown: false },
      { id: "2", isEndKnown: false },
      { id: "3", isEndKnown: true },
    ]);
    expect(jobs.takeNotices()).toEqual(["[Jobs 1, 2 no longer run: this session was closed meanwhile.]"]);
    expect(jobs.takeNotices()).toEqual([]);
    const project = toProject(createToolWorkspace({ jobs }), jobs);
    expect((await project.bash("sleep 60", background)).output).toBe("Started job 4");
    await jobs.endAll();
  });
});
