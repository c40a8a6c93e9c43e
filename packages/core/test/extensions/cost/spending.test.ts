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
});
