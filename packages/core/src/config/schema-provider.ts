import { z } from "zod";
import { isHttpUrl } from "./http-url.ts";

/** Names a model id may begin with that are not a compatible server's. */
const RESERVED_NAMES: readonly string[] = ["anthropic", "openai", "scripted"];

const apiKey = z
  .string()
  .optional()
  .describe(
    "The key. Taken from your own file only; better is the environment, or a text such as {env:MY_KEY}.",
  );

const baseUrl = z.string().refine(isHttpUrl, "has to be an address such as https://host/v1");

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
export const ModelSettingSchema = z.strictObject({
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
export const ProviderSettingsSchema = z.strictObject({
  anthropic: publicProvider("Anthropic"),
  openai: publicProvider("OpenAI"),
  compatible: z
    .record(compatibleName, compatibleServer)
    .optional()
    .describe("Compatible servers by a name of your choice; their models are used as NAME/MODEL."),
});
