import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { resolvePaths } from "@diligent/core/light";
import type { Demo } from "./create-demo.ts";
import type { TestRun } from "./sample-tests.ts";
import { shellQuote } from "./shell-quote.ts";

/** The prompt that the script of the demonstration answers. */
export const DEMO_PROMPT =
  "A test of this project fails. Find out why, mend it, and make sure that all tests pass.";

/** Said before the prompt, on the screen and by lines. */
export const DEMO_INTRODUCTION = "A scripted model mends a bug with the real tools. No key, no network.";

/** Where everything is; `tests` is left out where nobody has run them. */
export function demoFacts({ project }: Demo, tests: TestRun | undefined): string[] {
  const verdict = tests ? describeTests(tests) : "not run: the demonstration did not get to its end";
  return [`Tests    ${verdict}`, `Project  ${project}`, `Session  ${findSession(project) ?? "not saved"}`];
}

/** How to go on with a model that is not scripted. */
export function demoContinuation({ project }: Demo): string[] {
  return [
    "Go on with a real model, with a key from https://console.anthropic.com/settings/keys:",
    "",
    `  cd ${shellQuote(project)} && ANTHROPIC_API_KEY=… diligent --continue`,
  ];
}

/** The one session that a fresh project can have. */
function findSession(project: string): string | undefined {
  const directory = resolvePaths(project).sessions;
  if (!existsSync(directory)) return undefined;
  const name = readdirSync(directory).find((file) => file.endsWith(".jsonl"));
  return name && join(directory, name);
}

function describeTests({ passed, summary }: TestRun): string {
  return `${passed ? "they pass" : "they DO NOT pass"}, checked once more with bun test: ${summary}`;
}
