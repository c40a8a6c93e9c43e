import { expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { readKnownSecrets } from "../../../src/extensions/secrets/known-secrets.ts";
import { makeTempDir } from "../../support/temp-dir.ts";

const VALUE = "Zx8vQ2mT5xW9yB1nC4dF7gH0";
const LINE = "# a comment\n";

function readFrom(bytes: number) {
  const root = makeTempDir();
  const path = join(root, ".env");
  writeFileSync(path, `INTERNAL_ID=${VALUE}\n${LINE.repeat(bytes / LINE.length)}`);
  const warnings: string[] = [];
  const found = readKnownSecrets(root, { HOME: root }, (message) => warnings.push(message));
  return { path, warnings, found };
}

test("a known file of one megabyte is read as a whole", () => {
  expect(readFrom(1024 * 1024)).toMatchObject({ found: [VALUE], warnings: [] });
});

test("of a known file above 2 MB the beginning is read, and a warning names the file", () => {
  const { path, found, warnings } = readFrom(3 * 1024 * 1024);
  expect(found).toEqual([VALUE]);
  expect(warnings).toEqual([expect.stringContaining(`${path} is larger than 2 MB`)]);
});
