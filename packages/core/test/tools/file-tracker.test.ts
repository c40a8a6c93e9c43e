import { expect, test } from "bun:test";
import { createFileTracker } from "../../src/tools/workspace.ts";

const print = (modifiedNs: bigint, sha256?: string) => ({
  size: 1n,
  inode: 2n,
  modifiedNs,
  ...(sha256 && { sha256 }),
});

test("content decides if it is known, else size, time and inode", () => {
  const files = createFileTracker();
  expect(files.stateOf("/a", print(1n))).toBe("unknown");
  files.recordRead("/a", print(1n, "x"));
  expect(files.stateOf("/a", print(2n, "x"))).toBe("unchanged");
  expect(files.stateOf("/a", print(1n, "y"))).toBe("changed");
  files.recordRead("/b", print(1n));
  expect(files.stateOf("/b", print(1n, "x"))).toBe("unchanged");
  expect(files.stateOf("/b", print(2n, "x"))).toBe("changed");
});

test("read and modified files can be listed", () => {
  const files = createFileTracker();
  files.recordRead("/a", print(1n));
  files.recordModified("/b", print(1n));
  files.recordModified("/a", print(2n));
  expect([files.readFiles, files.modifiedFiles]).toEqual([["/a"], ["/b", "/a"]]);
  expect(files.stateOf("/a", print(2n))).toBe("unchanged");
});
