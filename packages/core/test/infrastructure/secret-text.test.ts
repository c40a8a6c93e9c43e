import { expect, test } from "bun:test";
import { findSecretText } from "../../src/infrastructure/text/unicode.ts";
import { BUSY_MS } from "../support/busy-machine.ts";

// Put together here, so that no search for leaked keys stumbles over this file.
const LETTERS = "abcdefghijklmnopqrstuvwxyz";

test.each([
  [`The key is sk-ant-api03-${LETTERS}`, "an API key (sk-…)"],
  [`sk-proj-${LETTERS}0123`, "an API key (sk-…)"],
  [`sk-${LETTERS}`, "an API key (sk-…)"],
  [`(sk-1234567890ab)`, "an API key (sk-…)"],
  [`ghp_${LETTERS}0123456789`, "a GitHub token"],
  [`github_pat_${LETTERS}`, "a GitHub token"],
  ["AKIA" + "IOSFODNN7EXAMPLE", "an AWS access key"],
  ["-----BEGIN RSA PRIVATE KEY-----\nMIIE", "a private key"],
  ["-----BEGIN OPENSSH PRIVATE KEY-----", "a private key"],
  [`glpat-${LETTERS}`, "a GitLab token"],
  [`xoxb-123456789012-${LETTERS}`, "a Slack token"],
  [`AIza${LETTERS}0123456`, "a Google API key"],
  [`sk_live_${LETTERS}`, "a Stripe key"],
  [`npm_${LETTERS}0123456789`, "a package registry token"],
  [`eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.abc`, "a signed token"],
  ["postgres://admin:hunter22@db.example.com/app", "a password in an address"],
  ["the api key is 0a1b2c3d4e5f6a7b8c9d", "a key or password"],
  ['password: "correct1horse2battery3"', "a key or password"],
])("%p contains %p", (text, expected) => {
  expect(findSecretText(text)).toBe(expected);
});

test.each([
  "task-1234567890abcdef and risk-assessment-2026-11-21 are names",
  "Keys look like sk-… and ghp_…; ANTHROPIC_API_KEY holds ours",
  "The API key is read from process.env.OPENAI_API_KEY in src/config2.ts",
  "The token is kept in packages/core/src/token-store-2/index.ts",
  "password: stored in the keychain",
  "http://localhost:8080/a@b and git@github.com:owner/repo.git",
  "-----BEGIN CERTIFICATE-----",
  "The secret is to use smaller functions",
])("%p contains none", (text) => {
  expect(findSecretText(text)).toBeUndefined();
});

test("a long hostile text is searched quickly", () => {
  const startedAt = performance.now();
  for (const piece of ["sk-", "a://b:", "token is ", "eyJaaaaaaaa.", "A"])
    findSecretText(piece.repeat(1_000));
  expect(performance.now() - startedAt).toBeLessThan(500 + BUSY_MS);
});
