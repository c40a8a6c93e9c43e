import { afterEach, describe, expect, test } from "bun:test";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { moveAway } from "../../src/infrastructure/fs/move-away.ts";
import { makeKeptProject } from "../support/kept-project.ts";
import { asPlainUser, findPlainUserObstacle, giveToPlainUser } from "../support/plain-user.ts";
import { makeTempDir } from "../support/temp-dir.ts";
import { testUnless } from "../support/test-unless.ts";

const OTHER_DISK = "/dev/shm";

const hasOtherDisk =
  existsSync(OTHER_DISK) && statSync(OTHER_DISK).dev !== statSync(dirname(makeTempDir())).dev;
const diskObstacle = hasOtherDisk ? undefined : `${OTHER_DISK} is no other disk`;
const userObstacle = findPlainUserObstacle();

let elsewhere: string | undefined;

afterEach(() => {
  if (elsewhere !== undefined) rmSync(elsewhere, { recursive: true });
  elsewhere = undefined;
});

describe("a file that is moved away", () => {
  testUnless(userObstacle ?? diskObstacle)(
    "to another disk, and cannot be removed here, is reported in both places",
    () => {
      const top = makeTempDir();
      elsewhere = mkdtempSync(join(OTHER_DISK, "diligent-"));
      const [closed, target] = [join(top, ".claude", "x"), join(elsewhere, "quarantine", ".claude")];
      giveToPlainUser(top, elsewhere);
      asPlainUser(() => {
        mkdirSync(closed, { recursive: true });
        for (const name of ["x/b", "a"]) writeFileSync(join(top, ".claude", name), "CANARY\n");
        chmodSync(closed, 0o500);
        const place = moveAway(join(top, ".claude"), target);
        const [left = "", ...others] = readdirSync(top);
        expect([place, others]).toEqual([
          `${target}; what could not be removed of it is still in ${join(top, left)}`,
          [],
        ]);
        expect(left).toStartWith("moved-by-diligent-");
        expect(readdirSync(target, { recursive: true }).toSorted()).toEqual(["a", "x", "x/b"]);
        for (const path of [join(top, left, "x"), join(target, "x")]) chmodSync(path, 0o700);
      });
    },
  );

  testUnless(diskObstacle)(
    "stays beside its original path if another disk would have to hold much of it",
    () => {
      const top = makeTempDir();
      elsewhere = mkdtempSync(join(OTHER_DISK, "diligent-"));
      const target = join(elsewhere, "quarantine");
      for (const name of [".env", ".claude/huge"]) {
        mkdirSync(dirname(join(top, name)), { recursive: true });
        writeFileSync(join(top, name), "");
        truncateSync(join(top, name), 80 * 1024 * 1024);
      }
      const places = [".env", ".claude"].map((name) => moveAway(join(top, name), join(target, name)));
      expect(places.toSorted()).toEqual(
        readdirSync(top)
          .map((name) => join(top, name))
          .toSorted(),
      );
      expect(places.every((place) => place?.startsWith(join(top, "moved-by-diligent-")))).toBe(true);
      expect(readdirSync(target)).toEqual([]);
    },
  );

  test("does not replace one that was moved there before", () => {
    const top = makeTempDir();
    const [path, target] = [join(top, ".claude"), join(top, "quarantine", ".claude")];
    for (const directory of [path, target]) mkdirSync(directory, { recursive: true });
    writeFileSync(join(target, "earlier"), "");
    expect(moveAway(path, target)).toStartWith(join(top, "moved-by-diligent-"));
    expect(readdirSync(target)).toEqual(["earlier"]);
  });

  testUnless(userObstacle)("leaves its directory with the previous permissions", () => {
    const top = makeTempDir();
    const [directory, target] = [join(top, "a"), join(top, "quarantine", "a", "CLAUDE.md")];
    mkdirSync(directory);
    writeFileSync(join(directory, "CLAUDE.md"), "CANARY\n");
    chmodSync(directory, 0o2555);
    giveToPlainUser(top, directory, join(directory, "CLAUDE.md"));
    if (process.geteuid?.() === 0) chmodSync(directory, 0o2555);
    asPlainUser(() => expect(moveAway(join(directory, "CLAUDE.md"), target)).toBe(target));
    expect([readdirSync(directory), readdirSync(dirname(target))]).toEqual([[], ["CLAUDE.md"]]);
    expect((statSync(directory).mode & 0o777).toString(8)).toBe("555");
  });

  test("with thousands of others is reported in a few lines, and stored in one directory", async () => {
    const place = makeKeptProject();
    for (let count = 0; count < 500; count += 1) mkdirSync(place.at(`d${count}`));
    const notes = await place.run(() => {
      for (let count = 0; count < 500; count += 1) writeFileSync(place.at(`d${count}/CLAUDE.md`), "CANARY\n");
    });
    expect([notes.length, place.told.length]).toEqual([6, 6]);
    expect(place.told.at(-1)).toStartWith(
      "495 more files and directories of this kind were created, and moved to",
    );
    expect(notes.join("\n").length).toBeLessThan(3_000);
    const [directory = "", ...others] = readdirSync(place.quarantine);
    expect([readdirSync(join(place.quarantine, directory)).length, others]).toEqual([500, []]);
  });
});
