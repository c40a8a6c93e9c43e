import type { ResponseCreateParamsStreaming } from "openai/resources/responses/responses";
import type { Effort, Model, ThinkingSupport } from "./types.ts";

type ReasoningFields = Pick<ResponseCreateParamsStreaming, "reasoning" | "include">;

/** From the least to the most. */
const EFFORTS = ["low", "medium", "high", "xhigh", "max"] as const;

/** Without `effort` the model chooses for itself; `hasSummary` asks for a summary of its reasoning. */
export interface ReasoningOptions {
  effort: Effort | undefined;
  hasSummary: boolean;
}

/**
 * The fields of a request that ask for reasoning, empty for a model that has none: such a model refuses them. Reasoning
 * comes back encrypted, since nothing of it is stored at OpenAI.
 */
export function toReasoningFields(model: Model, { effort, hasSummary }: ReasoningOptions): ReasoningFields {
  const support = model.thinking ?? guessSupport(model.id);
  if (support === "none") return {};
  const include: ReasoningFields["include"] = ["reasoning.encrypted_content"];
  if (effort === "off" && support === "adaptive") return { reasoning: { effort: "none" }, include };
  const asked = effort === "off" ? "low" : effort;
  return {
    reasoning: {
      ...(asked && { effort: atMost(asked, highestEffort(model.id)) }),
      ...(hasSummary && { summary: "auto" as const }),
    },
    include,
  };
}

/**
 * What a model whose id we do not list can do. From the model pages of developers.openai.com: o-series, GPT-5, its codex
 * models, GPT-6 Astra and what follows GPT-6.1 Sol refuse the effort `none`; chat models and those before GPT-5, but for the
 * o-series, do not reason.
 */
function guessSupport(id: string): ThinkingSupport {
  if (/-chat\b/.test(id)) return "none";
  if (/^gpt-(5\.\d+|6-(sol|luna)|6\.1-terra)(-(mini|nano|sol|terra|luna))?(-\d|$)/.test(id))
    return "adaptive";
  return /^(o\d|gpt-([5-9]|\d\d)|gpt-oss)/.test(id) ? "always" : "none";
}

/** The most that a model takes: more is refused, not lowered. `minimal` is left out, since it rules out parallel calls. */
function highestEffort(id: string): (typeof EFFORTS)[number] {
  if (/^gpt-5\.1-codex-max|^gpt-5\.[2-5](?!\d)/.test(id)) return "xhigh";
  return /^gpt-(5\.[6-9]|5\.\d\d|[6-9]|\d\d)/.test(id) ? "max" : "high";
}

function atMost(effort: Exclude<Effort, "off">, highest: (typeof EFFORTS)[number]): (typeof EFFORTS)[number] {
  return EFFORTS[Math.min(EFFORTS.indexOf(effort), EFFORTS.indexOf(highest))] ?? highest;
}
