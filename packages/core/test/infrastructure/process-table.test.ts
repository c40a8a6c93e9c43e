import { expect, test } from "bun:test";
import { findProcessTree, hasProcessTable } from "../../src/infrastructure/process/tree.ts";

const MARK = `/process-table-test-${process.pid}/`;

test.skipIf(!hasProcessTable())("a process is found by its mark, and so are its children", async () => {
  const argv = ["sh", "-c", "env -i sleep 30 & echo $!; wait"];
  const shell = Bun.spawn(argv, { env: { PATH: process.env.PATH, MARK }, stdout: "pipe" });
  try {
    const { value } = await shell.stdout.getReader().read();
    const sleeper = Number(new TextDecoder().decode(value));
    const { processes } = findProcessTree({ groups: [], mark: MARK });
    expect(processes.map(({ pid }) => pid).sort()).toEqual([shell.pid, sleeper].sort());
    process.kill(sleeper);
  } finally {
    shell.kill();
  }
});

test.skipIf(!hasProcessTable())(
  "a process without a readable environment is reported as uncertain",
  async () => {
    const stranger = Bun.spawn(["sleep", "30"], { env: {} });
    try {
      expect(findProcessTree({ groups: [], mark: MARK })).toEqual({ processes: [], isCertain: false });
    } finally {
      stranger.kill();
      await stranger.exited;
    }
  },
);
