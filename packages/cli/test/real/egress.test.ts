import { expect } from "bun:test";
import { join } from "node:path";
import { findEgressObstacle } from "../../../bench/src/egress/obstacle.ts";
import { testUnless } from "../../../core/test/support/test-unless.ts";

const EGRESS = join(import.meta.dir, "../../../bench/src/egress.ts");

testUnless(findEgressObstacle())(
  "nothing leaves the machine but what diligent network lists, packet by packet",
  async () => {
    const child = Bun.spawn([process.execPath, EGRESS], { stdin: "ignore", stdout: "pipe", stderr: "pipe" });
    const [exitCode, stdout, stderr] = await Promise.all([
      child.exited,
      new Response(child.stdout).text(),
      new Response(child.stderr).text(),
    ]);
    expect([exitCode, stderr]).toEqual([0, ""]);
    expect(stdout).toContain("demo (0 seen, 0 listed)");
    expect(stdout).toContain("session (5 seen, 5 listed)");
    expect(stdout).toContain("session --only-host (1 seen, 1 listed)");
  },
  110_000,
);
