import { z } from "zod";
import { DiligentConfigSchema } from "./schema.ts";

/**
 * The JSON Schema of a configuration file, for editors. `allowTrailingCommas` is Visual Studio Code's own keyword: our
 * files may have them.
 */
export function configJsonSchema(): Record<string, unknown> {
  const schema = z.toJSONSchema(DiligentConfigSchema, { io: "input" });
  return {
    ...schema,
    title: "diligent configuration",
    description: "diligent.jsonc, in a project's root or in your own configuration directory.",
    allowTrailingCommas: true,
  };
}
