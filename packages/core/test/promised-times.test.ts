import { afterEach, beforeEach, describe, expect, spyOn, test } from "bun:test";
import { endAllProcesses } from "../src/infrastructure/process/all-processes.ts";
import { IDLE_TIMEOUT_MS, LOCAL_IDLE_TIMEOUT_MS, withIdleWatchdog } from "../src/provider/idle-watchdog.ts";
import { createProviderStream, type Model } from "../src/provider/types.ts";
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

  /**
   * After how much silence something was said about it, in milliseconds.
   * @param keepsAlive the model for which the server sends a keep-alive before each check.
   */
  function watch(idleTimeoutMs?: number, keepsAlive?: Model): [what: string, afterMs: number][] {
    const seen: [string, number][] = [];
    const startedAtMs = clockMs;
    const server = createProviderStream();
    const silent = withIdleWatchdog(() => server, { idleTimeoutMs });
    const stream = silent(keepsAlive ?? TEST_MODEL, REQUEST, {});
    stream.subscribe(({ type }) => type !== "keep_alive" && seen.push([type, clockMs - startedAtMs]));
    stream.result().catch(() => {});
    while (seen.at(-1)?.[0] !== "error" && waiting) {
      clockMs = waiting.atMs;
      if (keepsAlive) server.push({ type: "keep_alive" });
      const { run } = waiting;
      waiting = undefined;
      run();
    }
    return seen;
  }

  test("is reported after 45 s and given up after 300 s", () => {
    const expected = [
      ["stall", 45_000],
      ["error", 300_000],
    ];
    expect<unknown>(watch()).toEqual(expected);
    expect<unknown>(watch(IDLE_TIMEOUT_MS)).toEqual(expected);
  });

  test("is given up just as early if it only keeps the connection alive, unless its model may be thinking", () => {
    expect<unknown>(watch(undefined, { ...TEST_MODEL, thinking: "none" })).toEqual([
      ["stall", 45_000],
      ["error", 300_000],
    ]);
    const [stall, end] = watch(undefined, { ...TEST_MODEL, thinking: "adaptive" });
    expect([stall?.[0], end?.[0]]).toEqual(["stall", "error"]);
    const [, endedAfterMs = 0] = end ?? [];
    // Half an hour of keep-alives, and the usual limit after the last one that counted.
    expect(endedAfterMs).toBeGreaterThanOrEqual(1_800_000);
    expect(endedAfterMs).toBeLessThanOrEqual(1_800_000 + 300_000 + 45_000);
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
