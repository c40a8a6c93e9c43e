import { z } from "zod";
import { isHttpUrl, isLoopbackUrl } from "../infrastructure/urls.ts";
import type { PermissionRule } from "../tool/types.ts";
import type { CompactionSettings, PruningConditions } from "../types.ts";

/** Names a model id may begin with that are not a compatible server's. */
const RESERVED_NAMES: readonly string[] = ["anthropic", "openai", "scripted"];

const apiKey = z
  .string()
  .optional()
  .describe(
    "The key. Taken from your own file only; better is the environment, or a text such as {env:MY_KEY}.",
  );

const baseUrl = z.string().refine(isHttpUrl, "must be an address such as https://host/v1");

const idleTimeoutMs = z
  .number()
  .int()
  .positive()
  .optional()
  .describe("Milliseconds without a sign of life after which an answer counts as broken off.");

const price = (what: string) =>
  z.number().nonnegative().optional().describe(`US dollars for a million tokens ${what}.`);

const modelFields = {
  id: z.string().min(1).describe("The id as the server knows it."),
  aliases: z.array(z.string().min(1)).optional().describe("Shorter names that mean this model."),
  contextWindow: z
    .number()
    .int()
    .positive()
    .optional()
    .describe("Tokens of a whole request with its answer."),
  maxOutputTokens: z.number().int().positive().optional().describe("Tokens of one answer."),
  inputCostPer1M: price("of input"),
  outputCostPer1M: price("of output"),
  cacheReadCostPer1M: price("read from the cache"),
  cacheWriteCostPer1M: price("written to the cache"),
  thinking: z
    .enum(["adaptive", "always", "budget", "none"])
    .optional()
    .describe("How the model takes thinking: it decides itself, always, by a token budget, or not at all."),
};

/** A model that is added, or corrected where its id is known already. */
const ModelSettingSchema = z.strictObject({
  ...modelFields,
  provider: z
    .string()
    .min(1)
    .optional()
    .describe('"anthropic", "openai" or the name of a compatible server; by default what the id says.'),
});

const publicProvider = (vendor: string) =>
  z
    .strictObject({
      apiKey,
      baseUrl: baseUrl.optional().describe(`Where ${vendor}'s API is reached; if not at ${vendor} itself.`),
      idleTimeoutMs,
    })
    .optional()
    .describe(`How to reach ${vendor}.`);

const compatibleName = z
  .string()
  .regex(
    /^[A-Za-z0-9][A-Za-z0-9._-]*$/,
    "a server's name is made of letters, digits, dots, dashes and underscores",
  )
  .refine((name) => !RESERVED_NAMES.includes(name), `a server cannot be named ${RESERVED_NAMES.join(", ")}`);

const compatibleServer = z
  .strictObject({
    baseUrl: baseUrl.describe(
      "Where the server's Chat Completions API is reached, such as http://localhost:11434/v1.",
    ),
    apiKey,
    models: z
      .array(z.union([z.string().min(1), z.strictObject(modelFields)]))
      .optional()
      .describe("The models it serves: ids, or objects that also say their limits and prices."),
    idleTimeoutMs,
  })
  .describe("A server that speaks OpenAI's Chat Completions, such as Ollama, llama.cpp, vLLM or a gateway.");

/** `provider`: the vendors' own services, and compatible servers by name. */
const ProviderSettingsSchema = z.strictObject({
  anthropic: publicProvider("Anthropic"),
  openai: publicProvider("OpenAI"),
  compatible: z
    .record(compatibleName, compatibleServer)
    .optional()
    .describe("Compatible servers by a name of your choice; their models are used as NAME/MODEL."),
});

const isOn = (what: string) => z.boolean().optional().describe(what);

const count = (what: string) => z.number().int().positive().optional().describe(what);

const countOrNone = (what: string) => z.number().int().nonnegative().optional().describe(what);

/** `session`: how one begins. The descriptions of keys are what editors show; so in the schemas below. */
const SessionSettingsSchema = z.strictObject({
  autoResume: isOn(
    "In a terminal, continue the project's most recent session instead of beginning a new one. A run with -p begins a new one all the same: there it is --continue.",
  ),
});

