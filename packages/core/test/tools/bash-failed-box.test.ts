import { afterEach, expect, test } from "bun:test";
import { existsSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { endAllProcesses } from "../../src/infrastructure/process/all-processes.ts";
import type { ShellWrapper, WrappedCommand } from "../../src/infrastructure/process/shell-wrapper.ts";
import { SessionJobs } from "../../src/jobs/session-jobs.ts";
import { createBashTool } from "../../src/tools/bash.ts";
import { createToolWorkspace, runTool } from "../support/tool-workspace.ts";

afterEach(endAllProcesses);

const FAILURE = "bwrap: Can't mkdir parents for /gone/agent.sock: No such file or directory";
const REPORTS = 'echo begun >&3; "$@"; echo "$? 0" >&3; exit 0';

/** Boxes of which the first `failures` cannot be made. */
function createBoxes(failures: number, toMessage: (number: number) => string = () => FAILURE) {
  const boxes = { made: 0, finished: 0, abandoned: 0 };
  const box: ShellWrapper = {
    async wrapCommand({ argv, environment }): Promise<WrappedCommand> {
      boxes.made += 1;
      const isFailing = boxes.made <= failures;
      return {
        argv: isFailing
          ? ["/bin/sh", "-c", `echo "${toMessage(boxes.made)}" >&2; exit 1`]
          : ["/bin/sh", "-c", REPORTS, "box", ...argv],
        environment,
        report: "staying_shell",
        inheritedFiles: [],
        findFailure: (output) => (output.startsWith("bwrap: Can't ") ? "mounts" : undefined),
        explain: () => undefined,
        finish: () => {
          boxes.finished += 1;
          return { notes: [`note ${boxes.finished}`] };
        },
        abandon: () => {
          boxes.abandoned += 1;
        },
      };
    },
    leave: () => () => [],
  };
  return { boxes, box };
}

async function run(command: string, failures: number, toMessage?: (number: number) => string) {
  const { boxes, box } = createBoxes(failures, toMessage);
  const workspace = createToolWorkspace({
    sandboxState: async () => ({ kind: "boxed", wrapper: box, mayLeave: true }),
  });
  const { output } = await runTool(createBashTool(workspace), { command });
  const log = join(workspace.root, "log");
  return { output, ...boxes, log: existsSync(log) ? readFileSync(log, "utf8") : "" };
}

test("a sandbox that cannot be created is created again, and the command runs once", async () => {
  expect(await run("echo ran | tee -a log", 2)).toEqual({
    output: "ran\n[note 3]\n[note 1]\n[note 2]",
    made: 3,
    finished: 3,
    abandoned: 0,
    log: "ran\n",
  });
});

test.each([
  [9, "ran\n", 10],
  [99, "", 10],
])(
  "a sandbox that fails for another reason each time is created up to ten times: %i failures",
  async (failures, log, made) => {
    const result = await run("echo ran >> log", failures, (number) =>
      FAILURE.replace("agent", `agent-${number}`),
    );
    expect(result).toMatchObject({ log, made, finished: made });
  },
);

test("a job whose sandbox is created at the second attempt has the first number", async () => {
  const jobs = new SessionJobs();
  const { box } = createBoxes(1);
  const workspace = createToolWorkspace({
    jobs,
    sandboxState: async () => ({ kind: "boxed", wrapper: box, mayLeave: true }),
  });
  const { output } = await runTool(createBashTool(workspace), { command: "echo ran", background: true });
  expect(output).toStartWith("Started job 1\n");
  await Promise.all(jobs.list.map(({ ended }) => ended));
  expect(jobs.takeNotices()).toEqual(["[Job 1 ended (exit 0): echo ran. Its last line: ran]"]);
});

test("a sandbox that can never be created is reported after three attempts", async () => {
  expect(await run("echo ran | tee -a log", 9)).toEqual({
    output: `${FAILURE}\n[exit code 1]\n[note 3]\n[note 1]\n[note 2]`,
    made: 3,
    finished: 3,
    abandoned: 0,
    log: "",
  });
});

test.each(["exit 1", "kill -9 $PPID; exit 1"])(
  "a command that prints the same message has run, and is not run again: %s",
  async (end) => {
    const said = `echo ran >> log; echo "${FAILURE}"; ${end}`;
    expect(await run(said, 0)).toMatchObject({ made: 1, finished: 1, log: "ran\n" });
  },
);

test("a sandbox in which nothing can be started is given up", async () => {
  const { boxes, box } = createBoxes(0);
  const workspace = createToolWorkspace({
    sandboxState: async () => ({ kind: "boxed", wrapper: box, mayLeave: true }),
  });
  rmSync(workspace.root, { recursive: true });
  const running = runTool(createBashTool(workspace), { command: "true" });
  await expect(running).rejects.toThrow("no longer exists");
  expect(boxes).toEqual({ made: 1, finished: 0, abandoned: 1 });
});
