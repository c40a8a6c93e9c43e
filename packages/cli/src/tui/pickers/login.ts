import {
  describeHost,
  hostOf,
  type KeyProvider,
  listKeyProviders,
  listStoredProviders,
  logIn,
  logOut,
  UnprovenKeyError,
} from "../../login/login.ts";
import type { CommandContext } from "../commands/types.ts";
import { note } from "../commands/types.ts";
import type { PickerItem } from "../view.ts";
import { closePicker, createPickerDialog, type Picker } from "./picker.ts";

const NAME = "login";

/** The providers that a key can be stored for. */
export async function providersPicker(context: CommandContext): Promise<Picker> {
  const providers = listKeyProviders((await context.session()).loaded);
  return {
    dialog: createPickerDialog({ name: NAME, title: "Log in", items: providers.map(toItem) }),
    async choose(id) {
      const provider = providers.find(({ name }) => name === id);
      if (provider) await askForKey(provider, context);
    },
  };
}

/** The providers with a stored key, which choosing one removes; undefined if there are none. */
export async function storedKeysPicker(context: CommandContext): Promise<Picker | undefined> {
  const { loaded } = await context.session();
  const providers = await listStoredProviders(loaded, context.environment);
  if (providers.length === 0) return undefined;
  return {
    dialog: createPickerDialog({
      name: NAME,
      title: "Remove a stored key",
      items: providers.map(({ name }) => ({ id: name, label: name })),
    }),
    async choose(id) {
      const provider = providers.find(({ name }) => name === id);
      if (provider) await removeKey(provider, context);
    },
  };
}

/** Removes a stored key; the open session keeps it until it ends. */
export async function removeKey(provider: KeyProvider, context: CommandContext): Promise<void> {
  for (const line of await logOut(provider, context.environment)) note(context, line);
  note(context, "This session keeps using its current key.");
}

/** Asks for a key, tests and stores it; the session continues with it. */
export async function askForKey(provider: KeyProvider, context: CommandContext): Promise<void> {
  if (context.readSecret === undefined) return context.open(keyPicker(provider, context));
  const key = await context.readSecret(describeQuestion(provider));
  await store(provider, key, context);
}

/** An input line that is not shown. */
function keyPicker(provider: KeyProvider, context: CommandContext): Picker {
  const title = `Log in at ${describeHost(provider)}`;
  const dialog = createPickerDialog({ name: NAME, title, items: [toItem(provider)] });
  // A question of the run in its place would leave the key to be typed where it is shown.
  const release = context.holdQuestions?.() ?? (() => {});
  return {
    dialog: { ...dialog, input: { label: `Paste the key for ${provider.name}`, text: "", isHidden: true } },
    choose: () => askForKey(provider, context),
    async submit(key) {
      context.change((view) => closePicker(view, NAME));
      release();
      await store(provider, key, context);
    },
    close: release,
  };
}

function describeQuestion(provider: KeyProvider): string {
  const { name, keyPage } = provider;
  const page = keyPage === undefined ? "" : ` Get a key at ${keyPage}`;
  return `Paste the key for ${name} and press Enter; it is not shown. One request to ${describeHost(provider)} tests it.${page}`;
}

async function store(provider: KeyProvider, key: string, context: CommandContext): Promise<void> {
  const { cwd, loaded, model, redactor } = await context.session();
  const { environment } = context;
  const { name, variable } = provider;
  // From here on, the key is masked if it is typed or pasted anywhere else.
  redactor.add({ value: key.trim(), placeholder: `[key of ${name}]` });
  if (key.trim() !== "") note(context, `Testing the key with one request to ${hostOf(provider)}…`);
  try {
    const options = { cwd, config: loaded.config, environment, isProved: true };
    for (const line of await logIn(provider, key, options)) note(context, line);
  } catch (error) {
    if (!(error instanceof UnprovenKeyError)) throw error;
    throw new Error(`${error.message} Try /login ${name} again later.`);
  }
  await context.whenIdle(() => note(context, "The session uses the new key after the current task."));
  await context.reopen({ how: "reload", login: { variable, key: key.trim() } });
  const isOther = model.provider !== name;
  note(context, isOther ? `Still using ${model.id}; switch with /model.` : `${model.id} uses the new key.`);
}

function toItem({ name, hasKey, keyPage, address }: KeyProvider): PickerItem {
  return { id: name, label: name, detail: `${hasKey ? "has a key · " : ""}${keyPage ?? address}` };
}
