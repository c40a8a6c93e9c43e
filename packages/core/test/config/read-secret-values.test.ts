import { expect, test } from "bun:test";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { readSecretValues } from "../../src/config/secret-values.ts";
import { makeTempDir } from "../support/temp-dir.ts";

const KEY = "sk-0123456789abcdef";

async function read(text: string, environment: Record<string, string> = {}, isProject = false) {
  const home = makeTempDir();
  const root = join(home, "project");
  const directory = isProject ? root : join(home, ".config", "diligent");
  for (const each of [root, directory]) mkdirSync(each, { recursive: true });
  writeFileSync(join(directory, "diligent.jsonc"), text);
  const values = readSecretValues(root, { HOME: home, ...environment });
  return values.map(({ value, placeholder }) => [placeholder, value]);
}

const local = (access: string) => `{ "provider": { "compatible": { "local": { ${access} } } } }`;

test("the keys of all providers in a file are found, each with the name of its provider", async () => {
  const text = `{
    "model": "a/b", // "apiKey": "not this one, it is a comment of another setting"
    "provider": {
      "anthropic": { "apiKey": "${KEY}-1" },
      "openai": { "baseUrl": "https://user:pass-word-1@host.test/v1", "apiKey": /* mine */
        "${KEY}-\\u0032" },
      "compatible": {
        "one": { "baseUrl": "https://one.test/v1", "models": [{ "id": "x" }], "apiKey": "${KEY}-3" },
        "two": { "baseUrl": "https://two.test/v1", "apiKey": "{env:TWO}" },
      },
    },
  }`;
  expect(await read(text, { TWO: `${KEY}-4` })).toEqual([
    ["[key of provider]", "not this one, it is a comment of another setting"],
    ["[key of anthropic]", `${KEY}-1`],
    ["[key of openai]", `${KEY}-2`],
    ["[key of openai]", "pass-word-1"],
    ["[key of one]", `${KEY}-3`],
    ["[key of two]", `${KEY}-4`],
  ]);
});

test("a key in the project's file is found, and one in the environment with its provider's name", async () => {
  const found = await read(
    `{ "provider": { "openai": { "apiKey": "${KEY}" } } }`,
    {
      ANTHROPIC_API_KEY: `${KEY}-2`,
      ANTHROPIC_BASE_URL: "no address",
    },
    true,
  );
  expect(found).toEqual([
    ["[key of anthropic]", `${KEY}-2`],
    ["[key of openai]", KEY],
    ["[value of ANTHROPIC_API_KEY]", `${KEY}-2`],
  ]);
});

test("a placeholder key of a local server is not a secret", async () => {
  expect(await read(local('"baseUrl": "http://localhost:1234/v1", "apiKey": "lm-studio"'))).toEqual([]);
  expect(await read(local('"baseUrl": "http://elsewhere.test/v1", "apiKey": "lm-studio"'))).toEqual([
    ["[key of local]", "lm-studio"],
  ]);
});

test.each([
  ["a quote is missing before it", `{ "model: "x", "provider": { "openai": { "apiKey": "${KEY}" } } }`],
  ["a brace is missing", `{ "provider": { "openai": { "apiKey": "${KEY}"`],
  ["it is text with other things", `hello "openai": { "apiKey" : "${KEY}" <<<<<<< HEAD`],
])("a key in a broken file is found: %s", async (_, text) => {
  expect(await read(text)).toEqual([["[key of openai]", KEY]]);
});

test.each([
  ['"a"/*"a"/**/'],
  ["/*"],
  ['"a" /*'],
  ['"a"/**/'],
  ['"a" // '],
  ['\\"'],
  ['"'],
  ['"apiKey":'],
  ['"apiKey":"'],
  ['"apiKey" /*'],
  ["//"],
  [" "],
])("a file of a megabyte of %j is read quickly", async (piece) => {
  expect(await read(`"a" ${piece.repeat(1_000_000 / piece.length)}`, {}, true)).toBeArray();
});

test("a missing file, and a directory in its place, contain no key", async () => {
  const home = makeTempDir();
  expect(readSecretValues(home, { HOME: home })).toEqual([]);
  mkdirSync(join(home, ".config", "diligent", "diligent.jsonc"), { recursive: true });
  expect(readSecretValues(home, { HOME: home })).toEqual([]);
});
