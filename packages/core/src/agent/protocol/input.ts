import { z } from "zod";

const text = z.strictObject({ type: z.literal("text"), text: z.string() });

const source = z
  .union([
    z.strictObject({ type: z.literal("base64"), mediaType: z.string(), data: z.string() }),
    z.strictObject({ type: z.literal("base64"), media_type: z.string(), data: z.string() }),
  ])
  .describe("data is the file as base64, without a data: prefix.");

const image = z
  .strictObject({ type: z.literal("image"), source })
  .describe("A PNG, JPEG, GIF or WebP image.");

const content = z
  .union([z.string(), z.array(z.discriminatedUnion("type", [text, image])).min(1)])
  .describe("A text, or blocks of text and images.");

const requestId = z.string().describe("The requestId of the line that asks.");

const InputLineSchema = z.discriminatedUnion("type", [
  z
    .strictObject({ type: z.literal("user"), content })
    .describe("A prompt. It waits until the prompts before it are answered."),
  z
    .strictObject({ type: z.literal("steer"), content })
    .describe(
      "A message that joins the running prompt before its next request; a prompt if none is running.",
    ),
  z.strictObject({ type: z.literal("interrupt") }).describe("Stops the running prompt."),
  z
    .strictObject({
      type: z.literal("approval"),
      requestId,
      answer: z.enum(["once", "always", "reject"]),
      reason: z.string().optional().describe("For the model, with reject."),
    })
    .describe("Answers an approval_request."),
  z
    .strictObject({
      type: z.literal("answer"),
      requestId,
      answers: z
        .array(z.array(z.string()))
        .describe("For each question the labels of the chosen options, or a text of the user's own."),
    })
    .describe("Answers a question."),
]);

/** One line of the input of `--input-format stream-json`. */
export type InputLine = z.output<typeof InputLineSchema>;

/** Checks one line. @returns what is wrong with it as `problem`, in one sentence without a full stop. */
export function parseInputLine(line: string): { line: InputLine } | { problem: string } {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch (error) {
    return { problem: `not JSON: ${error instanceof Error ? error.message : String(error)}` };
  }
  const parsed = InputLineSchema.safeParse(value);
  if (parsed.success) return { line: parsed.data };
  const [issue] = parsed.error.issues;
  const place = issue?.path.join(".") ?? "";
  return { problem: `${place === "" ? "" : `${place}: `}${issue?.message ?? "not a known line"}` };
}

/** The JSON Schema of one line. */
export function inputJsonSchema(): Record<string, unknown> {
  return {
    ...z.toJSONSchema(InputLineSchema, { io: "input" }),
    title: "diligent input line",
    description: "One line of the input of diligent --input-format stream-json.",
  };
}
