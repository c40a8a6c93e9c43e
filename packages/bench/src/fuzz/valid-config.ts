/** A configuration with every kind of setting: what is damaged holds them all. */
export const VALID_CONFIG = {
  model: "local/m",
  effort: "high",
  maxTurns: 20,
  maxRetries: 2,
  systemPrompt: "Grüße, {env:NAME}.",
  instructions: ["One.", "Two: 日本語 🎉."],
  provider: {
    anthropic: { apiKey: "{env:KEY}" },
    compatible: { local: { baseUrl: "http://127.0.0.1:9/v1", models: ["m"] } },
  },
  models: [{ id: "local/m", contextWindow: 8_000, inputCostPer1M: 0.5 }],
  session: { autoResume: false },
  knowledge: { enabled: true, injectionBudget: 2_000 },
  compaction: { enabled: true, reserveTokens: 1_000, pruning: { keepLast: 2 } },
  terminal: { title: true, notify: "bell" },
  approval: "ask",
  permissions: [{ permission: "execute", pattern: "git *", action: "allow" }],
  sandbox: "auto",
  sandboxWritable: ["~/cache"],
  inheritEnvironment: ["LANG"],
  updateUrl: "https://registry.example/latest",
};
