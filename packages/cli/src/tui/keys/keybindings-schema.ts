import { allActions } from "./find-conflicts.ts";

/** The JSON Schema of `keybindings.json`, for editors; comments and trailing commas are allowed there. */
export function keybindingsJsonSchema(): Record<string, unknown> {
  const key = { type: "string", minLength: 1 };
  const properties = allActions().map(({ id, keys, label }) => [
    id,
    { description: label, default: keys, anyOf: [key, { type: "array", items: key }] },
  ]);
  return {
    $schema: "https://json-schema.org/draft/2020-12/schema",
    title: "diligent key bindings",
    description: "keybindings.json, in your own configuration directory: actions with their keys.",
    type: "object",
    properties: { $schema: { type: "string" }, ...Object.fromEntries(properties) },
    additionalProperties: false,
    allowTrailingCommas: true,
  };
}
