import { expect, test } from "bun:test";
import type { StreamFunction } from "@diligent/core/run";
import { chooseSummarizer } from "../../core/src/harness/models.ts";

const wrap = (stream: StreamFunction) => stream;
const choose = (provider: string, model?: string) =>
  chooseSummarizer({ cwd: "/", config: { compaction: { model } }, model: { provider } }, wrap);

test("chooseSummarizer() returns the configured model, except for a scripted session", () => {
  expect(choose("anthropic", "haiku")).toBeFunction();
  expect(choose("scripted", "scripted/summaries.json")).toBeFunction();
  expect([choose("scripted", "haiku"), choose("anthropic")]).toEqual([undefined, undefined]);
});
