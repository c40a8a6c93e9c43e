import { afterEach, beforeEach, expect, test } from "bun:test";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { CheckpointPlace } from "../support/checkpoint-place.ts";

const HOLDER = join(import.meta.dir, "..", "support", "hold-directory-lock.ts");

let place: CheckpointPlace;
beforeEach(() => {
  place = new CheckpointPlace();
});
afterEach(() => place.close());

/** Another diligent in the midst of an edit: `finish` lets it write. */
async function beginEdit(path: string, content: string) {
  const name = path.slice(path.lastIndexOf("/") + 1);
  const child = Bun.spawn([process.execPath, HOLDER, dirname(place.path(path)), name, content], {
    stdin: "pipe",
    stdout: "pipe",
  });
  const { value } = await child.stdout.getReader().read();
  expect(new TextDecoder().decode(value)).toBe("held\n");
  return async () => {
    child.stdin.write("\n");
    await child.stdin.end();
    expect(await child.exited).toBe(0);
  };
}

test.each(["a.txt", "deep/down/a.txt"])(
  "an undo waits for another process that is editing %s, and keeps that edit",
  async (path) => {
    mkdirSync(dirname(place.path(path)), { recursive: true });
    writeFileSync(place.path(path), "first\n");
    const session = place.open();
    await place.run(session, () => writeFileSync(place.path(path), "by the session\n"));
    const finish = await beginEdit(path, "by somebody else\n");
    let isDone = false;
    const undo = session.undo().finally(() => {
      isDone = true;
    });
    // An undo without anything in its way is done by then, many times over.
    await Bun.sleep(300);
    expect([isDone, readFileSync(place.path(path), "utf8")]).toEqual([false, "by the session\n"]);
    await finish();
    expect(await undo).toMatchObject({
      restored: [],
      conflicts: [{ path, reason: "it changed just now" }],
    });
    expect(readFileSync(place.path(path), "utf8")).toBe("by somebody else\n");
  },
);

test("an edit elsewhere does not delay an undo", async () => {
  mkdirSync(place.path("other"));
  writeFileSync(place.path("a.txt"), "first\n");
  const session = place.open();
  await place.run(session, () => writeFileSync(place.path("a.txt"), "by the session\n"));
  const finish = await beginEdit("other/b.txt", "by somebody else\n");
  expect(await session.undo()).toMatchObject({ restored: [{ path: "a.txt", how: "changed" }] });
  await finish();
});
