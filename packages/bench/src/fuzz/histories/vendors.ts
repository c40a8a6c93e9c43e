import { toAnthropicRequest } from "../../../../core/src/provider/anthropic-request.ts";
import { toCompatibleRequest } from "../../../../core/src/provider/compatible-request.ts";
import { toOpenAIRequest } from "../../../../core/src/provider/openai-request.ts";
import { findRequestFault } from "../../../../core/src/provider/scripted-check.ts";
import type { Model, StreamContext } from "../../../../core/src/provider/types.ts";
import { checkAnthropicRequest } from "../../../../core/test/support/anthropic-wire-check.ts";
import { checkCompatibleRequest } from "../../../../core/test/support/compatible-wire-check.ts";
import { checkOpenAIRequest } from "../../../../core/test/support/openai-wire-check.ts";

/** The models among which a session changes, one for each kind of service. */
const IDS = {
  anthropic: "claude-x",
  openai: "gpt-x",
  local: "local/m",
  scripted: "scripted/test.json",
} as const;

/** The provider of a model; `local` is a compatible server. */
export type VendorName = keyof typeof IDS;

/** All of them, in a fixed order: a seed picks by position. */
export const VENDOR_NAMES: readonly VendorName[] = ["anthropic", "openai", "local", "scripted"];

/** False for a provider that no session here is held with. */
export function isVendorName(name: string): name is VendorName {
  return Object.hasOwn(IDS, name);
}

/** @param contextWindow tokens. */
export function modelOf(provider: VendorName, contextWindow: number): Model {
  const maxOutputTokens = Math.floor(contextWindow / 4);
  const thinking = provider === "scripted" ? "none" : "adaptive";
  return { id: IDS[provider], provider, contextWindow, maxOutputTokens, thinking };
}

/** What any of the services would refuse about a request, whichever of them the session speaks to at the moment. */
export function findRefusals(context: StreamContext): string[] {
  const model = (provider: VendorName) => modelOf(provider, 200_000);
  return [
    ...checkAnthropicRequest(toAnthropicRequest(model("anthropic"), context)),
    ...checkOpenAIRequest(toOpenAIRequest(model("openai"), context)),
    ...checkCompatibleRequest(toCompatibleRequest(model("local"), context)),
  ];
}

/** The same, and what the adapters would have to mend first: nothing, unless the file of the session was damaged. */
export function findFaults(context: StreamContext): string[] {
  const fault = findRequestFault(context);
  return [...findRefusals(context), ...(fault ? [`${fault.path}: ${fault.message}`] : [])];
}
