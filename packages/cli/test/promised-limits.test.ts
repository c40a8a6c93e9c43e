import { afterEach, beforeEach, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { CHECKPOINT_LIMITS } from "../../core/src/checkpoint/types.ts";
import { MAX_COPIED_OBJECT_BYTES } from "../../core/src/infrastructure/paths/git.ts";
import { runDiligent } from "./support/run-diligent.ts";
import { createTemporaryProject, type TemporaryProject } from "./support/temporary-project.ts";

const MB = 1024 ** 2;
const GB = 1024 ** 3;

let place: TemporaryProject;

beforeEach(() => {
  place = createTemporaryProject();
});

afterEach(() => place.remove());

test("the limits of undo match its help page and security.md", async () => {
  const { storeBytes, fileBytes, projectBytes, projectEntries, objectBytes, objectCount } = CHECKPOINT_LIMITS;
  expect([storeBytes, fileBytes, projectBytes, projectEntries]).toEqual([2 * GB, 50 * MB, GB, 200_000]);
  expect([objectBytes, objectCount, MAX_COPIED_OBJECT_BYTES]).toEqual([256 * MB, 100_000, 16 * MB]);
  const { stdout } = await runDiligent(place, ["undo", "--help"]);
  const help = stdout.replace(/\s+/g, " ");
  for (const promise of [
    "At most 2 GB is kept",
    "files above 50 MB",
    "projects with more than 200,000 files or 1 GB",
  ])
    expect(help).toContain(promise);
  const security = readFileSync(join(import.meta.dir, "../docs/security.md"), "utf8").replace(/\s+/g, " ");
  for (const promise of [
    "at most 2 GB for all projects",
    "files above 50 MB and unreadable files",
    "At most 256 MB and 100,000 smaller objects are copied",
    "Objects above 16 MiB",
  ])
    expect(security).toContain(promise);
});
