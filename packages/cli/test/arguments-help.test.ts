import { expect, test } from "bun:test";
import { formatHelp } from "../src/arguments/help.ts";
import { OPTIONS, type Option, optionLabel } from "../src/arguments/options.ts";
import { SUBCOMMAND_PAGES } from "../src/arguments/subcommands.ts";
import { EXIT_EVIDENCE, EXIT_FAILURE, EXIT_SUCCESS, EXIT_USAGE, RUN_EXIT_CODES } from "../src/errors.ts";

test("the help page is short and fits 80 columns", () => {
  const lines = formatHelp().split("\n");
  expect(lines.length).toBeLessThanOrEqual(70);
  expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(79);
});

test("the help page names every exit code, with one entry for all signals", () => {
  const [, listed = ""] = /^Exit codes: (.*)$/m.exec(formatHelp()) ?? [];
  const codes = [EXIT_SUCCESS, EXIT_FAILURE, EXIT_USAGE, EXIT_EVIDENCE, ...Object.values(RUN_EXIT_CODES)];
  const own = codes.filter((code) => code < 128).map(String);
  expect(listed.split(", ").map((part) => part.split(" ", 1)[0])).toEqual([
    ...[...new Set(own)].sort(),
    "128+N",
  ]);
});

test("the help page lists every option and every subcommand", () => {
  const help = formatHelp();
  const options = OPTIONS.filter(
    (option: Option) => !new RegExp(`(^|[\\s,])${optionLabel(option)}\\b`, "m").test(help),
  );
  const subcommands = Object.entries(SUBCOMMAND_PAGES).filter(
    ([name, { about }]) => !new RegExp(`^ +diligent ${name} +${about}$`, "m").test(help),
  );
  expect([options, subcommands]).toEqual([[], []]);
});
