import { describe, expect, test } from "bun:test";
import {
  isOverflowCode,
  isTooLargeForRate,
  matchesOverflow,
  readStatedRequest,
  readStatedWindow,
} from "../../src/provider/classify-error.ts";

describe("a request that is too long is recognized by", () => {
  test.each([
    ["Anthropic", "prompt is too long: 213462 tokens > 200000 maximum"],
    [
      "Anthropic",
      "input length and `max_tokens` exceed context limit: 188240 + 21333 > 200000, decrease input length or `max_tokens` and try again",
    ],
    ["Anthropic", "Request exceeds the maximum size"],
    ["Amazon Bedrock", "The input exceeds the model's maximum input tokens"],
    ["Amazon Bedrock", "Input is too long for requested model."],
    ["Fireworks", "The prompt is too long: 41064, model maximum context length: 32768"],
    [
      "OpenAI",
      "Your input exceeds the context window of this model. Please adjust your input and try again.",
    ],
    [
      "OpenAI",
      "This model's maximum context length is 128000 tokens. However, your messages resulted in 142931 tokens.",
    ],
    [
      "Azure",
      "Input tokens exceed the configured limit of 272000 tokens. Your messages resulted in 428548 tokens.",
    ],
    [
      "OpenAI",
      "Invalid 'input[0].content': string too long. Expected a string with maximum length 10485760, but got a string with length 12000000 instead.",
    ],
    ["OpenAI", "Invalid 'input': array too long. Expected an array with maximum length 2048."],
    ["LiteLLM", "litellm.ContextWindowExceededError: litellm.BadRequestError: too big"],
    ["LiteLLM", "Requested token count exceeds the model's maximum context length of 131072 tokens."],
    [
      "OpenRouter",
      "This endpoint's maximum context length is 1048576 tokens. However, you requested about 1293741 tokens.",
    ],
    ["OpenRouter", "Input length 300000 exceeds the maximum allowed input length of 262144 tokens."],
    [
      "vLLM",
      "This model's maximum context length is 262144 tokens. However, you requested 0 output tokens and your prompt contains at least 262145 input tokens.",
    ],
    ["vLLM", "The decoder prompt (length 9000) is longer than the maximum model length of 8192."],
    ["vLLM", "You passed 9000 input tokens, but the model's context length is only 8192 tokens."],
    ["SGLang", "Input length (265330) exceeds model's maximum context length (262144)."],
    ["Together", "The input (516368 tokens) is longer than the model's context length (262144 tokens)."],
    [
      "llama.cpp",
      "the request exceeds the available context size. try increasing the context size or enable context shift",
    ],
    [
      "llama.cpp",
      "request (33056 tokens) exceeds the available context size (32768 tokens), try increasing it",
    ],
    ["llama.cpp", "request (33056 tokens) exceeds the context of a slot"],
    ["vLLM", "The prompt (total length 9000) is too long to fit into the model (context length 8192)."],
    ["LM Studio", "Context size has been exceeded."],
    [
      "LM Studio",
      "Reached context length of 4096 tokens, but this model does not currently support mid-generation context overflow.",
    ],
    ["LM Studio", "Cannot truncate prompt with n_keep (4098) >= n_ctx (4096)"],
    [
      "LM Studio",
      "Trying to keep the first 15857 tokens when context the overflows. However, the model is loaded with context length of only 4096 tokens, which is not enough. Try to load the model with a larger context length, or provide a shorter input",
    ],
    [
      "LM Studio",
      "The number of tokens to keep from the initial prompt is greater than the context length. Try to load the model with a larger context length.",
    ],
    ["Ollama", "prompt too long; exceeded max context length by 1200 tokens"],
    ["Ollama", "input length exceeds the context length"],
    [
      "Text Generation Inference",
      "Input validation error: `inputs` tokens + `max_new_tokens` must be <= 4096. Given: 5000 `inputs` tokens and 100 `max_new_tokens`",
    ],
    [
      "Text Generation Inference",
      "Input validation error: `inputs` must have less than 1024 tokens. Given: 1500",
    ],
    ["Google", "The input token count (1196265) exceeds the maximum number of tokens allowed (1048575)."],
    [
      "Google",
      "Unable to submit request because the input token count is 40000 but model only supports up to 32768.",
    ],
    ["xAI", "This model's maximum prompt length is 131072 but the request contains 537812 tokens."],
    ["Groq", "Please reduce the length of the messages or completion."],
    [
      "Cerebras",
      "Please reduce the length of the messages or completion. Current length is 8193 while limit is 8192",
    ],
    ["GitHub Copilot", "prompt token count of 200000 exceeds the limit of 128000"],
    ["MiniMax", "invalid params, context window exceeds limit (2013)"],
    ["Moonshot", "Invalid request: Your request exceeded model token limit: 262144 (requested: 300000)"],
    [
      "Mistral",
      "Prompt contains 65673 tokens and 0 draft tokens, too large for model with 65536 maximum context length",
    ],
    ["Alibaba", "<400> InternalError.Algo.InvalidParameter: Range of input length should be [1, 258048]"],
    ["Volcengine", "Total tokens of image and text exceed max message tokens. Request id: 0217"],
    ["Zhipu", "Prompt exceeds max length"],
    ["Cohere", "too many tokens: total number of tokens in the prompt cannot exceed 4081 - received 5000."],
    ["z.ai", "model_context_window_exceeded"],
  ])("%s: %s", (_, message) => {
    expect(matchesOverflow(message)).toBe(true);
    expect(matchesOverflow(`400 {"error":"${message.toUpperCase()}"}`)).toBe(true);
  });

  test.each(["context_length_exceeded", "exceed_context_size_error", "prompt_too_long"])(
    "code %s",
    (code) => {
      expect(isOverflowCode(code)).toBe(true);
    },
  );
});

