import { expect, test } from "bun:test";
import { findSecretValues } from "../../src/config/secret-values.ts";

const found = (...args: Parameters<typeof findSecretValues>) =>
  findSecretValues(...args).map(({ value, placeholder }) => [placeholder, value]);

test("the keys of all providers in all layers are secrets, and so are passwords in their addresses", () => {
  const user = { provider: { anthropic: { apiKey: "sk-ant-from-file" } } };
  const environment = {
    provider: {
      anthropic: { apiKey: "sk-ant-from-env " },
      openai: { apiKey: "sk-openai", baseUrl: "https://me:hunter-22@proxy.test/v1" },
      compatible: {
        groq: { apiKey: "gsk_12345678", baseUrl: "https://api.groq.test/v1" },
        // What local servers are given for want of a key would be found in everyday texts.
        studio: { apiKey: "lm-studio", baseUrl: "http://localhost:1234/v1" },
        local: { apiKey: "secret-4711", baseUrl: "http://127.0.0.1:1234/v1" },
      },
    },
  };
  expect(found([user, environment, {}], {})).toEqual([
    ["[key of anthropic]", "sk-ant-from-file"],
    ["[key of anthropic]", "sk-ant-from-env"],
    ["[key of openai]", "sk-openai"],
    ["[key of openai]", "hunter-22"],
    ["[key of groq]", "gsk_12345678"],
    ["[key of local]", "secret-4711"],
  ]);
});

test("variables with names of secrets are secrets unless they contain a word, a number or a path", () => {
  const environment = {
    GITHUB_TOKEN: "ghp_abcdef",
    AWS_SECRET_ACCESS_KEY: "wJalrXUtnFEMI/K7MDENG",
    AWS_ACCESS_KEY_ID: "AKIAIOSFODNN7EXAMPLE",
    npm_config__authToken: "npm_12345678",
    DATABASE_URL: "postgres://app:s3cret-pass@db.test/app",
    SECRET_KEY_BASE: "0123456789abcdef",
    POSTGRES_PASSWORD: "postgres",
    SECRET_STAGE: "development-1",
    PIN_TOKEN: "12345678",
    SHORT_KEY: "abc-12",
    SSH_KEY: "/home/me/.ssh/id_ed25519",
    SSH_AUTH_SOCK: "/tmp/ssh-x/agent.1",
    PATH: "/usr/bin:/bin",
    HOMEPAGE: "https://example.test/a-long-path",
    EMPTY_TOKEN: "",
    MISSING_TOKEN: undefined,
  };
  expect(found([], environment)).toEqual([
    ["[value of GITHUB_TOKEN]", "ghp_abcdef"],
    ["[value of AWS_SECRET_ACCESS_KEY]", "wJalrXUtnFEMI/K7MDENG"],
    ["[value of AWS_ACCESS_KEY_ID]", "AKIAIOSFODNN7EXAMPLE"],
    ["[value of npm_config__authToken]", "npm_12345678"],
    ["[value of DATABASE_URL]", "s3cret-pass"],
    ["[value of SECRET_KEY_BASE]", "0123456789abcdef"],
  ]);
});
