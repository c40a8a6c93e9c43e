import { expect, test } from "bun:test";
import { AVAILABLE_FEATURES } from "../src/arguments/features.ts";
import { formatHelp } from "../src/arguments/help.ts";
import { OPTIONS, type Option, optionLabel } from "../src/arguments/option-table.ts";

test("help fits one screen of 80 columns", () => {
  const lines = formatHelp().split("\n");
  expect(lines.length).toBeLessThanOrEqual(40);
  expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(79);
});

test("help lists what works and nothing else", () => {
  const help = formatHelp();
  for (const option of OPTIONS as readonly Option[]) {
    const isListed = new RegExp(`(^|[\\s,])${optionLabel(option)}\\b`, "m").test(help);
    expect({ option: option.name, isListed }).toEqual({
      option: option.name,
      isListed: option.feature === undefined || AVAILABLE_FEATURES.has(option.feature),
    });
  }
});

test("an option appears in help once its feature is available", () => {
  expect(formatHelp(new Set())).not.toContain("--list");
  expect(formatHelp(new Set(["list"]))).toContain("-l, --list");
  expect(formatHelp(new Set(["doctor"]))).toContain("diligent doctor");
});
