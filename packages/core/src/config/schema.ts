import { z } from "zod";
import { findHostProblem } from "../infrastructure/network/network-setting.ts";
import { isHttpUrl, isLoopbackUrl } from "../infrastructure/urls.ts";
import type { PermissionRule } from "../tool/types.ts";
import type { CompactionSettings, PruningConditions } from "../types.ts";

/** Names before the slash of a model id that cannot be compatible servers. */
const RESERVED_NAMES: readonly string[] = ["anthropic", "openai", "scripted"];

const apiKey = z
  .string()
  .optional()
  .describe(
    "The API key. Read from your own file only; prefer an environment variable, or a text such as {env:MY_KEY}.",
  );

const baseUrl = z.string().refine(isHttpUrl, "must be an address such as https://host/v1");

const idleTimeoutMs = z
  .number()
  .int()
  .positive()
  .optional()
  .describe("Milliseconds without data after which an answer counts as broken off.");

const price = (what: string) =>
  z.number().nonnegative().optional().describe(`US dollars per million tokens ${what}.`);

const modelFields = {
  id: z.string().min(1).describe("The id that the server uses."),
  aliases: z.array(z.string().min(1)).optional().describe("Shorter names for this model."),
  contextWindow: z
    .number()
    .int()
    .positive()
    .optional()
    .describe("Tokens of a whole request including its answer."),
  maxOutputTokens: z.number().int().positive().optional().describe("Tokens of one answer."),
  inputCostPer1M: price("of input"),
  outputCostPer1M: price("of output"),
  cacheReadCostPer1M: price("read from the cache"),
  cacheWriteCostPer1M: price("written to the cache"),
  thinking: z
    .enum(["adaptive", "always", "budget", "none"])
    .optional()
    .describe("How the model thinks: adaptively, always, with a token budget, or not at all."),
};

/** A model that is added, or corrected if its id is known. */
const ModelSettingSchema = z.strictObject({
  ...modelFields,
  provider: z
    .string()
    .min(1)
    .optional()
    .describe('"anthropic", "openai" or the name of a compatible server; by default derived from the id.'),
});

const publicProvider = (vendor: string) =>
  z
    .strictObject({
      apiKey,
      baseUrl: baseUrl.optional().describe(`The address of ${vendor}'s API, if it is not ${vendor}'s own.`),
      idleTimeoutMs,
    })
    .optional()
    .describe(`The connection to ${vendor}.`);

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
      "The address of the server's Chat Completions API, such as http://localhost:11434/v1.",
    ),
    apiKey,
    models: z
      .array(z.union([z.string().min(1), z.strictObject(modelFields)]))
      .optional()
      .describe("The server's models: ids, or objects with limits and prices."),
    idleTimeoutMs,
  })
  .describe("A server with OpenAI's Chat Completions API, such as Ollama, llama.cpp, vLLM or a gateway.");

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

/** `session`: how a session starts. Editors show the descriptions, here and in the schemas below. */
const SessionSettingsSchema = z.strictObject({
  autoResume: isOn(
    "In a terminal, continue the project's most recent session instead of starting a new one. A run with -p starts a new one regardless; use --continue there.",
  ),
});

/** `knowledge`: what is remembered across sessions, and how much of it is in a prompt. */
const KnowledgeSettingsSchema = z.strictObject({
  enabled: isOn("Remember things about the project across sessions."),
  nudgeInterval: count(
    "Model replies without an add_knowledge call after which the model is reminded of it; by default never.",
  ),
  injectionBudget: count(
    "Tokens of knowledge in the system prompt; by default 8192, at most a tenth of the model's window.",
  ),
  flushBeforeCompaction: isOn(
    "Let the model record knowledge before a compaction, with one extra request if there is anything new; on by default.",
  ),
});

