import { expect, test } from "bun:test";
import { explainSettings, isHalfCheckout } from "../../src/sandbox/box/explain.ts";

const BUSY = "Device or resource busy";

test("a file of a commit that could not be written is a checkout by half", () => {
  expect(isHalfCheckout(`error: unable to unlink old '.env': ${BUSY}\n`, "git checkout feat")).toBe(true);
  expect(isHalfCheckout(`error: unable to unlink old '.env': ${BUSY}\n`, "make")).toBe(false);
});

test("settings of a branch that could not be noted, and what is left in its place, are none", () => {
  const settings = `error: could not write config file .git/config: ${BUSY}\n`;
  expect(isHalfCheckout(`Switched to branch 'feat'\n${settings}`, "git checkout feat")).toBe(false);
  expect(explainSettings(settings)).toStartWith("a repository's settings (.git/config) cannot be written");
  const left = "warning: failed to remove .diligent: Read-only file system\n";
  expect(isHalfCheckout(left, "git reset --hard && git clean -fd")).toBe(false);
  expect(explainSettings(left)).toBeUndefined();
});

test("a file that the shell or another program of the line could not write is none of git's", () => {
  const line = "git checkout -q feat > /etc/log; cp a /etc/b";
  expect(isHalfCheckout("bash: line 1: /etc/log: Read-only file system\n", line)).toBe(false);
  expect(isHalfCheckout("cp: cannot create regular file '/etc/b': Read-only file system\n", line)).toBe(
    false,
  );
});

test("what git has done besides is not claimed", () => {
  const output = `error: could not lock config file .git/config: ${BUSY}\nfatal: cannot set up tracking\n`;
  expect(explainSettings(output)).not.toContain("else");
});

test("one among others is found", () => {
  const output = `error: could not write config file .git/config: ${BUSY}\nerror: unable to create file CLAUDE.md\n`;
  expect(isHalfCheckout(output, "git switch -c t --track origin/x")).toBe(true);
});