test.each([
  "max_tokens: 300000 > 64000, which is the maximum allowed number of output tokens",
  "Invalid 'max_output_tokens': integer above maximum value. Expected a value <= 128000.",
  "Invalid 'input[2].call_id': string too long. Expected a string with maximum length 64, but got a string with length 81 instead.",
  "Too many tokens, please wait before trying again.",
  "Rate limit reached for gpt-5.5 on tokens per min (TPM): Limit 30000, Used 22999, Requested 12528.",
  "This request would exceed your organization's rate limit of 30,000 input tokens per minute",
  "You exceeded your current quota, please check your plan and billing details.",
  "The tool name is too long",
  "Unsupported parameter: 'context_management'",
])("another error is not an overflow: %s", (message) => {
  expect(matchesOverflow(message)).toBe(false);
});

test("a rate limit that a single request exceeds is distinct from a temporary one", () => {
  const tooLarge =
    "Request too large for gpt-4o in organization org-x on tokens per min (TPM): Limit 30000, Requested 50000. The input or output tokens must be reduced in order to run successfully.";
  expect(isTooLargeForRate(tooLarge)).toBe(true);
  expect(isTooLargeForRate("Rate limit reached for gpt-4o on tokens per min (TPM): Limit 30000")).toBe(false);
});

test.each([
  ["prompt is too long: 250000 tokens > 200,000 maximum", 200_000],
  ["input length and `max_tokens` exceed context limit: 190000 + 20000 > 200000", 200_000],
  [
    "input length and `max_tokens` exceed context limit: 190000 + 20000 > 200000, decrease input length or `max_tokens` and try again",
    200_000,
  ],
  ["The input token count (1200000) exceeds the maximum number of tokens allowed (1048575).", 1_048_575],
  ["This model's maximum prompt length is 131072 but the request contains 537812 tokens.", 131_072],
  ["This model's maximum context length is 8,192 tokens. However, you requested 9000 tokens", 8_192],
  ["request (33056 tokens) exceeds the available context size (32768 tokens), try increasing it", 32_768],
  ["The prompt (total length 9000) is too long to fit into the model (context length 8192).", 8_192],
  ["Cannot truncate prompt with n_keep (4098) >= n_ctx (4096)", 4_096],
  ["the model is loaded with context length of only 4096 tokens, which is not enough", 4_096],
  ["`inputs` tokens + `max_new_tokens` must be <= 4096. Given: 5000 `inputs` tokens", 4_096],
  ["maximum context length is 7 tokens", undefined],
  ["Your input exceeds the context window of this model.", undefined],
  ["prompt too long; exceeded max context length by 1200 tokens", undefined],
])("the window that %j states is %p", (message, tokens) => {
  expect(readStatedWindow(message)).toBe(tokens);
});

test.each([
  ["prompt is too long: 213462 tokens > 200000 maximum", 213_462],
  ["input length and `max_tokens` exceed context limit: 188240 + 21333 > 200000", 209_573],
  ["However, your messages resulted in 142931 tokens.", 142_931],
  ["However, you requested about 1293741 tokens (1290000 of text input).", 1_293_741],
  ["The input token count (1,200,000) exceeds the maximum number of tokens allowed (1048576).", 1_200_000],
  ["prompt token count of 139000 exceeds the limit of 128000", 139_000],
  ["request (9000 tokens) exceeds the available context size (8192 tokens)", 9_000],
  ["This model's maximum prompt length is 131072 but the request contains 537812 tokens.", 537_812],
  ["the maximum context length is 131072 tokens. You requested a total of 140000 tokens", 140_000],
  ["Your input exceeds the context window of this model.", undefined],
])("readStatedRequest() reads the tokens of the rejected request: %s", (message, tokens) => {
  expect(readStatedRequest(message)).toBe(tokens);
});
