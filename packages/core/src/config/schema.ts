import { z } from "zod";
import type { PermissionRule } from "../tool/types.ts";
import {
  CompactionSettingsSchema,
  KnowledgeSettingsSchema,
  SessionSettingsSchema,
} from "./schema-context.ts";
import { ModelSettingSchema, ProviderSettingsSchema } from "./schema-provider.ts";
import { TerminalSettingsSchema } from "./schema-terminal.ts";
import { isUpdateUrl } from "./update-url.ts";

export type { PermissionRule };

const PermissionRuleSchema = z.strictObject({
  permission: z.enum(["read", "write", "execute"]).describe("What the rule is about."),
  pattern: z
    .string()
    .min(1)
    .describe("A glob over the path from the project root, or over a command's words joined by one space."),
  action: z.enum(["allow", "deny", "ask"]).describe("What happens."),
}) satisfies z.ZodType<PermissionRule>;

/** Absolute, or from the home directory; a relative one would mean another place in every project. */
const placePath = z
  .string()
  .refine((path) => /^(?:\/|~(?:\/|$))/.test(path), "has to be an absolute path, or begin with ~/");

const variableName = z
  .string()
  .regex(/^[A-Za-z_][A-Za-z0-9_]*$/, "has to be the name of an environment variable");

/** Everything a configuration file may hold. Whatever is not named here is an error, so that no typo passes unnoticed. */
export const DiligentConfigSchema = z.strictObject({
  $schema: z.string().optional().describe("The address of this schema, for editors."),
  model: z
    .string()
    .min(1)
    .optional()
    .describe('Id or alias of the model, such as "claude-sonnet-5-5", "sonnet" or "NAME/MODEL".'),
  effort: z
    .enum(["off", "low", "medium", "high", "xhigh", "max"])
    .optional()
    .describe("How hard the model thinks before it answers."),
  provider: ProviderSettingsSchema.optional().describe("Keys and addresses of the providers."),
  models: z
    .array(ModelSettingSchema)
    .optional()
    .describe("Models that are added to the known ones, or corrected."),
  maxTurns: z
    .number()
    .int()
    .positive()
    .optional()
    .describe("Model replies after which a run stops; unlimited by default."),
  maxRetries: z
    .number()
    .int()
    .nonnegative()
    .optional()
    .describe("Attempts after the first when a request fails for a reason that passes."),
  systemPrompt: z.string().optional().describe("Replaces diligent's own system prompt."),
  instructions: z
    .array(z.string())
    .optional()
    .describe("Further instructions for the model. Those of all files count, one after the other."),
  session: SessionSettingsSchema.optional().describe("How sessions begin."),
  knowledge: KnowledgeSettingsSchema.optional().describe("What is remembered across sessions."),
  compaction: CompactionSettingsSchema.optional().describe("How long conversations are shortened."),
  terminal: TerminalSettingsSchema.optional().describe("What the interactive screen does around itself."),
  approval: z
    .enum(["auto", "ask", "deny", "plan"])
    .optional()
    .describe(
      "What happens with what needs asking: it is done, you are asked, or it is refused; plan offers only what reads.",
    ),
  permissions: z
    .array(PermissionRuleSchema)
    .optional()
    .describe("Rules that refine what needs asking; the last one that matches counts."),
  sandbox: z
    .enum(["auto", "required", "off"])
    .optional()
    .describe("Run shell commands in a box: where the system has one, always, or never."),
  sandboxWritable: z
    .array(placePath)
    .optional()
    .describe("Further directories that boxed commands may write to. Taken from your own file only."),
  inheritEnvironment: z
    .array(variableName)
    .optional()
    .describe("Further environment variables that commands get from yours. Taken from your own file only."),
  updateUrl: z
    .string()
    .refine(
      isUpdateUrl,
      "has to be an https address (http on this machine), without a user name or password, such as https://host/latest",
    )
    .optional()
    .describe(
      'Where the screen and the line prompt ask once a day for the newest version: JSON with a "version". Nothing is asked without it. Taken from your own file only.',
    ),
});

/** A configuration, or one layer of it. What is left out is not set there. */
export type DiligentConfig = z.infer<typeof DiligentConfigSchema>;

/** A model that the user adds or corrects. */
export type ModelSetting = z.infer<typeof ModelSettingSchema>;

/** How providers are reached: keys, base URLs, and patience in milliseconds. */
export type ProviderSettings = z.infer<typeof ProviderSettingsSchema>;
