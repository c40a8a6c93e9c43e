/**
 * How servers say that a request does not fit the model, as seen in their errors, sources and issue trackers. Vendors
 * and gateways pass each other's words on, so every adapter reads all of them. Each pattern is narrow enough
 * for its own kind of complaint: a limit on `max_tokens` alone or on a rate is none.
 */
const WORDINGS: readonly RegExp[] = [
  // Anthropic, Fireworks; Amazon Bedrock says "Input is too long for requested model".
  /(prompt|input) is too long/i,
  // Anthropic, for input and answer together, and for the bytes of a request.
  /exceed context limit/i,
  /request_too_large|request exceeds the maximum size/i,
  // OpenAI Responses; LiteLLM wraps it in an exception's name.
  /exceeds? the (model's )?context (window|length)/i,
  /ContextWindowExceeded|context[_ ](length|window)[_ ]exceeded/i,
  // OpenAI Chat, Azure, vLLM, DeepSeek, OpenRouter, LiteLLM, SGLang.
  /maximum context length/i,
  // OpenAI and Azure, for a limit on the input alone; then for whole strings and lists, not for an id that is too long.
  /input tokens exceed the configured limit/i,
  /string too long\. expected a string with maximum length \d{6,}|'input': array too long/i,
  // vLLM; "Prompt length (N) exceeds max length" and "longer than the maximum model length".
  /maximum model length|max_model_len|too long to fit into the model/i,
  /(prompt|input) length.* exceeds/i,
  /(context length is only|configured context size is) [\d,]+/i,
  // Together, SGLang.
  /longer than the model'?s context length/i,
  // llama.cpp and llamafile.
  /exceed_context_size|available context size|context size has been exceeded|request \([\d,]+ tokens\) exceeds/i,
  // LM Studio; what it says of a limit met in the middle of an answer, and of a system prompt too long to keep.
  /greater than the context length|when context the overflows|not enough.*larger context length/i,
  /reached context length of|mid-generation context overflow|n_keep \(?\d+\)? ?>=? ?n_ctx/i,
  // Ollama.
  /prompt too long|input length exceeds the context length/i,
  // Text Generation Inference.
  /`inputs` tokens \+ `max_new_tokens` must be|`inputs` must have less than/i,
  // Google.
  /input token count.*(exceeds|only supports up to)/i,
  // xAI.
  /maximum prompt length is [\d,]+/i,
  // Groq, Cerebras.
  /reduce the length of (the|your) (messages|prompt|input)/i,
  // GitHub Copilot.
  /prompt token count of [\d,]+ exceeds/i,
  // MiniMax, z.ai.
  /context window exceeds limit|model_context_window_exceeded/i,
  // Moonshot.
  /exceeded model token limit/i,
  // Mistral names the limit as a maximum context length; Alibaba's model service as a range.
  /range of input length should be/i,
  // Volcengine and Zhipu.
  /tokens of image and text exceed|prompt exceeds max length/i,
  // Cohere, and others after it; Bedrock's "Too many tokens, please wait" is a rate.
  /too many (input |prompt )?tokens(?!, please wait| per)/i,
];

const CODES: ReadonlySet<string> = new Set([
  "context_length_exceeded",
  "context_window_exceeded",
  "exceed_context_size_error",
  "model_context_window_exceeded",
  "prompt_too_long",
  "request_too_large",
]);

/** True for a code or a type of error that only means that a request is too long. */
export function isOverflowCode(code: string): boolean {
  return CODES.has(code);
}

/** True for a message that says so in one of the known wordings. */
export function isOverflowWording(message: string): boolean {
  return WORDINGS.some((wording) => wording.test(message));
}

/** Where those wordings name the limit. */
const STATED_LIMITS: readonly RegExp[] = [
  />=?\s*(?:n_ctx \()?([\d,]+)\)?(?:\s*(?:tokens\s*)?maximum|$)/i,
  /(?:maximum context length|maximum prompt length|context length|context size)(?: is| of)?(?: only)? \(?([\d,]+)/i,
  /(?:exceeds (?:the )?limit of|only supports up to|must be <=) ([\d,]+)/i,
];

// No model is that small: such a number is something else.
const LEAST_LIMIT = 1_000;

/** The window in tokens as the message states it; undefined where it names none. */
export function readStatedWindow(message: string): number | undefined {
  const stated = STATED_LIMITS.map((limit) => Number(limit.exec(message)?.[1]?.replaceAll(",", "")));
  return stated.find((tokens) => tokens >= LEAST_LIMIT);
}

/**
 * True for a rate limit that a single request is too large for (OpenAI, Groq): waiting never helps, a shorter request
 * does.
 */
export function isTooLargeForRate(message: string): boolean {
  return /request too large.*tokens per min/i.test(message);
}
