import { VERSION } from "../version.ts";

/** The version of the protocol that is spoken, whatever the editor asks for. */
const PROTOCOL_VERSION = 1;

/** The way to sign in. */
export const SIGN_IN_METHOD = "login";

/** The result of `initialize`. */
export function describeAgent() {
  return {
    protocolVersion: PROTOCOL_VERSION,
    agentInfo: { name: "diligent", title: "diligent", version: VERSION },
    agentCapabilities: {
      loadSession: true,
      promptCapabilities: { image: true, audio: false, embeddedContext: true },
      mcpCapabilities: { http: true, sse: true },
      sessionCapabilities: { list: {}, resume: {}, close: {}, delete: {}, additionalDirectories: {} },
    },
    authMethods: [
      {
        id: SIGN_IN_METHOD,
        name: "diligent login",
        description: "Store a key: run diligent login in a terminal",
      },
    ],
  };
}

/** What the editor offers besides the messages that all editors take. */
export interface EditorAbilities {
  readsFiles: boolean;
  writesFiles: boolean;
  /** It asks the user by forms. */
  showsForms: boolean;
}

/** What the parameters of `initialize` announce; what is not of the protocol's types is not offered. */
export function readAbilities(params: unknown): EditorAbilities {
  const capabilities = toRecord(toRecord(params).clientCapabilities);
  const { readTextFile, writeTextFile } = toRecord(capabilities.fs);
  return {
    readsFiles: readTextFile === true,
    writesFiles: writeTextFile === true,
    showsForms: isObject(toRecord(capabilities.elicitation).form),
  };
}

const LINE_FEED = 0x0a;
// A first line that is longer is not a plain request to initialize.
const MAX_FIRST_BYTES = 64 * 1024;

/** The input of which the first line was read. */
export interface StartedInput {
  /** The answer to the first line; undefined if the library has to answer it. */
  answer: InitializeAnswer | undefined;
  /** All lines. One that has an answer is there as a plain request, since the library waits for it. */
  lines: ReadableStream<Uint8Array>;
  /**
   * Call it when the library has answered the plain request: the lines after it follow then, since the library refuses
   * those that it reads earlier.
   */
  continueLines(): void;
}

interface InitializeAnswer {
  message: { jsonrpc: "2.0"; id: number | string; result: ReturnType<typeof describeAgent> };
  abilities: EditorAbilities;
}

/**
 * Reads the first line and answers it if it is a plain request to initialize. Editors wait for this answer when they
 * start, and the protocol's library takes longer to load than everything before.
 */
export async function startInput(input: ReadableStream<Uint8Array>): Promise<StartedInput> {
  const reader = input.getReader();
  const chunks: Uint8Array[] = [];
  let hasEnded = false;
  let hasLine = false;
  for (let bytes = 0; !hasLine && !hasEnded && bytes < MAX_FIRST_BYTES; ) {
    const chunk = await reader.read();
    hasEnded = chunk.done;
    if (chunk.done) continue;
    chunks.push(chunk.value);
    bytes += chunk.value.length;
    hasLine = chunk.value.includes(LINE_FEED);
  }
  const read = Buffer.concat(chunks);
  const end = read.indexOf(LINE_FEED);
  const answer = end < 0 ? undefined : answerInitialize(read.subarray(0, end));
  const answered = Promise.withResolvers<void>();
  if (!answer) answered.resolve();
  let rest = answer ? read.subarray(end + 1) : read;
  const lines = new ReadableStream<Uint8Array>({
    start(controller) {
      if (answer) controller.enqueue(toPlainRequest(answer));
    },
    async pull(controller) {
      await answered.promise;
      const chunk =
        rest.length > 0 ? { done: false, value: rest } : hasEnded ? { done: true } : await reader.read();
      rest = Buffer.alloc(0);
      if (chunk.done || !chunk.value) controller.close();
      else controller.enqueue(chunk.value);
    },
    cancel: () => reader.cancel(),
  });
  return { answer, lines, continueLines: answered.resolve };
}

function toPlainRequest({ message: { jsonrpc, id } }: InitializeAnswer): Uint8Array {
  const params = { protocolVersion: PROTOCOL_VERSION, clientCapabilities: {} };
  return Buffer.from(`${JSON.stringify({ jsonrpc, id, method: "initialize", params })}\n`);
}

function answerInitialize(line: Uint8Array): InitializeAnswer | undefined {
  try {
    const request: unknown = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(line));
    if (!isObject(request) || request.jsonrpc !== "2.0" || request.method !== "initialize") return undefined;
    const { id, params } = request;
    if (typeof id !== "number" && typeof id !== "string") return undefined;
    if (!isObject(params) || !isVersion(params.protocolVersion)) return undefined;
    const { clientCapabilities = {}, clientInfo } = params;
    if (!isObject(clientCapabilities) || (clientInfo !== undefined && !isObject(clientInfo)))
      return undefined;
    return {
      message: { jsonrpc: "2.0", id, result: describeAgent() },
      abilities: readAbilities(params),
    };
  } catch {
    // The library reports what is wrong with it.
    return undefined;
  }
}

function toRecord(value: unknown): Record<string, unknown> {
  return isObject(value) ? value : {};
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function isVersion(value: unknown): boolean {
  return typeof value === "number" && Number.isInteger(value) && value >= 0 && value <= 65_535;
}
