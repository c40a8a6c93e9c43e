import type { Dispensable } from "./compatible-request.ts";

/** How servers say that they, or the model, cannot use tools. */
const NO_TOOLS: readonly RegExp[] = [
  // Ollama: "registry.ollama.ai/library/gemma:latest does not support tools"; many gateways.
  /(does not|doesn't|do not|not) support (the )?['"`]?(tools?|function)\b/i,
  // vLLM: "auto" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set.
  /--enable-auto-tool-choice/i,
  // llama.cpp: "tools param requires --jinja flag".
  /(tools?|tool_choice)\b.*--jinja/i,
  // OpenRouter: "No endpoints found that support tool use".
  /no endpoints found that support tool/i,
  // Groq: "`tool calling` is not supported with this model"; gateways: "tools is not supported".
  /\b(tools?|tool_choice|tool[ _](use|calls?|calling)|function[ _]calling)['"`]? (param(eter)? )?(is|are) (not supported|unsupported|not enabled)/i,
];

/** What a server names when it refuses a part of a request that the conversation can do without. */
const REFUSALS: ReadonlyArray<{ part: Dispensable; wordings: readonly RegExp[] }> = [
  { part: "stream_options", wordings: [/stream_options|include_usage/] },
  { part: "reasoning_effort", wordings: [/reasoning[_. ]effort/i] },
  {
    part: "thinking",
    wordings: [/reasoning_content|reasoning_details/, /['"`.](reasoning|thinking)['"`]/],
  },
  {
    part: "images",
    wordings: [
      // llama.cpp: "image input is not supported - hint: if this is unexpected, you may need to provide the mmproj".
      /images?( input| content)?s? (is|are) not (supported|enabled)|\bmmproj\b/i,
      /(does not|doesn't|not) support (image|vision|multi-?modal)|not a multimodal model/i,
      // OpenRouter.
      /no endpoints found that support image/i,
      /(unknown|unsupported|invalid).{0,40}image_url|image_url.{0,40}(unsupported|not supported)/i,
    ],
  },
];

/** True for a message that says so in one of the known wordings. */
export function isNoToolsWording(message: string): boolean {
  return NO_TOOLS.some((wording) => wording.test(message));
}

/** The part of a request that a message names. */
export function findRefusedPart(message: string): Dispensable | undefined {
  return REFUSALS.find(({ wordings }) => wordings.some((wording) => wording.test(message)))?.part;
}