const PruningSettingsSchema = z.strictObject({
  enabled: isOn("Shorten old tool results in the model's context; the session file keeps them complete."),
  softTrimChars: count("Characters above which only the beginning and the end of an old result are kept."),
  softTrimHead: countOrNone("Characters kept from the beginning."),
  softTrimTail: countOrNone("Characters kept from the end."),
  hardClearAfter: count("Number of newer results after which an old one is replaced by a placeholder."),
  keepLast: countOrNone("Number of recent results that are never shortened."),
  minimumTokens: count(
    "Tokens that pruning must free at least; by default 20000, at most an eighth of the window.",
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

/** `compaction`: defaults depend on the model's window, see `toContextLimits`. */
export const CompactionSettingsSchema = z.strictObject({
  enabled: isOn(
    "Summarize the conversation when the model's window is nearly full; `pruning` works without it.",
  ),
  reserveTokens: count(
    "Tokens of the window that are kept free; by default 16384, at most a quarter of the window.",
  ),
  keepRecentTokens: count(
    "Tokens of the most recent conversation that are not summarized; by default 20000, at most a quarter of the window.",
  ),
  maxContextTokens: count(
    "Tokens of the model's window that are used, by default 200000; raise it to use more of a larger window. Long requests cost more, and models attend worse to what is in them.",
  ),
  model: z
    .string()
    .min(1)
    .optional()
    .describe("Id or alias of the model that writes summaries; by default the session's model."),
  pruning: PruningSettingsSchema.optional().describe("How old tool results are shortened."),
} satisfies Record<keyof CompactionSettings | "model", z.ZodType>);

/** `terminal`: notifications outside the screen's own lines. */
const TerminalSettingsSchema = z.strictObject({
  title: z
    .boolean()
    .optional()
    .describe("Show the project in the terminal's title, with a mark while a run is active; on by default."),
  notify: z
    .enum(["auto", "bell", "off"])
    .optional()
    .describe(
      "How to notify you in another window when a long turn ends or a question is waiting: with the terminal's own notification, with its bell, or not at all.",
    ),
});

/**
 * True for an address that may be used for update checks: https, or http on this machine, without a user name or
 * password.
 */
export function isUpdateUrl(text: string): boolean {
  const url = isHttpUrl(text) ? URL.parse(text) : null;
  if (url === null || url.username !== "" || url.password !== "") return false;
  return url.protocol === "https:" || isLoopbackUrl(text);
}

export type { PermissionRule };

const PermissionRuleSchema = z.strictObject({
  permission: z
    .enum(["read", "write", "execute", "fetch", "mcp"])
    .describe("The permission that the rule is about."),
  pattern: z
    .string()
    .min(1)
    .describe(
      "A glob over the path from the project root, or over a command's words joined by one space; for fetch, a host; for mcp, SERVER__TOOL.",
    ),
  action: z
    .enum(["allow", "deny", "ask", "try"])
    .describe("The decision; try runs a command in a view of the project and shows what it would change."),
}) satisfies z.ZodType<PermissionRule>;

const HistorySettingsSchema = z.strictObject({
  index: z
    .boolean()
    .optional()
    .describe("Whether diligent history may keep an index of all sessions; false removes it."),
  sources: z
    .array(z.enum(["claude-code", "codex", "pi", "opencode", "gemini"]))
    .optional()
    .describe("Other agents whose sessions are indexed; all by default, none with an empty list."),
});

/** Absolute, or relative to the home directory; a relative path would mean a different one in every project. */
const absolutePath = z
  .string()
  .refine((path) => /^(?:\/|~(?:\/|$))/.test(path), "must be an absolute path, or begin with ~/");

const networkHost = z.string().superRefine((text, context) => {
  const message = findHostProblem(text);
  if (message !== undefined) context.addIssue({ code: "custom", message });
});

const variableName = z
  .string()
  .regex(/^[A-Za-z_][A-Za-z0-9_]*$/, "must be the name of an environment variable");

/** A sub-agent: settings that are left out stay those of its definition; `false` removes it. */
const AgentSettingSchema = z.strictObject({
  description: z.string().min(1).optional().describe("When to use it; needed for a new one."),
  prompt: z.string().min(1).optional().describe("Its system prompt; needed for a new one."),
  model: z.string().min(1).optional().describe("Id or alias of its model; by default the session's."),
  effort: z.enum(["off", "low", "medium", "high", "xhigh", "max"]).optional().describe("How much it thinks."),
  maxTurns: count("Model replies after which it stops."),
  tools: z
    .array(z.string().min(1))
    .optional()
    .describe("Names of its tools, never more than the session's; * stands for any characters."),
});

/** `agentLimits`: how many sub-agents a session may have. */
const AgentLimitsSchema = z.strictObject({
  maxParallel: count("Sub-agents at the same time; by default 4."),
  maxDepth: z
    .number()
    .int()
    .min(0)
    .max(5)
    .optional()
    .describe("1, the default: sub-agents have none of their own; 0: there are none."),
  maxPerSession: count("Sub-agents of one session; by default 50."),
});

const networkSetting = z.union([
  z.enum(["off", "on"]),
  z.strictObject({
    allow: z
      .array(networkHost)
      .describe(
        "Hosts: example.com, *.example.com, example.com:8443, 10.0.0.5:80, or packages for the public package registries. Without a port, 80 and 443.",
      ),
  }),
]);

/** A server of the Model Context Protocol: a command (`stdio`), or an address. */
export const McpServerSchema = z
  .strictObject({
    type: z
      .enum(["stdio", "http", "sse"])
      .optional()
      .describe("How to reach it; by default stdio with a command, and http with a url."),
    command: z.string().min(1).optional().describe("The program that is the server."),
    args: z.array(z.string()).optional().describe("Its arguments."),
    env: z
      .record(variableName, z.string())
      .optional()
      .describe(
        "Its environment variables, besides a few harmless ones. Variables such as {env:NAME} are replaced.",
      ),
    cwd: z.string().min(1).optional().describe("Its working directory; by default the project's root."),
    url: z.string().min(1).optional().describe("The address of a server that is reached over HTTP."),
    headers: z.record(z.string(), z.string()).optional().describe("Headers of each request to that address."),
    enabled: z.boolean().optional().describe("false: the server is not used."),
    timeoutMs: count("Milliseconds for connecting, and for each call without progress; by default 60000."),
    sandbox: z
      .strictObject({
        write: z.array(z.string().min(1)).optional().describe("Directories that it may write to."),
        network: networkSetting.optional().describe("What it reaches; by default nothing."),
      })
      .optional()
      .describe("Run it in a sandbox of its own. A project's servers always run in one."),
    trusted: z
      .boolean()
      .optional()
      .describe("Its tools that are marked as read-only count as reading. Read from your own file only."),
    sampling: z
      .boolean()
      .optional()
      .describe("It may ask the model itself, with your approval. Read from your own file only."),
    oauth: z
      .strictObject({
        clientId: z.string().min(1).optional().describe("The id of a client that is registered already."),
        clientSecret: z.string().min(1).optional().describe("The secret of that client."),
        clientMetadataUrl: z
          .string()
          .optional()
          .describe("The https address of a client metadata document, which serves as the client's id."),
        scope: z.string().optional().describe("The scopes to ask for, separated by spaces."),
        callbackPort: z
          .number()
          .int()
          .min(1)
          .max(65_535)
          .optional()
          .describe("The port of the redirect address."),
      })
      .optional()
      .describe("How to sign in; most servers need no settings for it."),
    protocol: z
      .enum(["auto", "legacy", "2026-07-28"])
      .optional()
      .describe("The revision of the protocol; by default legacy with a command, and auto with a url."),
  })
  .describe("A server of the Model Context Protocol.");

/** A server as it is configured. */
export type McpServerSetting = z.infer<typeof McpServerSchema>;

/** All settings of a configuration file. Unknown names are errors, so that no typo goes unnoticed. */
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
    .describe("How much the model thinks before it answers."),
  provider: ProviderSettingsSchema.optional().describe("Keys and addresses of the providers."),
  models: z.array(ModelSettingSchema).optional().describe("Models to add to the known ones, or to correct."),
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
    .describe(
      "Retries after a request fails for a temporary reason. By default they end after five minutes in print mode, and when you press Esc otherwise.",
    ),
  systemPrompt: z.string().optional().describe("Replaces diligent's own system prompt."),
  instructions: z
    .array(z.string())
    .optional()
    .describe("Additional instructions for the model. The instructions of all files apply, in order."),
  session: SessionSettingsSchema.optional().describe("How sessions begin."),
  record: z
    .boolean()
    .optional()
    .describe(
      "Keep beside each session what diligent replay needs to run it again, up to 64 MB a session; off by default.",
    ),
  knowledge: KnowledgeSettingsSchema.optional().describe("What is remembered across sessions."),
  compaction: CompactionSettingsSchema.optional().describe("How long conversations are shortened."),
  terminal: TerminalSettingsSchema.optional().describe("Notifications and title of the interactive screen."),
  approval: z
    .enum(["ask", "accept-edits", "plan", "auto", "deny"])
    .optional()
    .describe(
      "What happens to requests that need approval: ask asks you; accept-edits also allows commands that only edit files of the project; plan allows only reading; auto allows them; deny refuses them.",
    ),
  permissions: z
    .array(PermissionRuleSchema)
    .optional()
    .describe("Rules for what needs approval; the last matching rule applies."),
  rules: z
    .record(z.string().min(1).max(80), z.union([z.string().min(1).max(1_000), z.literal(false)]))
    .optional()
    .describe(
      'Rules that calls of the model are held to, as sentences by a name of your choice, such as "never push"; false switches off the rule of an instruction file that has this name. Read from your own file only.',
    ),
  hooks: z
    .record(z.string(), z.unknown())
    .optional()
    .describe(
      "Programs that run at certain moments, as Claude Code writes them: event, matcher, command. Those of a project's file are added to yours once they are trusted.",
    ),
  agents: z
    .record(z.string().min(1).max(64), z.union([AgentSettingSchema, z.literal(false)]))
    .optional()
    .describe("Sub-agents by name: changes of those that there are, new ones, or false."),
  agentLimits: AgentLimitsSchema.optional().describe("How many sub-agents there may be."),
  sandbox: z
    .enum(["auto", "required", "off"])
    .optional()
    .describe("Run shell commands in a sandbox: if the system has one, always, or never."),
  checks: z
    .array(
      z.strictObject({
        name: z.string().min(1).describe("What it is called, such as unit tests."),
        command: z.string().min(1).describe("The command that runs it; * stands for any text."),
        kind: z.enum(["tests", "types", "lint", "build"]).describe("What it shows."),
      }),
    )
    .optional()
    .describe("Commands that check the project, besides those of common tools and scripts."),
  sandboxNetwork: networkSetting
    .optional()
    .describe(
      "What sandboxed commands reach: nothing, any public host, or the listed hosts; other hosts are asked about.",
    ),
  formatters: z
    .record(
      z.string().min(1),
      z.strictObject({
        command: z
          .array(z.string().min(1))
          .min(1)
          .describe(
            "A program with its arguments; $FILE stands for the file, which otherwise is the last argument.",
          ),
        extensions: z.array(z.string().min(1)).min(1).describe("The extensions of its files, such as .ts."),
      }),
    )
    .optional()
    .describe("Programs that run on each file that the model has edited, by a name of your choice."),
  lsp: z
    .union([
      z.literal(false),
      z.record(
        z.string().min(1).max(64),
        z.union([
          z.literal(false),
          z.strictObject({
            command: z
              .array(z.string().min(1))
              .min(1)
              .describe(
                "The program that is the server, with its arguments; it talks over stdin and stdout.",
              ),
            extensions: z
              .array(z.string().min(1))
              .min(1)
              .optional()
              .describe("The extensions of its files, such as .ts; needed for a new one."),
          }),
        ]),
      ),
    ])
    .optional()
    .describe(
      "Language servers by name, besides those found in PATH: a new one, another command for typescript, python, go, rust, json, yaml, css or html, or false. false in place of all: none is used.",
    ),
  webSearch: z
    .boolean()
    .optional()
    .describe(
      "Let the model search the web with Anthropic's or OpenAI's own tool, which the provider runs and charges for; off by default. Other servers have none.",
    ),
  sandboxWritable: z
    .array(absolutePath)
    .optional()
    .describe("Additional directories that sandboxed commands may write to. Read from your own file only."),
  inheritEnvironment: z
    .array(variableName)
    .optional()
    .describe("Additional environment variables that commands inherit. Read from your own file only."),
  mcpServers: z
    .record(z.string().min(1), McpServerSchema)
    .optional()
    .describe("Servers of the Model Context Protocol, by a name of your choice."),
  extensions: z
    .array(z.string().min(1))
    .optional()
    .describe(
      "TypeScript modules that add tools, commands, models and hooks: paths from your configuration directory, or from the project root in a project's file, whose extensions are used once you trust them.",
    ),
  budget: z
    .strictObject({
      day: z.number().positive().optional().describe("US dollars for a day, in all projects together."),
      project: z.number().positive().optional().describe("US dollars for each project."),
    })
    .optional()
    .describe("What all requests together may cost. Read from your own file only."),
  secrets: z
    .strictObject({
      mask: z
        .boolean()
        .optional()
        .describe(
          "False: values of the environment, of known files, and texts with the form of a key are neither masked in sessions nor in requests. True by default. The configured keys are always masked.",
        ),
      allow: z
        .array(z.string().min(1))
        .optional()
        .describe("Values that are no secrets although they look like some; literal texts."),
    })
    .optional()
    .describe("What is masked before it is saved or sent. Read from your own file only."),
  history: HistorySettingsSchema.optional().describe(
    "The index of diligent history, over the sessions of all projects. Read from your own file only.",
  ),
  updateUrl: z
    .string()
    .refine(
      isUpdateUrl,
      "must be an https address (http on this machine), without a user name or password, such as https://host/latest",
    )
    .optional()
    .describe(
      'Address that the screen and the line prompt query once a day for the newest version: JSON with a "version". Without it, nothing is queried. Read from your own file only.',
    ),
});

/** A configuration, or one layer of it. Missing settings are not set there. */
export type DiligentConfig = z.infer<typeof DiligentConfigSchema>;

/** A model that the user adds or corrects. */
export type ModelSetting = z.infer<typeof ModelSettingSchema>;

/** The connections to the providers: keys, base URLs, and timeouts in milliseconds. */
export type ProviderSettings = z.infer<typeof ProviderSettingsSchema>;

/**
 * The JSON Schema of a configuration file, for editors. `allowTrailingCommas` is a keyword of Visual Studio Code: our
 * files may contain them.
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
