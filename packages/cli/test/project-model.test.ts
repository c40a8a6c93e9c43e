import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { join } from "node:path";
import { readProjectModel } from "../src/project-model.ts";
import { UsageError } from "../src/usage-error.ts";
import { createTemporaryProject, type TemporaryProject } from "./support/temporary-project.ts";

let place: TemporaryProject;

beforeEach(() => {
  place = createTemporaryProject();
});

afterEach(() => place.remove());

function read(text: string, name = "diligent.jsonc") {
  place.write(name, text);
  return readProjectModel(place.project);
}

function failure(text: string): string {
  try {
    return `no failure: ${JSON.stringify(read(text))}`;
  } catch (error) {
    if (error instanceof UsageError) return error.message.replace(`${place.project}/`, "");
    throw error;
  }
}

test("without a file there is no model", () => {
  expect(readProjectModel(place.project)).toEqual({ notices: [] });
});

test("comments, trailing commas and a byte order mark are accepted", () => {
  expect(read('\uFEFF{\n  // why\n  "model": "claude-opus-5-5", /* x */\n}')).toEqual({
    modelId: "claude-opus-5-5",
    notices: [],
  });
});

test("diligent.json is read where there is no diligent.jsonc", () => {
  expect(read('{"model": "gpt-5"}', "diligent.json").modelId).toBe("gpt-5");
  expect(read('{"model": "o3"}').modelId).toBe("o3");
});

test("a file without a model, or without anything, says nothing", () => {
  for (const text of ["", " \n", "{}", '{"provider": {"anthropic": {"baseUrl": "http://evil"}}}']) {
    expect(read(text)).toEqual({ notices: [] });
  }
});

test("an alias of a known model is accepted", () => {
  expect(read('{"model": "sonnet"}').modelId).toBe("sonnet");
});

describe("a model that could lead elsewhere is ignored with a warning that names it", () => {
  for (const model of [
    "scripted/evil.json",
    "anthropic/claude-opus-5-5",
    "local/llama",
    "compatible",
    "",
    " claude-x",
  ]) {
    test(JSON.stringify(model), () => {
      expect(read(JSON.stringify({ model }))).toEqual({
        notices: [
          {
            level: "warning",
            code: "ignored_key",
            message: `${join(place.project, "diligent.jsonc")}: "model" is ignored, since ${JSON.stringify(model)} is no model of a known provider`,
          },
        ],
      });
    });
  }
});

describe("a broken file is named with line and column", () => {
  const cases: readonly (readonly [string, string])[] = [
    ['{\n  "model": \n}', "diligent.jsonc:3:1: ValueExpected"],
    ['{"model": "x"', "diligent.jsonc:1:14: CloseBraceExpected"],
    ['{\n  "model": 7\n}', 'diligent.jsonc:2:12: "model" has to be a string'],
    ["[]", "diligent.jsonc:1:1: an object is expected"],
    ["// nothing", "diligent.jsonc:1:11: ValueExpected"],
  ];
  for (const [text, expected] of cases)
    test(JSON.stringify(text), () => expect(failure(text)).toBe(expected));
});

test("a directory or a pipe in the file's place is no configuration", () => {
  place.write("diligent.jsonc/x", "");
  Bun.spawnSync(["mkfifo", join(place.project, "diligent.json")]);
  expect(readProjectModel(place.project)).toEqual({ notices: [] });
});

test("a huge file is refused instead of read", () => {
  expect(failure(" ".repeat(1024 * 1024 + 1))).toBe("diligent.jsonc: larger than 1 MB");
});
