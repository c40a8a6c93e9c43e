import { describe, expect, test } from "bun:test";
import { configJsonSchema, type DiligentConfig, DiligentConfigSchema } from "../../src/config/schema.ts";
import { DEFAULT_CONFIG } from "../../src/config/settings.ts";
import { findKnownNames } from "../../src/config/validate.ts";
import { nearestName } from "../../src/infrastructure/nearest-name.ts";
import { DEFAULT_MODEL } from "../../src/provider/models.ts";

const EVERYTHING: DiligentConfig = {
  $schema: "https://example.com/diligent.schema.json",
  model: "claude-sonnet-5-5",
  effort: "high",
  provider: {
    anthropic: { apiKey: "a", baseUrl: "https://anthropic.example", idleTimeoutMs: 1 },
    openai: { apiKey: "b", baseUrl: "http://127.0.0.1:8080/v1", idleTimeoutMs: 60_000 },
    compatible: {
      "qwen2.5_local-1": {
        baseUrl: "http://localhost:11434/v1",
        apiKey: "c",
        idleTimeoutMs: 5,
        models: ["llama3", { id: "qwen", aliases: ["q"], contextWindow: 8_192, thinking: "none" }],
      },
    },
  },
  models: [
    {
      id: "claude-next",
      provider: "anthropic",
      aliases: ["next"],
      contextWindow: 1_000_000,
      maxOutputTokens: 64_000,
      inputCostPer1M: 0,
      outputCostPer1M: 1.5,
      cacheReadCostPer1M: 0.1,
      cacheWriteCostPer1M: 2,
      thinking: "adaptive",
    },
  ],
  maxTurns: 20,
  maxRetries: 0,
  systemPrompt: "",
  instructions: ["Use tabs."],
  session: { autoResume: true },
  record: true,
  knowledge: { enabled: false, nudgeInterval: 5, injectionBudget: 4_096, flushBeforeCompaction: true },
  compaction: {
    enabled: true,
    reserveTokens: 16_384,
    keepRecentTokens: 20_000,
    model: "haiku",
    pruning: {
      enabled: true,
      softTrimChars: 4_000,
      softTrimHead: 0,
      softTrimTail: 1_500,
      hardClearAfter: 6,
      keepLast: 0,
      minimumTokens: 20_000,
    },
  },
  terminal: { title: false, notify: "bell" },
  agents: {
    explore: { model: "haiku", maxTurns: 30 },
    tester: { description: "Tests.", prompt: "Test.", tools: ["bash"], effort: "low" },
    reviewer: false,
  },
  hooks: { PreToolUse: [{ matcher: "Bash", hooks: [{ type: "command", command: "guard.sh" }] }] },
  agentLimits: { maxParallel: 2, maxDepth: 1, maxPerSession: 10 },
  approval: "ask",
  rules: { "never-push": false, own: "never use sudo" },
  checks: [{ name: "smoke tests", command: "./smoke *", kind: "tests" }],
  permissions: [{ permission: "execute", pattern: "npm test*", action: "allow" }],
  extensions: ["extensions/words.ts"],
  sandbox: "required",
  sandboxNetwork: { allow: ["packages", "*.example.com", "10.0.0.5:80"] },
  formatters: { prettier: { command: ["prettier", "--write", "$FILE"], extensions: [".ts", "css"] } },
  lsp: { zig: { command: ["zls"], extensions: [".zig"] }, yaml: false },
  webSearch: true,
  sandboxWritable: ["/var/cache/x", "~/.cache/y", "~"],
  mcpServers: {
    local: {
      type: "stdio",
      command: "npx",
      args: ["-y", "server"],
      env: { TOKEN: "{env:TOKEN}" },
      cwd: "tools",
      enabled: true,
      timeoutMs: 5_000,
      sandbox: { write: ["out"], network: { allow: ["example.com"] } },
      trusted: true,
      sampling: false,
      protocol: "legacy",
    },
    web: {
      type: "http",
      url: "https://example.com/mcp",
      headers: { Authorization: "x" },
      oauth: {
        clientId: "a",
        clientSecret: "b",
        scope: "c",
        callbackPort: 4_000,
        clientMetadataUrl: "https://example.com/client",
      },
    },
  },
  inheritEnvironment: ["DATABASE_URL"],
  updateUrl: "https://registry.example/diligent/latest",
  budget: { day: 5, project: 200 },
  secrets: { mask: true, allow: ["an-example-of-a-key"] },
  history: { index: true, sources: ["claude-code", "codex", "pi", "opencode", "gemini"] },
};

