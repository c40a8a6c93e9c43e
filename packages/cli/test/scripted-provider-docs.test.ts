import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { parseScript, scriptJsonSchema } from "@diligent/core/testing";
import { SCRIPT_SCHEMA_PATH } from "../scripts/write-script-schema.ts";

const page = readFileSync(join(import.meta.dir, "..", "docs", "scripted-provider.md"), "utf8");
const examples = [...page.matchAll(/^```json\n(.*?)^```$/gms)].map(([, example = ""]) => example);

test("scripted-provider.md has examples", () => {
  expect(examples.length).toBeGreaterThanOrEqual(3);
});

test.each(examples)("every example in scripted-provider.md is a valid script: %#", (example) => {
  expect(parseScript(example, "scripted-provider.md").version).toBe(1);
});

test("scripted-provider.md names every field of a script", () => {
  const missing = fieldNames(scriptJsonSchema()).filter(
    (name) => !page.includes(`\`${name}\``) && !page.includes(`"${name}"`),
  );
  expect(missing).toEqual([]);
});

/** The names under every `properties` of a JSON Schema. */
function fieldNames(schema: unknown): string[] {
  if (typeof schema !== "object" || schema === null) return [];
  return Object.entries(schema).flatMap(([key, value]) => [
    ...(key === "properties" ? Object.keys(value) : []),
    ...fieldNames(value),
  ]);
}

test("the published JSON Schema is up to date (packages/cli/scripts/write-script-schema.ts writes it)", () => {
  expect(JSON.parse(readFileSync(SCRIPT_SCHEMA_PATH, "utf8"))).toEqual(scriptJsonSchema());
});
