import { expect, test } from "bun:test";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";

const PACKAGES = join(import.meta.dir, "..", "..");
const PAGE = readFileSync(join(PACKAGES, "cli", "docs", "security.md"), "utf8");

test("every source file that security.md names exists", () => {
  const named = [...PAGE.matchAll(/`(core|cli)\/([\w/.-]+)`/g)];
  const missing = named.filter(([, packageName = "", path = ""]) => {
    return !existsSync(join(PACKAGES, packageName, "src", path));
  });
  expect(named.length).toBeGreaterThan(20);
  expect(missing.map(([text]) => text)).toEqual([]);
});

test("every test file that security.md names exists", () => {
  const paragraphs = PAGE.split(/\n{2,}/).filter((text) => /^`(?:core|cli): /.test(text));
  const missing: string[] = [];
  let count = 0;
  for (const text of paragraphs) {
    let packageName = "";
    for (const [, prefix, name = ""] of text.matchAll(/`(?:(core|cli): )?([\w/-]+)`/g)) {
      packageName = prefix ?? packageName;
      count += 1;
      if (!existsSync(join(PACKAGES, packageName, "test", `${name}.test.ts`)))
        missing.push(`${packageName}: ${name}`);
    }
  }
  expect(count).toBeGreaterThan(20);
  expect(missing).toEqual([]);
});

test("the gates listed in security.md are exactly those of the policy", () => {
  const types = readFileSync(join(PACKAGES, "core", "src", "approval", "types.ts"), "utf8");
  const [union = ""] = /export type ApprovalGate =[\s\S]*?\n\n/.exec(types) ?? [];
  const gates = [...union.matchAll(/\| "(\w+)"/g)].map(([, gate = ""]) => gate);
  const rows = [...PAGE.matchAll(/^\| (`\w+`(?:, `\w+`)*) +\|/gm)].flatMap(([, cell = ""]) =>
    cell.split(", "),
  );
  expect(rows.map((cell) => cell.replaceAll("`", "")).sort()).toEqual(gates.toSorted());
});
