/**
 * Makes requests of 0.3 US dollars, estimated at 1.2, until the project's budget of 1 is spent, and prints what it does.
 * `hang`: the first one never ends.
 */
import { SpendingLimitError } from "../../src/agent/budget.ts";
import { Spending } from "../../src/extensions/cost/spending.ts";

const [home = "", mode] = process.argv.slice(2);
const spending = new Spending({ project: 1 }, { environment: { HOME: home }, root: "/project" });
const { signal } = new AbortController();
try {
  for (;;) {
    const release = await spending.admit(1.2, signal);
    process.stdout.write("sent\n");
    if (mode === "hang") await new Promise((resolve) => setTimeout(resolve, 600_000));
    await Bun.sleep(20);
    spending.add(0.3);
    release();
  }
} catch (error) {
  process.stdout.write(error instanceof SpendingLimitError ? "limit\n" : `${error}\n`);
}
