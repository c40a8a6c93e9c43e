import { describe, expect, test } from "bun:test";
import { chmodSync, mkdirSync, readdirSync, renameSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { ProtectedFileGuard } from "../../src/sandbox/protected-files/guard.ts";
import { ProtectedFileJournal } from "../../src/sandbox/protected-files/journal.ts";
import { recoverInterruptedSessions } from "../../src/sandbox/protected-files/recovery.ts";
import { ProtectedFileScanner } from "../../src/sandbox/protected-files/scan.ts";
import type { ProtectedFileScan } from "../../src/sandbox/protected-files/types.ts";
import { asPlainUser, findPlainUserObstacle, giveToPlainUser } from "../support/plain-user.ts";
import { makeTempDir } from "../support/temp-dir.ts";
import { testUnless } from "../support/test-unless.ts";

// Above what any system gives.
const DEAD = "4194999-1-00ff00.json";

/** One whose process dies before it writes. */
class DyingJournal extends ProtectedFileJournal {
  isDying = false;

  override keepScan(look: ProtectedFileScan): void {
    if (this.isDying) throw new Error("killed");
    super.keepScan(look);
  }
}

function createPlace() {
  const top = makeTempDir();
  const [root, directory, quarantine] = [join(top, "project"), join(top, "boxed"), join(top, "quarantine")];
  mkdirSync(root);
  const places = { roots: [root], gitDirectories: [] };
  const journal = new DyingJournal(directory, places);
  const put = (name: string) => writeFileSync(join(root, name), "mine\n");
  const look = () => new ProtectedFileScanner(places).scan();
  const keptUntilMs = () =>
    readdirSync(directory).map((name) => Math.floor(statSync(join(directory, name)).mtimeMs));
  const options = { ...places, directory, root, quarantine };
  return { ...options, top, journal, put, look, keptUntilMs };
}

/** More than can be kept. */
function withTooMany(look: ProtectedFileScan): ProtectedFileScan {
  const [file] = look.files.values();
  if (file === undefined) throw new Error("There is none.");
  const many = Array.from({ length: 2_001 }, (_, index) => `${file.path}-${index}`);
  return { ...look, files: new Map(many.map((path) => [path, { ...file, path }])) };
}

describe("the journal that a session keeps for a later one", () => {
  test("survives a process that dies before a command for that command only", async () => {
    const place = createPlace();
    const keeper = new ProtectedFileGuard(place);
    keeper.begin(() => []);
    keeper.finish(Promise.resolve());
    await Promise.resolve();
    const [restedAtMs = 0] = place.keptUntilMs();
    // Later than that on the coarsest clock that a file system here has.
    do place.put("CLAUDE.md");
    while (statSync(join(place.root, "CLAUDE.md")).ctimeMs <= restedAtMs + 2);
    place.journal.isDying = true;
    expect(() => keeper.begin(() => [])).toThrow("killed");
    const [name = ""] = readdirSync(place.directory);
    renameSync(join(place.directory, name), join(place.directory, DEAD));
    const told: string[] = [];
    recoverInterruptedSessions({ ...place, notify: (message) => told.push(message) });
    expect([readdirSync(place.root), told]).toEqual([["CLAUDE.md"], []]);
  });

  test("is removed if it would become too large", () => {
    const place = createPlace();
    place.put("CLAUDE.md");
    place.journal.keepScan(place.look());
    expect(place.keptUntilMs()).toHaveLength(1);
    place.journal.keepScan(withTooMany(place.look()));
    place.journal.rest();
    expect(place.keptUntilMs()).toEqual([]);
    place.journal.keepScan(place.look());
    expect(place.keptUntilMs()).toHaveLength(1);
  });

  test("stays if a scan is incomplete", () => {
    const place = createPlace();
    place.journal.keepScan(place.look());
    place.journal.keepScan({ ...place.look(), isComplete: false });
    expect(place.keptUntilMs()).toHaveLength(1);
  });

  test("is removed if the current state cannot be written", () => {
    const place = createPlace();
    place.journal.keepScan(place.look());
    const [name = ""] = readdirSync(place.directory);
    mkdirSync(join(place.directory, `${name}.draft`));
    place.put("CLAUDE.md");
    place.journal.extend();
    place.journal.keepScan(place.look());
    place.journal.rest();
    expect(readdirSync(place.directory)).toEqual([`${name}.draft`]);
  });

  testUnless(findPlainUserObstacle())("is ignored if it can be neither written nor removed", () => {
    const place = createPlace();
    giveToPlainUser(place.top, place.root);
    asPlainUser(() => {
      place.journal.keepScan(place.look());
      place.journal.extend();
      chmodSync(place.directory, 0o500);
      place.put("CLAUDE.md");
      place.journal.keepScan(place.look());
      place.journal.rest();
      expect(place.keptUntilMs()).toEqual([0]);
      expect(() => place.journal.end()).not.toThrow();
      chmodSync(place.directory, 0o700);
    });
  });
});
