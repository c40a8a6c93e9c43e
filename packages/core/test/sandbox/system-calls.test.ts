import { afterEach, expect, test } from "bun:test";
import { copyFileSync } from "node:fs";
import { join } from "node:path";
import { endAllProcesses } from "../../src/infrastructure/process/all-processes.ts";
import { findBoxProblem, makeBoxedProject } from "../support/boxed-project.ts";

const problem = await findBoxProblem();
const why = problem === undefined ? "" : ` (skipped: ${problem})`;

afterEach(endAllProcesses);

const [EPERM, ENOSYS, EAFNOSUPPORT] = [1, 38, 97];

test.skipIf(problem !== undefined || process.platform !== "linux")(
  `the kernel refuses boxed commands other socket families, keyrings, io_uring and typing into a terminal${why}`,
  async () => {
    const { root, run } = await makeBoxedProject();
    copyFileSync(join(import.meta.dir, "..", "support", "try-system-calls.ts"), join(root, "try.ts"));
    // In the project, where the box shows it in any case.
    copyFileSync(process.execPath, join(root, "bun"));
    const { output, isError } = await run("./bun try.ts < /dev/null");
    expect([isError ?? false, output]).toEqual([false, expect.stringMatching(/^\{.*\}$/)]);
    const { session, ...refused } = JSON.parse(output);
    expect(refused).toEqual({
      sockets: {
        unix: 0,
        ipv4: 0,
        ipv6: 0,
        netlink: 0,
        packet: EAFNOSUPPORT,
        bluetooth: EAFNOSUPPORT,
        alg: EAFNOSUPPORT,
        vsock: EAFNOSUPPORT,
      },
      keyrings: [ENOSYS, ENOSYS, ENOSYS],
      io_uring: ENOSYS,
      terminalInput: [EPERM, EPERM],
    });
    // It has a session of its own, and with it no controlling terminal of ours.
    expect(session).toBeGreaterThan(0);
  },
);
