import { loadConfig } from "@diligent/core/harness";
import type { LoadedConfig } from "@diligent/core/run";
import { EXIT_FAILURE, EXIT_SUCCESS, SIGNAL_EXIT_CODES, UsageError } from "../errors.ts";
import { HiddenLine } from "../io/hidden-line.ts";
import { type CliIo, writeFailure, writeLine } from "../io/io.ts";
import {
  describeHost,
  findKeyProvider,
  hostOf,
  type KeyProvider,
  listKeyProviders,
  listStoredProviders,
  logIn,
  logOut,
  UnprovenKeyError,
} from "../login/login.ts";
import { askYesNo, readSubcommandArguments } from "./arguments.ts";

// Longer than any key; larger input was piped in by mistake.
const MAX_KEY_BYTES = 16 * 1024;

/**
 * Reads a key for a provider, tests it and stores it. Returns the exit code: 1 if it could not be tested.
 * @throws UsageError for an unknown name, a missing or a wrong key; messages never contain the input.
 */
export async function runLogin(rest: readonly string[], io: CliIo): Promise<number> {
  const { name, isProved, modelId } = readLoginArguments(rest);
  const loaded = await loadConfig(io.cwd, io.environment);
  const { config } = loaded;
  const input = new KeyInput(io);
  const provider = name === undefined ? await input.askProvider(loaded) : findKeyProvider(name, loaded);
  if (provider === undefined) return SIGNAL_EXIT_CODES.SIGINT;
  const key = await input.askKey(provider, { isProved });
  if (key === undefined) return SIGNAL_EXIT_CODES.SIGINT;
  const { environment, cwd } = io;
  if (isProved && key.trim() !== "")
    writeLine(io.stderr, `Testing the key with one request to ${hostOf(provider)}…`);
  try {
    const lines = await logIn(provider, key, { cwd, config, environment, isProved, modelId });
    for (const line of lines) writeLine(io.stdout, line);
    return EXIT_SUCCESS;
  } catch (error) {
    if (!(error instanceof UnprovenKeyError)) throw error;
    const again = `diligent login ${provider.name}`;
    writeFailure(io.stderr, `${error.message} Try again, or store it untested: ${again} --no-check`);
    return EXIT_FAILURE;
  }
}

/**
 * Removes a provider's stored key. Without a name it is the only stored one, after a confirmation at a
 * terminal.
 * @throws UsageError for an unknown name, and if a name is needed.
 */
export async function runLogout(rest: readonly string[], io: CliIo): Promise<number> {
  const { words } = readWords("logout", rest);
  const loaded = await loadConfig(io.cwd, io.environment);
  const [name, ...more] = words;
  if (more.length > 0)
    throw new UsageError(`logout takes one provider: ${namesOf(listKeyProviders(loaded))}`);
  const provider = name === undefined ? await findOnlyKey(loaded, io) : findKeyProvider(name, loaded);
  const isAsked = name === undefined && io.stdin.isTerminal;
  if (isAsked && !(await askYesNo(`Remove the stored key for ${provider.name}?`, io)))
    writeLine(io.stdout, "Nothing removed.");
  else for (const line of await logOut(provider, io.environment)) writeLine(io.stdout, line);
  return EXIT_SUCCESS;
}

/** @throws UsageError if no key is stored, or several are. */
async function findOnlyKey(loaded: LoadedConfig, io: CliIo): Promise<KeyProvider> {
  const stored = await listStoredProviders(loaded, io.environment);
  const [only, ...others] = stored;
  if (only === undefined)
    throw new UsageError(`no key is stored for any of ${namesOf(listKeyProviders(loaded))}`);
  if (others.length > 0) throw new UsageError(`logout needs a provider: ${namesOf(stored)}`);
  return only;
}

function namesOf(providers: readonly KeyProvider[]): string {
  return providers.map(({ name }) => name).join(", ");
}

function readLoginArguments(rest: readonly string[]) {
  const { words, switches, values } = readWords("login", rest);
  const [name, ...more] = words;
  if (more.length > 0)
    throw new UsageError(
      "login takes no key as an argument: shell history and other users could see it. Run diligent login NAME and paste it, or pipe it in.",
    );
  return { name, isProved: !switches.has("no-check"), modelId: values.get("model") };
}

/** @throws UsageError without repeating the input, which may be a key. */
function readWords(command: "login" | "logout", rest: readonly string[]) {
  try {
    return readSubcommandArguments(command, rest);
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    throw new UsageError(`${command}: unknown option (see diligent ${command} --help)`);
  }
}

/** Asks at the terminal, without echoing the key, or reads stdin. */
class KeyInput {
  private chunks: AsyncIterator<Uint8Array> | undefined;
  private readonly decoder = new TextDecoder();

  constructor(private readonly io: CliIo) {}

  /** Undefined if the user cancelled. @throws UsageError without a terminal. */
  async askProvider(loaded: LoadedConfig): Promise<KeyProvider | undefined> {
    const { io } = this;
    const providers = listKeyProviders(loaded);
    if (!io.stdin.isTerminal)
      throw new UsageError(`login needs a provider: ${providers.map(({ name }) => name).join(", ")}`);
    providers.forEach(({ name, hasKey, keyPage, address }, index) => {
      writeLine(io.stderr, `  ${index + 1}. ${name}${hasKey ? " (has a key)" : ""}  ${keyPage ?? address}`);
    });
    io.stderr.write(`Which provider? [1-${providers.length}] `);
    const answer = (await this.readLine({ isHidden: false }))?.trim();
    if (answer === undefined) return undefined;
    return providers[Number(answer) - 1] ?? findKeyProvider(answer, loaded);
  }

  /** Undefined if the user cancelled. */
  async askKey(provider: KeyProvider, { isProved }: { isProved: boolean }): Promise<string | undefined> {
    const { io } = this;
    const { name, keyPage } = provider;
    if (!io.stdin.isTerminal) return this.readAll();
    if (keyPage !== undefined) writeLine(io.stderr, `Get a key at ${keyPage}`);
    const test = isProved ? ` One request to ${describeHost(provider)} tests it.` : "";
    writeLine(io.stderr, `Paste the key for ${name} and press Enter; it is not shown.${test}`);
    io.stderr.write("Key: ");
    const key = await this.readLine({ isHidden: true });
    io.stderr.write("\n");
    return key;
  }

  private async readLine({ isHidden }: { isHidden: boolean }): Promise<string | undefined> {
    const show = isHidden ? this.io.stdin.hide?.() : undefined;
    try {
      const line = new HiddenLine();
      for (;;) {
        const data = await this.read();
        const end = data === undefined ? line.finish() : line.push(data);
        if (end) return end.how === "interrupt" ? undefined : end.text;
      }
    } finally {
      show?.();
    }
  }

  private async readAll(): Promise<string> {
    let text = "";
    for (let data = await this.read(); data !== undefined; data = await this.read()) {
      text += data;
      if (text.length > MAX_KEY_BYTES) throw new UsageError("The input is too long for a key.");
    }
    return text;
  }

  /** Undefined at end of input. */
  private async read(): Promise<string | undefined> {
    this.chunks ??= this.io.stdin.stream()[Symbol.asyncIterator]();
    const { done, value } = await this.chunks.next();
    return done ? undefined : this.decoder.decode(value, { stream: true });
  }
}