describe("DiligentConfigSchema", () => {
  test("accepts every setting, and an empty configuration", () => {
    expect(DiligentConfigSchema.parse(EVERYTHING)).toEqual(EVERYTHING);
    expect(DiligentConfigSchema.parse({})).toEqual({});
  });

  test("rejects unknown names on every level", () => {
    const unknown = [
      { modell: "x" },
      { provider: { azure: {} } },
      { provider: { anthropic: { url: "https://a" } } },
      { provider: { compatible: { x: { baseUrl: "http://a", key: "b" } } } },
      { provider: { compatible: { x: { baseUrl: "http://a", models: [{ id: "a", window: 1 }] } } } },
      { models: [{ id: "a", price: 1 }] },
      { session: { resume: true } },
      { knowledge: { on: true } },
      { compaction: { tokens: 1 } },
      { compaction: { pruning: { head: 1 } } },
      { permissions: [{ permission: "read", pattern: "*", action: "ask", reason: "x" }] },
    ];
    expect(unknown.filter((config) => DiligentConfigSchema.safeParse(config).success)).toEqual([]);
  });

  test("rejects invalid values", () => {
    const wrong = [
      null,
      [],
      { model: "" },
      { model: 5 },
      { model: null },
      { maxTurns: 0 },
      { maxTurns: 1.5 },
      { maxTurns: "3" },
      { maxRetries: -1 },
      { maxTurns: Number.POSITIVE_INFINITY },
      { approval: "yes" },
      { sandbox: true },
      { sandboxNetwork: "packages" },
      { sandboxNetwork: { allow: "a.example" } },
      { sandboxNetwork: { allow: ["https://a.example"] } },
      { sandboxNetwork: { allow: ["*"] } },
      { sandboxNetwork: { deny: [] } },
      { effort: "huge" },
      { instructions: "text" },
      { instructions: [1] },
      { provider: { openai: { baseUrl: "localhost:8080" } } },
      { provider: { openai: { baseUrl: "file:///etc/passwd" } } },
      { provider: { openai: { baseUrl: "https://" } } },
      { provider: { openai: { baseUrl: "https://a b" } } },
      { provider: { compatible: { "a/b": { baseUrl: "http://a" } } } },
      { provider: { compatible: { openai: { baseUrl: "http://a" } } } },
      { provider: { compatible: { scripted: { baseUrl: "http://a" } } } },
      { provider: { compatible: { a: {} } } },
      { models: [{ contextWindow: 5 }] },
      { models: [{ id: "a", inputCostPer1M: -1 }] },
      { permissions: [{ permission: "run", pattern: "*", action: "deny" }] },
      { permissions: [{ permission: "read", pattern: "", action: "deny" }] },
      { permissions: { permission: "read", pattern: "*", action: "deny" } },
      { sandboxWritable: ["build"] },
      { sandboxWritable: ["~other/x"] },
      { inheritEnvironment: ["A=B"] },
      { history: { sources: ["unknown"] } },
      { updateUrl: "" },
      { updateUrl: true },
      { updateUrl: "http://registry.example/latest" },
      { updateUrl: "http://127.0.0.1.example/latest" },
      { updateUrl: "https://somebody@registry.example/latest" },
      { updateUrl: "https://somebody:secret@registry.example/latest" },
      { updateUrl: "file:///etc/passwd" },
      { updateUrl: "https:registry.example" },
      { terminal: { title: "yes" } },
      { terminal: { notify: "loud" } },
      { terminal: { bell: true } },
    ];
    expect(wrong.filter((config) => DiligentConfigSchema.safeParse(config).success)).toEqual([]);
  });
});

describe("DEFAULT_CONFIG", () => {
  test("is a valid configuration whose model is the providers' default", () => {
    expect(DiligentConfigSchema.parse(DEFAULT_CONFIG)).toEqual(DEFAULT_CONFIG);
    expect(DEFAULT_CONFIG.model).toBe(DEFAULT_MODEL);
  });

  test("sets no number that depends on the model's window", () => {
    expect(DEFAULT_CONFIG.compaction?.reserveTokens).toBeUndefined();
    expect(DEFAULT_CONFIG.compaction?.keepRecentTokens).toBeUndefined();
    expect(DEFAULT_CONFIG.compaction?.pruning?.minimumTokens).toBeUndefined();
    expect(DEFAULT_CONFIG.knowledge?.injectionBudget).toBeUndefined();
  });
});

interface SchemaNode {
  description?: string;
  properties?: Record<string, SchemaNode>;
  additionalProperties?: SchemaNode | boolean;
  items?: SchemaNode;
  anyOf?: SchemaNode[];
}

function undescribed(node: SchemaNode, path: string): string[] {
  const members = Object.entries(node.properties ?? {}).flatMap(([name, child]) => [
    ...(child.description ? [] : [`${path}.${name}`]),
    ...undescribed(child, `${path}.${name}`),
  ]);
  const inner = [node.items, ...(node.anyOf ?? [])].filter((child) => child !== undefined);
  const extra = typeof node.additionalProperties === "object" ? [node.additionalProperties] : [];
  return [...members, ...[...inner, ...extra].flatMap((child) => undescribed(child, `${path}[]`))];
}

describe("configJsonSchema", () => {
  test("describes every setting and requires no top-level one", () => {
    const schema = configJsonSchema();
    expect(undescribed(schema, "")).toEqual([]);
    expect(schema).toMatchObject({
      $schema: "https://json-schema.org/draft/2020-12/schema",
      type: "object",
      additionalProperties: false,
      allowTrailingCommas: true,
    });
    expect(schema).not.toHaveProperty("required");
    expect(Object.keys(EVERYTHING).sort()).toEqual(Object.keys(schema.properties ?? {}).sort());
  });

  test("survives a JSON roundtrip", () => {
    expect(JSON.parse(JSON.stringify(configJsonSchema()))).toEqual(configJsonSchema());
  });
});

describe("known names", () => {
  test("are those of the object at a path", () => {
    expect(findKnownNames(["provider", "compatible", "any"])).toEqual([
      "baseUrl",
      "apiKey",
      "models",
      "idleTimeoutMs",
    ]);
    expect(findKnownNames(["permissions", 3])).toEqual(["permission", "pattern", "action"]);
    expect(findKnownNames(["no", "such", "path"])).toEqual([]);
  });

  test.each([
    ["modle", "model"],
    ["MODEL", "model"],
    ["maxTurn", "maxTurns"],
    ["permission", "permissions"],
    ["instructionss", "instructions"],
    ["x", undefined],
    ["temperature", undefined],
    ["", undefined],
  ])("%p is nearest to %p", (name, nearest) => {
    expect(nearestName(name, findKnownNames([]))).toBe(nearest);
  });
});
