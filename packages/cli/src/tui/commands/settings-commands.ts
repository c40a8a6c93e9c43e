import { isEffort } from "@diligent/core/interactive";
import { nearestName } from "@diligent/core/light";
import { EFFORTS } from "../pickers/models.ts";
import type { SlashCommand } from "./types.ts";
import { note } from "./types.ts";

/** `/model`: takes the id of a model, or opens the list; the choice applies from the next request on. */
export const MODEL: SlashCommand = {
  name: "model",
  aliases: ["models"],
  description: "Switch model",
  argumentHint: "[ID]",
  opensList: true,
  async run(argument, context) {
    if (argument === "") {
      const { modelsPicker } = await import("../pickers/models.ts");
      return context.open(await modelsPicker(context));
    }
    await context.changeModel({ modelId: argument });
    note(context, `Switched to ${context.view().status.model}.`);
  },
  async complete(prefix, context) {
    const { listChoosable } = await import("../pickers/models.ts");
    const { models } = await listChoosable(context);
    return models.map(({ id }) => id).filter((id) => id.startsWith(prefix));
  },
};

/** `/thinking`: takes a level of `EFFORTS`, or opens the list. @throws Error for any other word. */
export const THINKING: SlashCommand = {
  name: "thinking",
  aliases: ["effort"],
  description: "Set the thinking level",
  argumentHint: "[LEVEL]",
  opensList: true,
  async run(argument, context) {
    if (argument === "") {
      const { thinkingPicker } = await import("../pickers/models.ts");
      return context.open(await thinkingPicker(context));
    }
    if (!isEffort(argument)) throw new Error(unknownLevel(argument));
    await context.changeModel({ effort: argument });
    note(context, `Thinking level set to ${argument}, from the next request on.`);
  },
  complete: (prefix) => EFFORTS.map(({ level }) => level).filter((level) => level.startsWith(prefix)),
};

function unknownLevel(given: string): string {
  const levels = EFFORTS.map(({ level }) => level);
  const nearest = nearestName(given, levels);
  const hint = nearest === undefined ? "" : ` Did you mean ${nearest}?`;
  return `Unknown thinking level ${given}; choose one of ${levels.join(", ")}.${hint}`;
}

/** `/login`: opens the list of providers, or asks for the key of the named one, which is not shown. */
export const LOGIN: SlashCommand = {
  name: "login",
  description: "Store a key for a provider",
  argumentHint: "[NAME]",
  opensList: true,
  isPrivate: true,
  // Refused during a run, it would leave the key to be pasted into the prompt.
  isAlwaysPossible: true,
  async run(argument, context) {
    assertName(argument, "login");
    const { askForKey, providersPicker } = await import("../pickers/login.ts");
    if (argument === "") return context.open(await providersPicker(context));
    const { findKeyProvider } = await import("../../login/login.ts");
    const { loaded } = await context.session();
    await askForKey(findKeyProvider(argument, loaded), context);
  },
  complete: (prefix, context) => completeNames(prefix, context),
};

/** `/logout`: opens the list of stored keys, or removes that of a provider; the open session keeps it until it ends. */
export const LOGOUT: SlashCommand = {
  name: "logout",
  description: "Remove a stored key",
  argumentHint: "[NAME]",
  opensList: true,
  isPrivate: true,
  async run(argument, context) {
    assertName(argument, "logout");
    const { removeKey, storedKeysPicker } = await import("../pickers/login.ts");
    if (argument === "") {
      const picker = await storedKeysPicker(context);
      if (picker) context.open(picker);
      else note(context, "There is no stored key.");
      return;
    }
    const { findKeyProvider } = await import("../../login/login.ts");
    await removeKey(findKeyProvider(argument, (await context.session()).loaded), context);
  },
  complete: (prefix, context) => completeNames(prefix, context),
};

/** @throws Error for more than a name: it could be a key, which is now on the screen. */
function assertName(argument: string, command: string): void {
  if (!/\s/.test(argument)) return;
  throw new Error(`/${command} takes only a provider name: it asks for the key, which is not shown.`);
}

async function completeNames(
  prefix: string,
  { session }: Parameters<NonNullable<SlashCommand["complete"]>>[1],
): Promise<readonly string[]> {
  const { listKeyProviders } = await import("../../login/login.ts");
  const { loaded } = await session();
  return listKeyProviders(loaded)
    .map(({ name }) => name)
    .filter((name) => name.startsWith(prefix));
}

/** `/settings`: the settings of this session; choosing one changes it. */
export const SETTINGS: SlashCommand = {
  name: "settings",
  description: "Change model, thinking level, mode, rules and name",
  opensList: true,
  async run(_, context) {
    const { settingsPicker } = await import("../pickers/settings.ts");
    context.open(await settingsPicker(context));
  },
};
