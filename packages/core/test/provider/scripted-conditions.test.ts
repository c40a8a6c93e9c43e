import { expect, test } from "bun:test";
import { z } from "zod";
import { CompactionSettingsSchema } from "../../src/config/schema.ts";
import { conditionsSchema } from "../../src/provider/scripted/script.ts";

/** The names of all settings below a JSON Schema, such as `pruning.keepLast`. */
function settingsOf(schema: unknown, prefix = ""): string[] {
  const properties = z.object({ properties: z.record(z.string(), z.unknown()) }).safeParse(schema);
  if (!properties.success) return [prefix];
  return Object.entries(properties.data.properties).flatMap(([name, value]) =>
    settingsOf(value, prefix === "" ? name : `${prefix}.${name}`),
  );
}

test("a recording contains every setting under compaction except the summarizer, which a replay does not need", () => {
  const configured = settingsOf(z.toJSONSchema(CompactionSettingsSchema));
  const recorded = settingsOf(z.toJSONSchema(conditionsSchema.shape.compaction));
  expect(configured).toContain("pruning.keepLast");
  expect(recorded.toSorted()).toEqual(configured.filter((name) => name !== "model").sort());
});

test("its values have the same limits as the configuration", () => {
  const settings = {
    enabled: false,
    reserveTokens: 1,
    keepRecentTokens: 1,
    pruning: {
      enabled: false,
      softTrimChars: 1,
      softTrimHead: 0,
      softTrimTail: 0,
      hardClearAfter: 1,
      keepLast: 0,
      minimumTokens: 1,
    },
  };
  expect(CompactionSettingsSchema.parse(settings)).toEqual(settings);
  expect(conditionsSchema.parse({ compaction: settings })).toEqual({ compaction: settings });
});