/** `knowledge`: what is kept across sessions, and how much of it a prompt gets. */
const KnowledgeSettingsSchema = z.strictObject({
  enabled: isOn("Remember things about the project across sessions."),
  nudgeInterval: count(
    "Model replies without a record of knowledge after which the model is reminded of it; by default never.",
  ),
  injectionBudget: count(
    "Tokens of knowledge in the system prompt; by default 8192, and at most a tenth of the model's window.",
  ),
  flushBeforeCompaction: isOn(
    "Let the model record knowledge before a compaction, with one extra request where there is anything new; on by default.",
  ),
});

const PruningSettingsSchema = z.strictObject({
  enabled: isOn("Shorten old tool results in what the model sees; the session file keeps them whole."),
  softTrimChars: count("Characters above which an old result keeps only its head and tail."),
  softTrimHead: countOrNone("Characters kept of its beginning."),
  softTrimTail: countOrNone("Characters kept of its end."),
  hardClearAfter: count("Results after which an older one is replaced by a placeholder."),
  keepLast: countOrNone("Most recent results that are never touched."),
  minimumTokens: count(
    "Tokens that have to be gained before anything is shortened; by default 20000, and at most an eighth of the window.",
  ),
  protectTokens: countOrNone(
    "Tokens of the most recent results that are never touched; by default 40000, and at most a quarter of the window.",
  ),
  startRatio: z
    .number()
    .min(0)
    .max(1)
    .optional()
    .describe("Share of the usable window below which nothing is shortened; by default 0.5."),
} satisfies Record<keyof PruningConditions, z.ZodType>);

/** `compaction`: what is left out depends on the model's window, see `toContextLimits`. */
export const CompactionSettingsSchema = z.strictObject({
  enabled: isOn("Summarize the conversation when the model's window runs full; `pruning` works without it."),
  reserveTokens: count(
    "Tokens of the window that are kept free; by default 16384, and at most a quarter of the window.",
  ),
  keepRecentTokens: count(
    "Tokens of the most recent conversation that are not summarised; by default 20000, and at most a quarter of the window.",
  ),
  maxContextTokens: count(
    "Tokens of the model's window that are used, by default 200000; raise it to use more of a larger window. Long requests cost more, and models attend worse to what is in them.",
  ),
  model: z
    .string()
    .min(1)
    .optional()
    .describe("Id or alias of the model that writes summaries; by default the one in use."),
  pruning: PruningSettingsSchema.optional().describe("How old tool results are shortened."),
} satisfies Record<keyof CompactionSettings | "model", z.ZodType>);

/** `terminal`: what the screen tells beyond its own lines. */
const TerminalSettingsSchema = z.strictObject({
  title: z
    .boolean()
    .optional()
    .describe(
      "Show the project in the terminal's title, with a mark while a run is active; true by default.",
    ),
  notify: z
    .enum(["auto", "bell", "off"])
    .optional()
    .describe(
      "What calls you back from another window when a long turn ends or a question waits: what the terminal is known to show, its bell, or nothing.",
    ),
});

/**
 * True for an address that may be asked for the newest version: https, or http on this machine, without a user's name or
 * a password in it.
 */
export function isUpdateUrl(text: string): boolean {
  const url = isHttpUrl(text) ? URL.parse(text) : null;
  if (url === null || url.username !== "" || url.password !== "") return false;
  return url.protocol === "https:" || isLoopbackUrl(text);
}

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
  .refine((path) => /^(?:\/|~(?:\/|$))/.test(path), "must be an absolute path, or begin with ~/");

const variableName = z
  .string()
  .regex(/^[A-Za-z_][A-Za-z0-9_]*$/, "must be the name of an environment variable");

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
    .enum(["ask", "accept-edits", "plan", "auto", "deny"])
    .optional()
    .describe(
      "What happens with what needs asking: you are asked; accept-edits also passes commands that only edit files of the project; plan offers only what reads; auto allows it; deny refuses it.",
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
      "must be an https address (http on this machine), without a user name or password, such as https://host/latest",
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
