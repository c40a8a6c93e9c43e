import type { Effort } from "@diligent/core/run";
import {
  formatPrice,
  formatTokenLimit,
  type ListedModel,
  type ModelProvider,
} from "../../model/models-table.ts";
import type { CommandContext } from "../commands/types.ts";
import type { PickerItem } from "../view.ts";
import { createPickerDialog, type Picker } from "./picker.ts";

/** The data for a list of models; the providers tell which of them are usable now. */
interface ChoosableModels {
  models: readonly ListedModel[];
  providers: readonly ModelProvider[];
}

/** The available models, with what is known of them. */
export async function listChoosable({ session }: Pick<CommandContext, "session">): Promise<ChoosableModels> {
  const { loaded, addedModels: added } = await session();
  const { listModels, listProviders } = await import("../../commands/models.ts");
  const { loadCatalog } = await import("@diligent/core/harness");
  const catalog = await loadCatalog(loaded.config);
  // A problem with the configured model was reported when the session was opened.
  return {
    models: listModels({ ...loaded, catalog, added }, () => {}),
    providers: listProviders(loaded, added),
  };
}

/** The models, with windows and prices; usable ones first. */
export async function modelsPicker(context: CommandContext): Promise<Picker> {
  const { model } = await context.session();
  const { models, providers } = await listChoosable(context);
  const hasKey = ({ provider }: ListedModel) => isReady(providers.find(({ name }) => name === provider));
  const ordered = [...models.filter(hasKey), ...models.filter((each) => !hasKey(each))];
  const items = ordered.map((each) =>
    toItem(each, { isCurrent: each.id === model.id, isReady: hasKey(each) }),
  );
  return {
    dialog: createPickerDialog({
      name: "model",
      title: "Models",
      items,
      selected: Math.max(
        0,
        ordered.findIndex(({ id }) => id === model.id),
      ),
    }),
    choose: (id) => context.runCommand("model", id),
  };
}

/** A user's own server may need no key. */
function isReady(provider: ModelProvider | undefined): boolean {
  return provider !== undefined && (provider.hasKey || provider.keyVariable === undefined);
}

function toItem(model: ListedModel, state: { isCurrent: boolean; isReady: boolean }): PickerItem {
  const { id, provider, aliases = [], assumed = [], contextWindow, isConfigured, isDefault } = model;
  const price = formatPrice(model);
  const marks = [
    ...(state.isCurrent ? ["now"] : []),
    ...(isConfigured ? ["configured"] : []),
    ...(isDefault ? ["default"] : []),
  ];
  const facts = [
    provider,
    assumed.includes("contextWindow") ? "window unknown" : `${formatTokenLimit(contextWindow)} window`,
    price === "unknown" ? "price unknown" : `$${price} per million in/out`,
    ...(state.isReady ? [] : ["no key"]),
  ];
  return {
    id,
    label: marks.length === 0 ? id : `${id} (${marks.join(", ")})`,
    detail: facts.join(" · "),
    searchText: aliases.join(" "),
  };
}

/** How much the model thinks. */
export async function thinkingPicker(context: CommandContext): Promise<Picker> {
  const { effort, model } = await context.session();
  const items = EFFORTS.map(({ level, meaning }) => ({
    id: level,
    label: level === effort ? `${level} (now)` : level,
    detail: meaning,
  }));
  const hint = model.thinking === "none" ? `: ${model.id} does not support it` : "";
  return {
    dialog: createPickerDialog({
      name: "thinking",
      title: `Thinking${hint}`,
      items,
      selected: Math.max(
        0,
        EFFORTS.findIndex(({ level }) => level === effort),
      ),
    }),
    choose: (id) => context.runCommand("thinking", id),
  };
}

/** The thinking levels of a model, with a line about each. */
export const EFFORTS: readonly { level: Effort; meaning: string }[] = [
  { level: "off", meaning: "answers without thinking, if the model allows it" },
  { level: "low", meaning: "fast and cheap" },
  { level: "medium", meaning: "for most work" },
  { level: "high", meaning: "for hard problems" },
  { level: "xhigh", meaning: "longer" },
  { level: "max", meaning: "as long as possible, at any cost" },
];
