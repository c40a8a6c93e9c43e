import { describe, expect, test } from "bun:test";
import type { Restoration } from "@diligent/core/light";
import { createUndoControl } from "../../src/commands/undo.ts";
import { describeRestoration } from "../../src/undo/describe.ts";
import { createProgressLines, ProgressLine } from "../../src/undo/progress-lines.ts";
import { FakeIo, FakeOutput } from "../support/fake-io.ts";

const NOTHING: Restoration = {
  ...{ move: "undo", restored: [], conflicts: [], notKept: [], failures: [] },
  ...{ wasCutOff: false, isDryRun: false },
};
const ONE: Restoration = { ...NOTHING, restored: [{ path: "a", how: "added" }] };
const HEAD = ["Undid the changes of the last prompt that changed files: one path.", "  + a"];

describe("describeRestoration()", () => {
  test("names files that were restored, but not in every respect", () => {
    const unlike = [
      { path: "a", isOwnerLost: true },
      { path: "b\n", isLinkLost: true, isOwnerLost: true },
    ];
    expect(describeRestoration({ ...ONE, unlike })).toEqual([
      ...HEAD,
      "Restored, but with a different owner or group:",
      "  ? a",
      "  ? b",
      "Restored, but no longer linked to their other names (hard links):",
      "  ? b",
    ]);
  });

  test("shows 20 paths of each list, and counts the rest", () => {
    const paths = Array.from({ length: 230 }, (_, index) => `file${index}`);
    const lines = describeRestoration({
      ...NOTHING,
      restored: paths.map((path) => ({ path, how: "changed" })),
      conflicts: paths.slice(0, 21).map((path) => ({ path, reason: "it was changed since" })),
    });
    expect(lines[0]).toBe("Undid the changes of the last prompt that changed files: 230 paths.");
    expect(lines.slice(1, 22)).toEqual([
      ...paths.slice(0, 20).map((path) => `  ± ${path}`),
      "  … and 210 more",
    ]);
    expect(lines.length).toBe(43);
    expect(lines.at(-1)).toBe("  … and 1 more");
  });

  test("names once what is never undone and what was not scanned", () => {
    const more = { touched: [".git", "sub/.git"], unseen: ["node_modules"] };
    expect(describeRestoration({ ...ONE, ...more })).toEqual([
      ...HEAD,
      "Also changed, but never undone: .git, sub/.git.",
      "Not scanned: node_modules; changes deep inside are kept.",
    ]);
  });

  test("names the value of a ref that somebody else has changed since, and how to keep it", () => {
    const [main, stash] = ["a".repeat(40), "b".repeat(40)];
    const displacedRefs = [
      { gitDirectory: ".git", ref: "refs/heads/main", hash: main },
      { gitDirectory: ".git", ref: "refs/stash", hash: stash },
      { gitDirectory: "my libs/sub.git", ref: "refs/tags/v1", hash: main },
    ];
    expect(describeRestoration({ ...ONE, displacedRefs })).toEqual([
      ...HEAD,
      `    main was at ${main} before: git branch NAME ${main} keeps it as a branch`,
      `    stash was at ${stash} before: git stash apply ${stash} applies it`,
      `    tags/v1 was at ${main} before: git --git-dir='my libs/sub.git' branch NAME ${main} keeps it as a branch`,
    ]);
  });

  test("combines the restored files of a repository into one line", () => {
    const paths = [".git/HEAD", ".git/refs/heads/main", "sub/.git/index", "x.git", "y"];
    const restored = paths.map((path) => ({ path, how: "added" as const }));
    expect(describeRestoration({ ...NOTHING, restored })).toEqual([
      "Undid the changes of the last prompt that changed files: 5 paths.",
      "  ± .git (2 paths of the repository)",
      "  ± sub/.git (one path of the repository)",
      "  + x.git",
      "  + y",
    ]);
  });

  test("of a stopped operation says that everything is as it was, and what is not", () => {
    expect(describeRestoration({ ...NOTHING, isStopped: true })).toEqual([
      "Stopped. All files are back as they were.",
    ]);
    const failures = [{ path: "a", reason: "no space" }];
    const next = (move: Restoration["move"]) =>
      describeRestoration({ ...NOTHING, move, isStopped: true, failures });
    expect(next("undo")).toEqual([
      "Stopped. All files are back as they were, except these:",
      "  ! a: failed: no space",
      "Failed files are tried again with the next redo.",
    ]);
    expect([next("redo").at(-1), next("jump").at(-1)]).toEqual([
      "Failed files are tried again with the next undo.",
      "Failed files are tried again with the next redo.",
    ]);
  });
});

describe("the progress of an undo", () => {
  const at = (done: number) => ({ doing: "restore" as const, done, total: 20_000 });

  test("is a line every two seconds if stderr may be a file", () => {
    let time = 0;
    const lines: string[] = [];
    const tell = createProgressLines(
      "redo",
      (line) => lines.push(line),
      () => time,
    );
    for (time = 0; time < 5_000; time += 500) tell(at(time));
    expect(lines).toEqual(["Redoing: 2,000 of 20,000 done…", "Redoing: 4,000 of 20,000 done…"]);
  });

  test("is one overwritten line of a terminal, never wider than it, and cleared at the end", () => {
    let time = 0;
    const output = Object.assign(new FakeOutput(true), { columns: 48 });
    const line = new ProgressLine("undo", output, () => time);
    line.show(at(1));
    expect(output.text).toBe("");
    time = 1_200;
    line.show(at(1_234));
    expect(output.text).toBe("\rUndoing: 1,234 of 20,000 done… (1 s · Ctrl+C to");
    output.text = "";
    line.clear();
    expect(output.text).toBe(`\r${" ".repeat(47)}\r`);
    line.clear();
    expect(output.text).toHaveLength(49);
  });
});

describe("Ctrl+C in diligent undo", () => {
  test.each([
    ["An undo", "undo", "diligent undo continues it, and diligent undo --redo reverts it"],
    ["A redo", "redo", "diligent undo --redo continues it, and diligent undo reverts it"],
  ] as const)(
    "stops it the first time, and prints the state the second time: %s",
    async (name, move, way) => {
      const io = new FakeIo();
      const control = createUndoControl(move, io);
      expect([control.signal.aborted, control.stoppedBy]).toEqual([false, undefined]);
      io.send("SIGINT");
      expect([control.signal.aborted, control.stoppedBy, io.stderr.text]).toEqual([true, "SIGINT", ""]);
      io.send("SIGINT");
      await io.stderr.flush();
      expect(io.stderr.text).toBe(
        `diligent: ${name} was interrupted: some files are as before it, others as after it. Until the session changes something again, ${way}.\n`,
      );
      expect(io.exits).toEqual([130]);
    },
  );

  test("pressed twice mentions no files if none was to be restored", async () => {
    const io = new FakeIo();
    createUndoControl("undo", io, true);
    io.send("SIGTERM");
    io.send("SIGTERM");
    await io.stderr.flush();
    expect([io.stderr.text, io.exits]).toEqual(["", [143]]);
  });

  test("is left to the system again afterwards", () => {
    const io = new FakeIo();
    createUndoControl("undo", io).end();
    expect(io.listenerCount).toBe(0);
  });
});
