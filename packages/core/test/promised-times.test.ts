import { afterEach, beforeEach, describe, expect, spyOn, test } from "bun:test";
import { endAllProcesses } from "../src/infrastructure/process/all-processes.ts";
import { IDLE_TIMEOUT_MS, LOCAL_IDLE_TIMEOUT_MS, withIdleWatchdog } from "../src/provider/idle-watchdog.ts";
import { createProviderStream } from "../src/provider/types.ts";
import { createBashTool } from "../src/tools/bash.ts";
import { TEST_MODEL } from "./support/models.ts";
import { createToolWorkspace, runTool } from "./support/tool-workspace.ts";

const REQUEST = { systemPrompt: "", messages: [], tools: [] };

describe("a provider that sends nothing", () => {
  let clockMs = 0;
  let waiting: { run: () => void; atMs: number } | undefined;
  let spies: { mockRestore(): void }[] = [];

  // Timers that run when the test says so, by the clock that the watchdog measures with.
  beforeEach(() => {
    clockMs = 0;
    const setTimer = (run: unknown, delayMs = 0) => {
      if (typeof run === "function") waiting = { run: () => run(), atMs: clockMs + delayMs };
      return waiting;
    };
    spies = [
      spyOn(performance, "now").mockImplementation(() => clockMs),
      spyOn(globalThis, "setTimeout").mockImplementation(Object.assign(setTimer, setTimeout)),
    ];
  });

  afterEach(() => {
    for (const spy of spies) spy.mockRestore();
  });

  /** After how much silence something was said about it, in milliseconds. */
  function watch(idleTimeoutMs?: number): [what: string, afterMs: number][] {
    const seen: [string, number][] = [];
    const startedAtMs = clockMs;
    const silent = withIdleWatchdog(() => createProviderStream(), { idleTimeoutMs });
    const stream = silent(TEST_MODEL, REQUEST, {});
    stream.subscribe(({ type }) => seen.push([type, clockMs - startedAtMs]));
    stream.result().catch(() => {});
    while (seen.at(-1)?.[0] !== "error" && waiting) {
      clockMs = waiting.atMs;
      const { run } = waiting;
      waiting = undefined;
      run();
    }
    return seen;
  }

  test("is reported after 45 s and given up after 90 s", () => {
    const expected = [
      ["stall", 45_000],
      ["error", 90_000],
    ];
    expect<unknown>(watch()).toEqual(expected);
    expect<unknown>(watch(IDLE_TIMEOUT_MS)).toEqual(expected);
  });

  test("is given up after 600 s if it runs on this machine", () => {
    expect<unknown>(watch(LOCAL_IDLE_TIMEOUT_MS)).toEqual([
      ["stall", 45_000],
      ["error", 600_000],
    ]);
  });
});

describe("a command", () => {
  afterEach(endAllProcesses);

  test.each([
    [undefined, 120_000],
    [7_000, 7_000],
  ])("with the time limit %p is ended after %d ms", async (timeout, expectedMs) => {
    const spy = spyOn(globalThis, "setTimeout");
    try {
      await runTool(createBashTool(createToolWorkspace()), { command: "true", timeout });
      expect(spy.mock.calls.map(([, delayMs]) => delayMs)).toContain(expectedMs);
    } finally {
      spy.mockRestore();
    }
  });
});
