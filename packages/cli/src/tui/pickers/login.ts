import { type KeyProvider, listKeyProviders, logIn, UnprovenKeyError } from "../../login/login.ts";
import type { CommandContext } from "../commands/types.ts";
import { note } from "../commands/types.ts";
import type { PickerItem } from "../view.ts";
import { closePicker, createPickerDialog, type Picker } from "./picker.ts";

const NAME = "login";

/** The providers that a key can be stored for. */
export async function providersPicker(context: CommandContext): Promise<Picker> {
  const providers = listKeyProviders((await context.session()).loaded.config);
  return {
    dialog: createPickerDialog({ name: NAME, title: "Log in", items: providers.map(toItem) }),
    async choose(id) {
      const provider = providers.find(({ name }) => name === id);
      if (provider) await askForKey(provider, context);
    },
  };
}

/** Asks for a key, tests and stores it; the session continues with it. */
export async function askForKey(provider: KeyProvider, context: CommandContext): Promise<void> {
  if (context.readSecret === undefined) return context.open(keyPicker(provider, context));
  const key = await context.readSecret(describeQuestion(provider));
  await store(provider, key, context);
}

/** An input line that is not shown. */
function keyPicker(provider: KeyProvider, context: CommandContext): Picker {
  const dialog = createPickerDialog({ name: NAME, title: "Log in", items: [toItem(provider)] });
  return {
    dialog: { ...dialog, input: { label: `Paste the key for ${provider.name}`, text: "", isHidden: true } },
    choose: () => askForKey(provider, context),
    async submit(key) {
      context.change((view) => closePicker(view, NAME));
      await store(provider, key, context);
    },
  };
}

function describeQuestion({ name, keyPage }: KeyProvider): string {
  const page = keyPage === undefined ? "" : ` Get a key at ${keyPage}`;
  return `Paste the key for ${name} and press Enter; it is not shown.${page}`;
}

async function store(provider: KeyProvider, key: string, context: CommandContext): Promise<void> {
  const { cwd, loaded, model } = await context.session();
  const { environment } = context;
  const { name, variable } = provider;
  if (key.trim() !== "") note(context, `Testing the key with one request to ${hostOf(provider)}…`);
  try {
    const options = { cwd, config: loaded.config, environment, isProved: true };
    for (const line of await logIn(provider, key, options)) note(context, line);
  } catch (error) {
    if (!(error instanceof UnprovenKeyError)) throw error;
    throw new Error(`${error.message} Try /login ${name} again later.`);
  }
  await context.reopen({ how: "reload", login: { variable, key: key.trim() } });
  const isOther = model.provider !== name;
  note(context, isOther ? `Still using ${model.id}; switch with /model.` : `${model.id} uses the new key.`);
}

function hostOf({ name, address }: KeyProvider): string {
  return URL.parse(address)?.host ?? name;
}

function toItem({ name, hasKey, keyPage, address }: KeyProvider): PickerItem {
  return { id: name, label: name, detail: `${hasKey ? "has a key · " : ""}${keyPage ?? address}` };
}
