import { describe, expect, test } from "bun:test";
import type { Restoration } from "@diligent/core/light";
import { createUndoControl } from "../src/commands/undo-control.ts";
import { describeRestoration } from "../src/undo/describe-restoration.ts";
import { createProgressLines, ProgressLine } from "../src/undo/progress-lines.ts";
import { FakeIo, FakeOutput } from "./support/fake-io.ts";

const NOTHING: Restoration = {
  ...{ move: "undo", restored: [], conflicts: [], notKept: [], failures: [] },
  ...{ wasCutOff: false, isDryRun: false },
};
const ONE: Restoration = { ...NOTHING, restored: [{ path: "a", how: "added" }] };
const HEAD = ["Took back the changes of the last prompt that made any: one path.", "  + a"];

describe("what came of it", () => {
  test("names what came back, but not in every way", () => {
    const unlike = [
      { path: "a", isOwnerLost: true },
      { path: "b\n", isLinkLost: true, isOwnerLost: true },
    ];
    expect(describeRestoration({ ...ONE, unlike })).toEqual([
      ...HEAD,
      "Restored, but with another owner or group than before:",
      "  ? a",
      "  ? b",
      "Restored, but no longer the same file as under its other names (hard links):",
      "  ? b",
    ]);
  });

  test("says once what was changed where nothing is taken back, and where nobody has looked", () => {
    const more = { touched: [".git", "sub/.git"], unseen: ["node_modules"] };
    expect(describeRestoration({ ...ONE, ...more })).toEqual([
      ...HEAD,
      "Changed too, and never taken back: .git, sub/.git.",
      "Not looked into: node_modules; what changed deep inside stays as it is.",
    ]);
  });

  test("of one that was stopped says that everything is as it was, and what is not", () => {
    expect(describeRestoration({ ...NOTHING, isStopped: true })).toEqual([
      "Stopped: every file is as it was before.",
    ]);
    const failures = [{ path: "a", reason: "no space" }];
    const next = (move: Restoration["move"]) =>
      describeRestoration({ ...NOTHING, move, isStopped: true, failures });
    expect(next("undo")).toEqual([
      "Stopped: every file is as it was before, but for these.",
      "  ! a: failed: no space",
      "What failed is tried again with the next redo.",
    ]);
    expect([next("redo").at(-1), next("jump").at(-1)]).toEqual([
      "What failed is tried again with the next undo.",
      "What failed is tried again with the next redo.",
    ]);
  });
});

describe("how far it has come", () => {
  const at = (done: number) => ({ doing: "restore" as const, done, total: 20_000 });

  test("is a line every two seconds where stderr may be a file", () => {
    let time = 0;
    const lines: string[] = [];
    const tell = createProgressLines(
      "redo",
      (line) => lines.push(line),
      () => time,
    );
    for (time = 0; time < 5_000; time += 500) tell(at(time));
    expect(lines).toEqual(["Bringing back: 2,000 of 20,000 done…", "Bringing back: 4,000 of 20,000 done…"]);
  });

  test("is one line of a terminal, written over, never wider than that, and cleared in the end", () => {
    let time = 0;
    const output = Object.assign(new FakeOutput(true), { columns: 48 });
    const line = new ProgressLine("undo", output, () => time);
    line.show(at(1));
    expect(output.text).toBe("");
    time = 1_200;
    line.show(at(1_234));
    expect(output.text).toBe("\rTaking back: 1,234 of 20,000 done… (1 s · Ctrl+");
    output.text = "";
    line.clear();
    expect(output.text).toBe(`\r${" ".repeat(47)}\r`);
    line.clear();
    expect(output.text).toHaveLength(49);
  });
});

describe("Ctrl+C in diligent undo", () => {
  test.each([
    ["An undo", "undo", "diligent undo goes on with it, and diligent undo --redo turns it round"],
    ["A redo", "redo", "diligent undo --redo goes on with it, and diligent undo turns it round"],
  ] as const)(
    "stops it the first time, and the second time says how it stands: %s",
    async (name, move, way) => {
      const io = new FakeIo();
      const control = createUndoControl(move, io);
      expect([control.signal.aborted, control.stoppedBy]).toEqual([false, undefined]);
      io.send("SIGINT");
      expect([control.signal.aborted, control.stoppedBy, io.stderr.text]).toEqual([true, "SIGINT", ""]);
      io.send("SIGINT");
      await io.stderr.flush();
      expect(io.stderr.text).toBe(
        `diligent: ${name} was cut off halfway: some files are as before it, others as after it. Until the session changes something again, ${way}.\n`,
      );
      expect(io.exits).toEqual([130]);
    },
  );

  test("twice says nothing of files where none was to be moved", async () => {
    const io = new FakeIo();
    createUndoControl("undo", io, true);
    io.send("SIGTERM");
    io.send("SIGTERM");
    await io.stderr.flush();
    expect([io.stderr.text, io.exits]).toEqual(["", [143]]);
  });

  test("is the system's again once it is over", () => {
    const io = new FakeIo();
    createUndoControl("undo", io).end();
    expect(io.listenerCount).toBe(0);
  });
});
