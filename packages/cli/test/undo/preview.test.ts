import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { openCheckpoints, type Restoration } from "@diligent/core/light";
import { setLastSign } from "../../../core/test/support/checkpoint-log.ts";
import { runUndo } from "../../src/commands/undo.ts";
import type { SignalName } from "../../src/io/io.ts";
import { planCutOff } from "../../src/undo/describe.ts";
import { FakeIo } from "../support/fake-io.ts";
import { createTemporaryProject, type TemporaryProject } from "../support/temporary-project.ts";

let place: TemporaryProject;
beforeEach(() => {
  place = createTemporaryProject();
});
afterEach(() => place.remove());

const read = () => readFileSync(join(place.project, "a.txt"), "utf8");

/** @param signMs the time between the change and the last sign of life of the process. */
async function leaveCutOff(signMs: number): Promise<void> {
  const path = place.write("a.txt", "one\n");
  const environment = { HOME: place.home };
  const checkpoints = await openCheckpoints({ root: place.project, environment, sessionId: "one" });
  await checkpoints.beforeChanges({ isFirst: true, notify() {} });
  place.write("a.txt", "two\n");
  checkpoints.close();
  const state = join(place.home, ".local/state/diligent/checkpoints");
  setLastSign(state, '"open"', statSync(path).ctimeMs + signMs);
}

/** A terminal at which nobody answers, but a signal is sent as soon as there is a listener. */
class SignallingIo extends FakeIo {
  override readonly onSignal: FakeIo["onSignal"];

  constructor(signal?: SignalName) {
    super();
    let isSent = signal === undefined;
    const listen = new FakeIo().onSignal;
    this.onSignal = (listener) => {
      const end = listen(listener);
      if (!isSent && signal) listener(signal);
      isSent = true;
      return end;
    };
    this.cwd = place.project;
    this.environment = { HOME: place.home };
    this.stdin = { isTerminal: false, stream: () => new ReadableStream<Uint8Array>() };
  }
}

describe("diligent undo --cut-off", () => {
  for (const [signal, code] of [["SIGINT", 130] as const, ["SIGTERM", 143] as const])
    test(`stopped by ${signal} during the scan undoes nothing`, async () => {
      await leaveCutOff(100);
      const io = new SignallingIo(signal);
      expect(await runUndo(["--cut-off"], io)).toBe(code);
      expect([read(), io.stdout.text]).toEqual(["two\n", "Stopped. All files are back as they were.\n"]);
      const again = new SignallingIo(signal);
      expect(await runUndo(["--cut-off", "--json"], again)).toBe(code);
      expect(JSON.parse(again.stdout.text)).toMatchObject({ restored: [], isStopped: true });
      expect(read()).toBe("two\n");
    });

  test("asks if a file would be changed", async () => {
    await leaveCutOff(100);
    await expect(runUndo(["--cut-off"], new SignallingIo())).rejects.toThrow("Undo that?");
    expect(read()).toBe("two\n");
  });

  test("asks nothing if no file would be changed, and the turn counts as handled", async () => {
    await leaveCutOff(-1_000);
    const io = new SignallingIo();
    expect(await runUndo(["--cut-off"], io)).toBe(1);
    expect(io.stdout.text.split("\n").slice(0, 2)).toEqual([
      "Undid the interrupted turn: no files.",
      "  ! a.txt: changed after the run was cut off; left unchanged",
    ]);
    const again = new SignallingIo();
    expect(await runUndo(["--cut-off"], again)).toBe(0);
    expect([read(), again.stdout.text]).toEqual([
      "two\n",
      "No session of this project has anything to undo.\n",
    ]);
  });
});

test("also counts as stopped if the scan had just ended", async () => {
  const abort = new AbortController();
  const planned: Restoration = {
    ...{ move: "undo", restored: [{ path: "a", how: "removed" }], failures: [], notKept: [] },
    ...{ conflicts: [{ path: "b", reason: "changed since" }], wasCutOff: true, isDryRun: true },
  };
  const undo = async () => {
    abort.abort();
    return planned;
  };
  expect(await planCutOff(undo, { signal: abort.signal })).toEqual({
    next: "stop",
    planned: {
      ...{ move: "undo", restored: [], conflicts: [], notKept: [], failures: [] },
      ...{ wasCutOff: false, isStopped: true, isDryRun: false },
    },
  });
});
