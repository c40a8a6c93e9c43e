import { beforeEach, describe, expect, test } from "bun:test";
import { appendFileSync, mkdirSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { SpendingLimitError } from "../../../src/agent/budget.ts";
import { Spending } from "../../../src/extensions/cost/spending.ts";
import { makeTempDir } from "../../support/temp-dir.ts";

const signal = new AbortController().signal;
let home: string;

beforeEach(() => {
  home = makeTempDir();
});

const open = (limits: ConstructorParameters<typeof Spending>[0], root = "/project") =>
  new Spending(limits, { environment: { HOME: home }, root });

describe("spending", () => {
  test("of all programs and projects counts for the day, that of a project for the project", () => {
    open({}).add(0.6);
    open({}, "/other").add(0.5);
    expect(open({ day: 1 }).findReached()).toContain("The budget of $1 for a day is spent ($1.10 today");
    expect(open({ project: 1 }).findReached()).toBeUndefined();
    expect(open({ project: 0.6 }).findReached()).toContain("for this project is spent ($0.60 so far");
  });

  test("that another program adds meanwhile is seen, damaged and unfinished lines are skipped", () => {
    const spending = open({ day: 1 });
    spending.add(0.5);
    const days = join(home, ".local", "state", "diligent", "spending", "days");
    const [name = ""] = readdirSync(days);
    expect(statSync(join(days, name)).mode & 0o777).toBe(0o600);
    appendFileSync(join(days, name), '\0\0{"cost":99\n{"cost":"9"}\n{"cost":0.2');
    expect(spending.findReached()).toBeUndefined();
    appendFileSync(join(days, name), '}\n{"cost":0.4}\n');
    expect(spending.findReached()).toContain("$1.10 today");
  });

  test("that cannot be written counts in this program", () => {
    mkdirSync(join(home, ".local", "state"), { recursive: true });
    appendFileSync(join(home, ".local", "state", "diligent"), "a file");
    const spending = open({ day: 1 });
    spending.add(1);
    expect(spending.findReached()).toContain("$1.00 today");
  });

  test("by requests side by side exceeds a limit by one of them at most", async () => {
    const spending = open({ project: 1 });
    let cost = 0;
    const work = async () => {
      for (;;) {
        const release = await spending.admit(0.6, signal);
        await Bun.sleep(1);
        cost += 0.3;
        spending.add(0.3);
        release();
      }
    };
    const ends = await Promise.allSettled([work(), work(), work(), work()]);
    expect(ends.map((end) => end.status === "rejected" && end.reason instanceof SpendingLimitError)).toEqual([
      ...[true, true, true, true],
    ]);
    expect(cost).toBeGreaterThanOrEqual(1);
    expect(cost).toBeLessThan(1.3);
  });

  test("by two programs at the same time exceeds a limit by one request at most", async () => {
    const program = join(import.meta.dir, "../../support/spend-side-by-side.ts");
    const programs = [1, 2, 3].map(() =>
      Bun.spawn([process.execPath, program, home], { stdout: "pipe", stderr: "inherit" }),
    );
    const outputs = await Promise.all(programs.map(({ stdout }) => new Response(stdout).text()));
    expect(outputs.map((text) => text.trim().split("\n").at(-1))).toEqual(["limit", "limit", "limit"]);
    const requests = outputs.join("").match(/sent/g)?.length ?? 0;
    // Each costs 0.3 of 1.
    expect(requests).toBe(4);
  }, 60_000);

  test("that a killed program has announced holds nobody up", async () => {
    const program = join(import.meta.dir, "../../support/spend-side-by-side.ts");
    const killed = Bun.spawn([process.execPath, program, home, "hang"], { stdout: "pipe" });
    const reader = killed.stdout.getReader();
    expect(new TextDecoder().decode((await reader.read()).value)).toBe("sent\n");
    const spending = open({ project: 1 });
    let isAdmitted = false;
    const admitted = spending.admit(0.6, signal).then((release) => {
      isAdmitted = true;
      return release;
    });
    await Bun.sleep(120);
    expect(isAdmitted).toBe(false);
    killed.kill("SIGKILL");
    (await admitted)();
  }, 60_000);
});
