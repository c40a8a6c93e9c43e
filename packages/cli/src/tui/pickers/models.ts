import {
  formatPrice,
  formatTokenLimit,
  type ListedModel,
  type ModelProvider,
} from "../../commands/models-table.ts";
import type { CommandContext } from "../commands/types.ts";
import type { PickerItem } from "../view.ts";
import { createPickerDialog, type Picker } from "./picker.ts";

/** What a list of models is made of; providers tell which of them can be asked now. */
export interface ChoosableModels {
  models: readonly ListedModel[];
  providers: readonly ModelProvider[];
}

/** The models that can be named here, with what is known of them. */
export async function listChoosable({ session }: Pick<CommandContext, "session">): Promise<ChoosableModels> {
  const { loaded } = await session();
  const { listModels, listProviders } = await import("../../commands/models.ts");
  const { loadCatalogue } = await import("../../choose-model.ts");
  const catalogue = await loadCatalogue(loaded.config);
  // What is wrong with the configured model was said when the session was opened.
  return { models: listModels(loaded, catalogue, () => {}), providers: listProviders(loaded) };
}

/** The models, with windows and prices; those that can be asked now come first. */
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

/** A server of the user's own may need no key. */
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
    price === "unknown" ? "price unknown" : `$${price} a million in/out`,
    ...(state.isReady ? [] : ["no key"]),
  ];
  return {
    id,
    label: marks.length === 0 ? id : `${id} (${marks.join(", ")})`,
    detail: facts.join(" · "),
    searchText: aliases.join(" "),
  };
}
