import { expect, test } from "bun:test";
import { formatHelp } from "../src/arguments/help.ts";
import { OPTIONS, type Option, optionLabel } from "../src/arguments/option-table.ts";
import { SUBCOMMAND_PAGES } from "../src/arguments/subcommand-table.ts";

test("help fits one screen of 80 columns", () => {
  const lines = formatHelp().split("\n");
  expect(lines.length).toBeLessThanOrEqual(46);
  expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(79);
});

test("help lists every option and every subcommand", () => {
  const help = formatHelp();
  const options = OPTIONS.filter(
    (option: Option) => !new RegExp(`(^|[\\s,])${optionLabel(option)}\\b`, "m").test(help),
  );
  const subcommands = Object.entries(SUBCOMMAND_PAGES).filter(
    ([name, { about }]) => !new RegExp(`^ +diligent ${name} +${about}$`, "m").test(help),
  );
  expect([options, subcommands]).toEqual([[], []]);
});
