import { afterEach, describe, expect, test } from "bun:test";
import { copyFileSync, existsSync, readlinkSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { endAllProcesses } from "../../src/infrastructure/process/all-processes.ts";
import { makeSystemCallFilter } from "../../src/sandbox/box/seccomp.ts";
import {
  type BoxedOptions,
  type BoxedProject,
  findBoxProblem,
  makeBoxedProject,
} from "../support/boxed-project.ts";
import { makeTempDir } from "../support/temp-dir.ts";

const problem = await findBoxProblem();
const why = problem === undefined ? "" : ` (skipped: ${problem})`;

afterEach(endAllProcesses);

const [EPERM, ENOSYS, EAFNOSUPPORT] = [1, 38, 97];

const NO_NAMESPACES = problem !== undefined || process.platform !== "linux";

describe.skipIf(NO_NAMESPACES)(
  "the kernel refuses other socket families, keyrings, io_uring and terminal input",
  () => {
    /** A project with a program that tries all of these. */
    async function makeTryingProject(options: BoxedOptions = {}) {
      const place = await makeBoxedProject(options);
      copyFileSync(join(import.meta.dir, "..", "support", "try-system-calls.ts"), place.at("project/try.ts"));
      // In the project, where the box shows it in any case.
      copyFileSync(process.execPath, place.at("project/bun"));
      return place;
    }

    async function expectRefusals({ run }: BoxedProject) {
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
    }

    test(`to a command in the session's namespaces, and in mounts that were made before it${why}`, async () => {
      const place = await makeTryingProject();
      await expectRefusals(place);
      await place.box.prepare();
      await expectRefusals(place);
    });

    test(`to a command in namespaces of its own, where there is no nsenter${why}`, async () => {
      const bin = makeTempDir();
      for (const name of ["sh", "bash", "sleep"]) symlinkSync(Bun.which(name) ?? name, join(bin, name));
      const place = await makeTryingProject({ environment: { PATH: bin } });
      expect(place.box.sharesProcesses).toBe(false);
      // The first result says that commands share nothing.
      await place.run("true");
      await expectRefusals(place);
    });
  },
);

test.skipIf(problem !== undefined || process.platform !== "linux")(
  `a sandboxed command has its own namespaces, can create none, and changes no setting of the kernel${why}`,
  async () => {
    const { run, root } = await makeBoxedProject();
    const kinds = ["user", "ipc", "pid", "net", "uts", "mnt"];
    const own = await run(`cd /proc/self/ns && readlink ${kinds.join(" ")}`);
    const shared = kinds.filter((kind) => own.output.includes(readlinkSync(`/proc/self/ns/${kind}`)));
    expect([own.output.split("\n").length, shared]).toEqual([kinds.length, []]);
    const { output } = await run("unshare --user true || echo refused");
    expect(output).toContain("refused");
    // What it already is, so that nothing changes where it can be written.
    const setting = "/proc/sys/vm/swappiness";
    await run(`cat ${setting} > value; cat value > ${setting} && echo written > result`);
    expect(existsSync(join(root, "result"))).toBe(false);
  },
);

/** What the filter of a processor answers to a system call: an error number, or 0 where it lets it through. */
function filterCall(
  processor: string,
  call: { architecture: number; number: number; first?: number; second?: number },
): number {
  const program = makeSystemCallFilter(processor) ?? new Uint8Array();
  const view = new DataView(program.buffer);
  // The fields of struct seccomp_data: number, architecture, and the lower halves of the arguments.
  const data = new Map([
    [0, call.number],
    [4, call.architecture],
    [16, call.first ?? 0],
    [24, call.second ?? 0],
  ]);
  let loaded = 0;
  for (let at = 0; at < program.length / 8; at += 1) {
    const value = view.getUint32(8 * at + 4, true);
    const jump = (isTrue: boolean) => view.getUint8(8 * at + (isTrue ? 2 : 3));
    switch (view.getUint16(8 * at, true)) {
      case 0x20:
        loaded = data.get(value) ?? 0;
        break;
      case 0x15:
        at += jump(loaded === value);
        break;
      case 0x35:
        at += jump(loaded >= value);
        break;
      case 0x06:
        return value === 0x7fff0000 ? 0 : value & 0xffff;
      default:
        throw new Error(`an unknown instruction at ${at}`);
    }
  }
  throw new Error("the filter gives no answer");
}

const X64 = 0xc000003e;
const I386 = 0x40000003;
const ARM64 = 0xc00000b7;
const ARM = 0x40000028;

describe("the filter for system calls", () => {
  test.each([
    ["x64", X64, { socket: 41, ioctl: 16, refused: [248, 249, 250, 425], read: 0 }],
    ["arm64", ARM64, { socket: 198, ioctl: 29, refused: [217, 218, 219, 425], read: 63 }],
  ] as const)(
    "on %p refuses the listed calls, and allows everything else",
    (processor, architecture, calls) => {
      const answer = (number: number, first = 0, second = 0) =>
        filterCall(processor, { architecture, number, first, second });
      expect(calls.refused.map((number) => answer(number))).toEqual([ENOSYS, ENOSYS, ENOSYS, ENOSYS]);
      const families = Array.from({ length: 46 }, (_, family) => family);
      expect(families.filter((family) => answer(calls.socket, family) === 0)).toEqual([1, 2, 10, 16]);
      expect(answer(calls.socket, 40)).toBe(EAFNOSUPPORT);
      expect([0x5412, 0x541c, 0x5413].map((request) => answer(calls.ioctl, 0, request))).toEqual([
        EPERM,
        EPERM,
        0,
      ]);
      expect(answer(calls.read)).toBe(0);
    },
  );

  test("refuses every call in the convention of another architecture, whose numbers differ", () => {
    const answers = [
      // 32-bit programs, and the x32 calls, which are socket and read here.
      filterCall("x64", { architecture: I386, number: 359, first: 40 }),
      filterCall("x64", { architecture: I386, number: 3 }),
      filterCall("x64", { architecture: X64, number: 0x40000000 + 41, first: 40 }),
      filterCall("x64", { architecture: X64, number: 0x40000000 }),
      filterCall("arm64", { architecture: ARM, number: 281, first: 40 }),
    ];
    expect(answers).toEqual([ENOSYS, ENOSYS, ENOSYS, ENOSYS, ENOSYS]);
  });

  test("does not exist for an unknown processor", () => {
    expect(makeSystemCallFilter("mips")).toBeUndefined();
  });
});
