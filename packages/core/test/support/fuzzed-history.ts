import type { AssistantMessage, ContentBlock, Message } from "../../src/types.ts";
import { assistant, call, image, pngBytes, result, text, user } from "./messages.ts";

/** A number from 0 up to 1; the same seed gives the same row. */
export function createRandom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
}

const TEXTS = [
  "hello",
  "",
  " ",
  "\n\t",
  "\ud83d",
  "mid \udc00 dle",
  "grüße 🎉",
  "\u0000",
  "\x1c",
  "x".repeat(300),
];
const IDS = ["a", "b", "c", "a_2", "", "fc|1", "fc.1", "toolu_01", "\ud800", "l".repeat(90)];
const REASONING_IDS = ["rs_1", "rs_2", "rs_3", "reasoning-4"];
const STOPS: AssistantMessage["stopReason"][] = ["end_turn", "tool_use", "max_tokens", "error", "aborted"];

/** A conversation as crashes, aborts, other providers and edited files could have left it. */
export function createFuzzedHistory(random: () => number): Message[] {
  const length = Math.floor(random() * 12);
  return Array.from({ length }, () => createMessage(random));
}

function createMessage(random: () => number): Message {
  const kind = random();
  if (kind < 0.25) return createUser(random);
  if (kind < 0.6) return createAssistant(random);
  return result(pick(random, IDS), pick(random, TEXTS), {
    isError: random() < 0.3,
    ...(random() < 0.2 && { images: [createImage(random)] }),
  });
}

function createUser(random: () => number): Message {
  if (random() < 0.5) return user(pick(random, TEXTS));
  const makers = [
    () => text(pick(random, TEXTS)),
    () => createImage(random),
    () => createAssistantBlock(random),
  ];
  return user(Array.from({ length: Math.floor(random() * 3) }, () => pick(random, makers)()));
}

function createAssistant(random: () => number): Message {
  const content = Array.from({ length: Math.floor(random() * 5) }, () =>
    random() < 0.3 ? createStretch(random) : [createAssistantBlock(random)],
  ).flat();
  return assistant(content, { stopReason: pick(random, STOPS) });
}

function createImage(random: () => number): ContentBlock & { type: "image" } {
  const bytes = [pngBytes(2, 2), pngBytes(9000, 2), new Uint8Array([1, 2, 3])];
  return image(pick(random, bytes), pick(random, ["image/png", "image/jpeg", "text/plain"]));
}

function createAssistantBlock(random: () => number): ContentBlock {
  const id = pick(random, IDS);
  const makers: Array<() => ContentBlock> = [
    () => text(pick(random, TEXTS)),
    () =>
      call(id, pick(random, ["read", "", "no such tool!", "x".repeat(200)]), {
        [pick(random, TEXTS)]: [pick(random, TEXTS)],
      }),
    () => ({ ...call(id), invalidInput: '{"path": "a' }),
    () => ({ type: "thinking", thinking: pick(random, TEXTS) }),
    () => ({ type: "thinking", thinking: pick(random, TEXTS), signature: "sig" }),
    () => ({ type: "thinking", thinking: "", replay: { provider: "anthropic", data: "redacted" } }),
    () => createOpenAIItem(random, id),
    () => opaque({ type: "server_tool_use", id: `srv_${id}`, name: "web_search", input: {} }),
    () => opaque({ type: "web_search_tool_result", tool_use_id: `srv_${id}`, content: [] }),
    () => createImage(random),
  ];
  return pick(random, makers)();
}

/** Reasoning of OpenAI's and what it led to, under ids that name the reasoning; some of it lost or damaged. */
function createStretch(random: () => number): ContentBlock[] {
  const id = pick(random, REASONING_IDS);
  const whole = { type: "reasoning", id, summary: [], encrypted_content: `gAAA${id}` };
  const data = pick(random, [whole, whole, whole, { ...whole, encrypted_content: null }, { id }, "no item"]);
  const results = Array.from({ length: Math.floor(random() * 4) }, () => createResult(random, id));
  return [
    { type: "thinking", thinking: pick(random, TEXTS), replay: { provider: "openai", data } },
    ...(random() < 0.1 ? [createAssistantBlock(random)] : []),
    ...results,
  ];
}

function createResult(random: () => number, reasoningId: string): ContentBlock {
  const suffix = `${Math.floor(random() * 1000)}_of_${reasoningId}`;
  const replay = (data: unknown) => ({ replay: { provider: "openai", data } });
  const kind = random();
  if (kind < 0.4)
    return { ...call(pick(random, IDS)), ...replay({ id: `fc_${suffix}`, status: "completed" }) };
  if (kind < 0.5) return createOpenAIItem(random, pick(random, IDS));
  const message = { id: `msg_${suffix}`, status: "completed", phase: pick(random, ["commentary", null]) };
  const part = pick(random, [{ type: "output_text", annotations: [] }, { type: "refusal" }]);
  return { type: "text", text: pick(random, TEXTS), ...replay({ message, part }) };
}

/** Items that we do not model: run by OpenAI, waiting for an output, half, a part of a message, none at all. */
function createOpenAIItem(random: () => number, callId: string): ContentBlock {
  const raw = pick(random, [
    { type: "web_search_call", id: `ws_${callId}`, status: "completed" },
    { type: "local_shell_call", id: `lsh_${callId}`, call_id: callId, status: "completed" },
    { type: "code_interpreter_call", id: `ci_${callId}`, status: "in_progress" },
    { message: { id: "msg_audio" }, part: { type: "output_audio", data: "x" } },
    { type: "" },
    null,
  ]);
  return { type: "opaque", provider: "openai", raw };
}

function opaque(raw: Record<string, unknown>): ContentBlock {
  return { type: "opaque", provider: "anthropic", raw };
}

function pick<T>(random: () => number, items: readonly T[]): T {
  const item = items[Math.floor(random() * items.length)];
  if (item === undefined) throw new Error("There is nothing to pick from.");
  return item;
}
