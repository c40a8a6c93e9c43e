import { resolve } from "node:path";
import type { AnySchema, ValidateFunction } from "ajv";
import { describeError, UsageError } from "../errors.ts";
import { endSummary, type RunSummary } from "./summary.ts";

/** How often the model is asked for an answer that matches. */
const MAX_REQUESTS = 3;
/** It is part of every request. */
const MAX_SCHEMA_BYTES = 256 * 1024;

/**
 * Reads the JSON Schema that answers must match: draft 2020-12, or the draft that its `$schema` names.
 * @param file relative to `cwd`.
 * @throws UsageError for a file that is not a usable schema.
 */
export async function readAnswerSchema(file: string, cwd: string): Promise<AnswerSchema> {
  try {
    const text = await readText(resolve(cwd, file));
    const schema: unknown = JSON.parse(text);
    if (typeof schema !== "object" || schema === null || Array.isArray(schema))
      throw new Error("it is not an object");
    return await createAnswerSchema(file, schema);
  } catch (error) {
    throw new UsageError(`--json-schema ${file}: ${describeError(error)}`);
  }
}

/** @param name of the schema, for messages. @throws Error for one that cannot be used. */
export async function createAnswerSchema(name: string, schema: object): Promise<AnswerSchema> {
  return new AnswerSchema(name, schema, await compile(schema));
}

async function readText(path: string): Promise<string> {
  const size = Bun.file(path).size;
  if (size > MAX_SCHEMA_BYTES) throw new Error(`it is larger than ${MAX_SCHEMA_BYTES / 1024} KB`);
  return await Bun.file(path).text();
}

async function compile(schema: AnySchema & object): Promise<ValidateFunction> {
  const draft = "$schema" in schema ? String(schema.$schema) : "";
  const options = { strict: false, validateFormats: false, logger: false } as const;
  const { default: Ajv } = /draft-0?[67]/.test(draft)
    ? await import("ajv")
    : draft.includes("2019-09")
      ? await import("ajv/dist/2019.js")
      : await import("ajv/dist/2020.js");
  return new Ajv(options).compile(schema);
}

/** Checks answers, and asks the model again for one that matches. */
export class AnswerSchema {
  constructor(
    private readonly file: string,
    private readonly schema: object,
    private readonly validate: ValidateFunction,
  ) {}

  /** For the system prompt. */
  get instruction(): string {
    return [
      "End with a message that consists only of a JSON value, without a code fence or other text. It must match this JSON Schema:",
      JSON.stringify(this.schema),
    ].join("\n");
  }

  /**
   * The summary with the answer as JSON and nothing else. An answer that does not match is asked for again.
   * @param run sends a prompt, and resolves with the summary after it.
   */
  async complete(first: RunSummary, run: (prompt: string) => Promise<RunSummary>): Promise<RunSummary> {
    let summary = first;
    for (let request = 1; ; request++) {
      // A run that was stopped, or failed, has no answer.
      if (summary.stopReason !== "end_turn" && summary.stopReason !== "approval")
        return { ...summary, result: "" };
      const answer = withoutFence(summary.result);
      const problem = this.findProblem(answer);
      if (problem === undefined) return { ...summary, result: answer };
      if (request === MAX_REQUESTS) {
        const message = `no answer in ${MAX_REQUESTS} requests matched ${this.file}: ${problem}`;
        return { ...endSummary(summary, "error", { name: "AnswerError", message }), result: "" };
      }
      summary = await run(
        `Your last message is not JSON that matches the schema: ${problem}. Send only the JSON value, without a code fence or other text.`,
      );
    }
  }

  private findProblem(answer: string): string | undefined {
    let value: unknown;
    try {
      value = JSON.parse(answer);
    } catch (error) {
      return describeError(error);
    }
    if (this.validate(value)) return undefined;
    const [error] = this.validate.errors ?? [];
    const place = error?.instancePath === "" ? "it" : error?.instancePath;
    const detail = error?.keyword === "additionalProperties" ? ` (${error.params.additionalProperty})` : "";
    return `${place} ${error?.message ?? "does not match"}${detail}`;
  }
}

/** Models put JSON into a code block, whatever they are told. */
function withoutFence(text: string): string {
  const [, inner] = /^\s*```(?:json)?\s*\n([\s\S]*?)\n\s*```\s*$/.exec(text) ?? [];
  return (inner ?? text).trim();
}
