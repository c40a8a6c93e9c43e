import { expect, test } from "bun:test";
import { historyItems } from "../../../src/tui/pickers/history.ts";

test("earlier prompts are items of one line with date and directory, found by their whole text", () => {
  const entries = [
    { time: "2026-11-20T10:00:00.000Z", cwd: "/work/a", text: "first line\n\tsecond \x1b[31mline" },
    { time: "nonsense", cwd: "/b", text: "x".repeat(300) },
  ];
  expect(historyItems(entries)).toEqual([
    {
      id: "0",
      label: "first line second \\x1b[31mline",
      detail: "2026-11-20 /work/a",
      searchText: "first line\n\tsecond \\x1b[31mline",
    },
    { id: "1", label: `${"x".repeat(199)}…`, detail: "/b", searchText: "x".repeat(300) },
  ]);
});

test("there are no items without earlier prompts", () => {
  expect(historyItems([])).toEqual([]);
});
