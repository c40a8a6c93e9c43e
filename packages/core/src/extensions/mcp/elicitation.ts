import type { ElicitRequestParams, ElicitResult } from "@modelcontextprotocol/client";
import type { SessionScope } from "../../harness/types.ts";
import type { UserQuestion } from "../../types.ts";
import { toPlainText } from "./catalog.ts";

/** A question of a server. */
interface ServerQuestion {
  server: string;
  request: ElicitRequestParams;
  signal: AbortSignal;
}

// A server that asks more often in one minute does not want answers.
const MAX_QUESTIONS = 5;
const WINDOW_MS = 60_000;
const MAX_FIELDS = 20;
const MAX_TEXT_CHARS = 1_000;

const asked = new WeakMap<object, number[]>();

/**
 * Asks the user what a server wants to know, as a form or an address; declined where no user is present, and where a
 * server asks again and again.
 */
export async function answerElicitation(
  scope: Pick<SessionScope, "askUser"> | undefined,
  { server, request, signal }: ServerQuestion,
): Promise<ElicitResult> {
  const ask = scope?.askUser;
  if (!ask || !mayAsk(scope)) return { action: "decline" };
  const about = `The server ${toPlainText(server, 100)} asks: ${toPlainText(request.message, MAX_TEXT_CHARS)}`;
  if (request.mode === "url") return askToOpen(ask, about, { url: request.url, signal });
  const fields = toFields(request.requestedSchema);
  if (!fields) return { action: "decline" };
  const questions =
    fields.length === 0 ? [toConsent(about)] : fields.map((field) => toQuestion(field, about));
  const answers = await ask(questions, { signal });
  if (!answers) return { action: "cancel" };
  if (fields.length === 0) return { action: answers[0]?.[0] === YES ? "accept" : "decline" };
  const content = toContent(fields, answers);
  return content ? { action: "accept", content } : { action: "decline" };
}

type Ask = NonNullable<SessionScope["askUser"]>;

function mayAsk(scope: object): boolean {
  const now = performance.now();
  const recent = (asked.get(scope) ?? []).filter((at) => now - at < WINDOW_MS);
  asked.set(scope, [...recent, now]);
  return recent.length < MAX_QUESTIONS;
}

const YES = "Yes";
const OPENED = "Opened and done";

async function askToOpen(
  ask: Ask,
  about: string,
  { url, signal }: { url: string; signal: AbortSignal },
): Promise<ElicitResult> {
  const host = URL.parse(url)?.host ?? "an invalid address";
  const question = `${about}\nOpen this address on ${host} yourself: ${toPlainText(url, 2_000)}`;
  const options = [{ label: OPENED }, { label: "Decline", description: "Tell the server that you did not." }];
  const answers = await ask([{ question, header: "Address", options }], { signal });
  if (!answers) return { action: "cancel" };
  return { action: answers[0]?.[0] === OPENED ? "accept" : "decline" };
}

/** A field of the form. */
interface Field {
  name: string;
  type: "string" | "number" | "boolean" | "choices";
  title: string;
  isRequired: boolean;
  fallback: unknown;
  /** The values to choose from, and how they are shown. */
  choices: { value: string; label: string }[];
}

/** Undefined for a form that cannot be shown. */
function toFields(schema: unknown): Field[] | undefined {
  const { properties, required } = toRecord(schema);
  const names = Array.isArray(required) ? required : [];
  const entries = Object.entries(toRecord(properties));
  if (entries.length > MAX_FIELDS) return undefined;
  return entries.map(([name, given]) => toField(name, toRecord(given), names.includes(name)));
}

function toField(name: string, schema: Record<string, unknown>, isRequired: boolean): Field {
  const { type, title, description, default: fallback } = schema;
  const texts = [title ?? name, description].filter((text) => typeof text === "string");
  const choices = toChoices(type === "array" ? toRecord(schema.items) : schema);
  const isNumber = type === "number" || type === "integer";
  return {
    name,
    type: type === "array" ? "choices" : isNumber ? "number" : type === "boolean" ? "boolean" : "string",
    title: toPlainText(texts.join(": "), MAX_TEXT_CHARS),
    isRequired,
    fallback,
    choices,
  };
}

function toChoices({ enum: values, enumNames, oneOf, anyOf }: Record<string, unknown>): Field["choices"] {
  const titled = [oneOf, anyOf].find((list) => Array.isArray(list));
  if (Array.isArray(titled)) {
    return titled
      .map(toRecord)
      .flatMap(({ const: value, title }) =>
        typeof value === "string"
          ? [{ value, label: toPlainText(typeof title === "string" ? title : value, 200) }]
          : [],
      );
  }
  if (!Array.isArray(values)) return [];
  const names: unknown[] = Array.isArray(enumNames) ? enumNames : [];
  return values.flatMap((value, index) => {
    const label = names[index];
    return typeof value === "string"
      ? [{ value, label: toPlainText(typeof label === "string" ? label : value, 200) }]
      : [];
  });
}

function toConsent(question: string): UserQuestion {
  return { question, header: "Server", options: [{ label: YES }, { label: "No" }] };
}

const SKIP = "Leave out";

function toQuestion({ type, title, choices, isRequired, fallback }: Field, about: string): UserQuestion {
  const options =
    type === "boolean"
      ? [{ label: YES }, { label: "No" }]
      : choices.map(({ label, value }) => ({ label, ...(label !== value && { description: value }) }));
  const byDefault =
    fallback === undefined ? [] : [{ label: SKIP, description: `default: ${JSON.stringify(fallback)}` }];
  const skipped = isRequired ? byDefault : byDefault.length > 0 ? byDefault : [{ label: SKIP }];
  const hint = options.length === 0 ? " (type the answer)" : "";
  return {
    question: `${about}\n${title}${hint}`,
    header: "Server",
    options: [...options, ...skipped],
    ...(type === "choices" && { multiSelect: true }),
  };
}

type Content = NonNullable<ElicitResult["content"]>;

/** Undefined if a required answer is missing or has another type. */
function toContent(fields: readonly Field[], answers: readonly (readonly string[])[]): Content | undefined {
  const content: Content = {};
  for (const [index, field] of fields.entries()) {
    const given = (answers[index] ?? []).filter((answer) => answer !== SKIP);
    const value = given.length === 0 ? toFallback(field.fallback) : toValue(field, given);
    if (value === undefined && (field.isRequired || given.length > 0)) return undefined;
    if (value !== undefined) content[field.name] = value;
  }
  return content;
}

function toFallback(value: unknown): Content[string] | undefined {
  if (typeof value === "string" || typeof value === "number" || typeof value === "boolean") return value;
  return Array.isArray(value) && value.every((each) => typeof each === "string") ? value : undefined;
}

function toValue({ type, choices }: Field, given: readonly string[]): Content[string] | undefined {
  const valueFor = (label: string) => choices.find((choice) => choice.label === label)?.value;
  const [first = ""] = given;
  switch (type) {
    case "choices":
      return given.flatMap((label) => valueFor(label) ?? []);
    case "boolean":
      return first === YES || /^(?:true|y|yes)$/i.test(first);
    case "number":
      return Number.isFinite(Number(first)) && first.trim() !== "" ? Number(first) : undefined;
    case "string":
      return choices.length === 0 ? first : valueFor(first);
  }
}

function toRecord(value: unknown): Record<string, unknown> {
  return typeof value === "object" && value !== null ? { ...value } : {};
}
