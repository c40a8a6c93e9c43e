import { afterAll, expect, test } from "bun:test";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { renewBundle } from "../../scripts/bundle.ts";

const directory = mkdtempSync(join(tmpdir(), "diligent-bundle-"));
afterAll(() => rmSync(directory, { recursive: true, force: true }));

test("a bundle replaces an earlier one and leaves other builds in the directory", async () => {
  const others = ["THIRD-PARTY.md", "diligent", "diligent-0.1.0.tgz", "diligent-darwin-arm64"];
  for (const name of others) writeFileSync(join(directory, name), name);
  const old = join(directory, "chunks", "old.js");
  mkdirSync(join(directory, "chunks"));
  writeFileSync(old, "");
  await renewBundle(directory);
  expect(readdirSync(directory).sort()).toEqual([...others, "assets", "chunks", "diligent.js"].sort());
  expect(existsSync(old)).toBe(false);
});
