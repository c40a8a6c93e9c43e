import { expect, test } from "bun:test";
import { runUserCommand } from "../../src/tools/shell/user-command.ts";
import { BUSY_MS } from "../support/busy-machine.ts";
import { createToolWorkspace } from "../support/tool-workspace.ts";

const never = new AbortController().signal;

test("a command of the user runs in the same directory as the model's, with no key in its environment", async () => {
  const workspace = createToolWorkspace({
    environment: { PATH: process.env.PATH, HOME: "/nowhere", ANTHROPIC_API_KEY: "sk-secret" },
  });
  const result = await runUserCommand("pwd; echo $ANTHROPIC_API_KEY; false", workspace, { signal: never });
  expect(result).toMatchObject({
    output: `${workspace.root}\n[exit code 1]`,
    isError: true,
    metadata: { exitCode: 1 },
  });
});

test("it runs without a sandbox, even if the model's commands require one", async () => {
  const workspace = createToolWorkspace({
    sandboxState: async () => ({ kind: "refused", problem: "there is none" }),
  });
  expect(await runUserCommand("echo free", workspace, { signal: never })).toMatchObject({ output: "free" });
});

test("its latest output is reported while it runs, and stopping it takes less than a second", async () => {
  const abort = new AbortController();
  const begun = performance.now();
  let stoppedAt = 0;
  const result = await runUserCommand("echo begun; trap '' TERM; sleep 30", createToolWorkspace(), {
    signal: abort.signal,
    onUpdate(latest) {
      if (latest.includes("begun") && stoppedAt === 0) {
        stoppedAt = performance.now() - begun;
        abort.abort();
      }
    },
  });
  expect(result.output).toMatch(/^begun\n\[interrupted; /);
  expect(performance.now() - begun - stoppedAt).toBeLessThan(1_000 + BUSY_MS);
});
