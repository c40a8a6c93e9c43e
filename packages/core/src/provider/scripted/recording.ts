import { isBlank } from "../../history.ts";
import { WholeFile } from "../../infrastructure/fs/write.ts";
import {
  type AssistantMessage,
  assertNever,
  type ContentBlock,
  type ToolCallBlock,
  toolCallsOf,
  type Usage,
} from "../../types.ts";
import type { ProviderError } from "../errors.ts";
import type {
  Model,
  ModelPrice,
  ProviderEvent,
  RequestPurpose,
  RunConditions,
  StreamFunction,
} from "../types.ts";
import {
  type NumberedTurn,
  playSteps,
  renameStreamedCalls,
  scriptedUsage,
  splitIntoChunks,
  toMessageBlocks,
  toReplyParts,
  toReplyStop,
} from "./reply.ts";
import {
  CALL_ID,
  type Script,
  type ScriptBlock,
  type ScriptEvent,
  type ScriptReply,
  type ScriptToolCall,
  type ScriptTurn,
} from "./script.ts";

/** A script while it is being recorded. */
export interface Recording {
  /** The absolute path of the script. */
  path: string;
  /**
   * Wraps a provider to record the result of every request. It must be inside the retry wrapper, since each attempt
   * is one turn of a script. Requests and keys are not recorded.
   *
   * @param conditions the settings of the run, which a replay uses.
   */
  wrap(streamFunction: StreamFunction, conditions?: RunConditions): StreamFunction;
}

/**
 * Creates the file (0600) with the first reply. From then on the file is a valid script at any time, even if the
 * process dies, and it contains a reply before the end of that reply is reported.
 *
 * @param path absolute.
 * @param fail called once if the script can no longer be written.
 * @param noteOther called once if a model answers that differs from the recorded one: a replay uses the window,
 * prices and settings of the recorded model.
 * @throws Error if the file cannot be created, or already exists.
 */
export function startRecording(
  path: string,
  fail: (error: unknown) => void,
  noteOther: (models: Record<"recorded" | "other", Model>) => void = () => {},
): Recording {
  const recorded = new RecordedScript();
  const file = new WholeFile(path);
  let hasFailed = false;
  const save = () => {
    if (hasFailed) return;
    try {
      file.write(recorded.toJson());
    } catch (error) {
      hasFailed = true;
      fail(error);
    }
  };
  return {
    path,
    wrap: (streamFunction, conditions) => (model, context, options) => {
      const reply = new RecordedReply();
      const stream = streamFunction(model, context, options);
      const keep = (turn: ScriptTurn) => {
        const models = recorded.add(turn, { model, conditions, purpose: options.purpose });
        save();
        if (models) noteOther(models);
      };
      stream.subscribe((event) => {
        reply.note(event);
        if (event.type === "done") keep(reply.toTurn(event.message));
        if (event.type === "error") keep(reply.toFailedTurn(event.error));
      });
      return stream;
    },
  };
}

type RecordedModels = Record<"recorded" | "other", Model>;

interface RecordedRequest {
  model: Model;
  conditions: RunConditions | undefined;
  purpose: RequestPurpose | undefined;
}

class RecordedScript {
  private readonly turns: ScriptTurn[] = [];
  private readonly summaries: ScriptTurn[] = [];
  private readonly callIds = new Set<string>();
  /**
   * The model that the script records: that of the first request; a request for a summary counts only if there is no
   * other.
   */
  private model: Model | undefined;
  private conditions: RunConditions | undefined;
  private hasOther = false;
  private summarizer: Model | undefined;

  /** @returns the recorded model, and any other model the first time it answers. */
  add(turn: ScriptTurn, { model, conditions, purpose }: RecordedRequest): RecordedModels | undefined {
    const isSummary = purpose === "summary";
    if (isSummary) this.summarizer ??= model;
    if (this.turns.length === 0 && (!isSummary || !this.model)) {
      this.model = model;
      this.conditions = conditions;
    }
    (isSummary ? this.summaries : this.turns).push(this.withOwnIds(turn));
    return isSummary ? undefined : this.findOther(model);
  }

  /** One turn per line. `summaries` is left out if there are none, as in a script written by hand. */
  toJson(): string {
    const lists = [listOf("turns", this.turns)];
    if (this.summaries.length > 0) lists.push(listOf("summaries", this.summaries));
    const facts = JSON.stringify({ version: 1, ...this.facts() }).slice(0, -1);
    return `${facts},\n${lists.join(",\n")}}\n`;
  }

  private findOther(other: Model): RecordedModels | undefined {
    if (this.hasOther || !this.model || !isAnother(other, this.model)) return undefined;
    this.hasOther = true;
    return { recorded: this.model, other };
  }

  private facts(): Partial<Script> {
    const { model, summarizer } = this;
    if (!model) return {};
    const isOther = summarizer && isAnother(summarizer, model);
    const conditions = {
      ...this.conditions,
      ...(isOther && { summarizer: { ...sizeOf(summarizer), ...priceOf(summarizer) } }),
    };
    const price = priceOf(model);
    return {
      ...sizeOf(model),
      ...(Object.keys(price).length > 0 && { price }),
      ...((this.conditions || isOther) && { conditions }),
    };
  }

  /** Makes the ids of calls unique and valid for every provider: a server may restart its numbering with each reply. */
  private withOwnIds(turn: ScriptTurn): ScriptTurn {
    const { events, toolCalls } = turn;
    if (events) return renameStreamedCalls({ ...turn, events }, (id) => this.ownId(id));
    if (!toolCalls) return turn;
    return { ...turn, toolCalls: toolCalls.map((call) => ({ ...call, id: this.ownId(call.id) })) };
  }

  private ownId(id: string | undefined): string {
    const isUsable = id !== undefined && CALL_ID.test(id) && !this.callIds.has(id);
    const own = isUsable ? id : this.freeId();
    this.callIds.add(own);
    return own;
  }

  private freeId(): string {
    let number = this.callIds.size + 1;
    while (this.callIds.has(`recorded_${number}`)) number++;
    return `recorded_${number}`;
  }
}

function isAnother(model: Model, known: Model): boolean {
  return model.id !== known.id || model.provider !== known.provider;
}

function listOf(name: "turns" | "summaries", turns: readonly ScriptTurn[]): string {
  return `${JSON.stringify(name)}:[\n${turns.map((turn) => JSON.stringify(turn)).join(",\n")}\n]`;
}

function sizeOf({ contextWindow, maxInputTokens, maxOutputTokens }: Model) {
  return { contextWindow, ...(maxInputTokens !== undefined && { maxInputTokens }), maxOutputTokens };
}

/** Only the price: a model has more fields than a script allows. */
function priceOf({ longContext, ...model }: Model): NonNullable<Script["price"]> {
  const { aboveInputTokens } = longContext ?? {};
  return {
    ...pricesOf(model),
    ...(longContext &&
      aboveInputTokens !== undefined && { longContext: { ...pricesOf(longContext), aboveInputTokens } }),
  };
}

function pricesOf(price: ModelPrice): ModelPrice {
  const { inputCostPer1M, outputCostPer1M, cacheReadCostPer1M, cacheWriteCostPer1M } = price;
  return {
    ...(inputCostPer1M !== undefined && { inputCostPer1M }),
    ...(outputCostPer1M !== undefined && { outputCostPer1M }),
    ...(cacheReadCostPer1M !== undefined && { cacheReadCostPer1M }),
    ...(cacheWriteCostPer1M !== undefined && { cacheWriteCostPer1M }),
  };
}

/**
 * Collects the events of one reply and converts them to a turn of a script: as texts and calls if playing those
 * produces exactly the same events, otherwise as a list of events.
 */
class RecordedReply {
  private readonly pieces = new StreamedPieces();
  private readonly events: ScriptEvent[] = [];

  /** Skips events that are not replayed. */
  note(event: ProviderEvent): void {
    switch (event.type) {
      case "alive":
      case "keep_alive":
      case "retry":
      case "done":
      case "error":
        return;
      default:
        this.pieces.note(event);
        this.events.push(event);
    }
  }

  /** The turn for a finished or aborted reply. */
  toTurn(message: AssistantMessage): ScriptTurn {
    const reply = toScriptReply(message);
    const turn = notifyReply(message, this.streamed);
    const played = playWhole({ turn, callIds: toolCallsOf(message).map(({ id }) => id) });
    const isSame = this.isWhole(played.events) && Bun.deepEquals(played.reply, reply);
    return isSame || !this.hasOwnIds ? turn : { events: this.events, reply };
  }

  /** The turn for a failed request, with the part of the reply that had arrived. */
  toFailedTurn(error: ProviderError): ScriptTurn {
    const turn = notifyFailure(error, this.streamed);
    const { events } = playWhole({ turn, callIds: this.pieces.calls.map(({ id }) => id) });
    if (this.isWhole(events) || !this.hasOwnIds) return turn;
    return { events: this.events, error: toScriptError(error) };
  }

  private get streamed() {
    const [, second] = this.events;
    const last = this.events.at(-1);
    return {
      pieces: this.pieces,
      startUsage: usageOf(second),
      endUsage: last === second ? undefined : usageOf(last),
    };
  }

  private isWhole(played: readonly ProviderEvent[]): boolean {
    return Bun.deepEquals(played, this.events);
  }

  /** False if the server gave two calls of one reply the same id: a script may not contain such events. */
  private get hasOwnIds(): boolean {
    const ids = this.pieces.calls.map(({ id }) => id);
    return new Set(ids).size === ids.length;
  }
}

function usageOf(event: ScriptEvent | undefined): Usage | undefined {
  return event?.type === "usage" ? event.usage : undefined;
}

/** All events of a turn, played without interruption. */
function playWhole(numbered: NumberedTurn): {
  events: ProviderEvent[];
  reply: Omit<AssistantMessage, "role" | "model" | "timestamp">;
} {
  const { turn } = numbered;
  const steps = [...playSteps(numbered, 0)];
  const events = steps.flatMap((step) => ("event" in step ? [step.event] : []));
  const content = toMessageBlocks(steps.flatMap((step) => ("block" in step ? [step.block] : [])));
  const usage = scriptedUsage(turn.usage, 0, content);
  const end: ProviderEvent[] = turn.usage ? [{ type: "usage", usage }] : [];
  return { events: [...events, ...end], reply: { content, usage, ...toReplyStop(turn) } };
}

function toScriptReply({ content, usage, stopReason, rawStopReason }: AssistantMessage): ScriptReply {
  return {
    // Models do not answer with images.
    content: content.filter((block) => block.type !== "image"),
    usage,
    stopReason,
    ...(rawStopReason !== undefined && { rawStopReason }),
  };
}

interface Spoken {
  thinking: string;
  text: string;
  toolCalls: ScriptToolCall[];
}

/** One text of a reply, and its pieces. */
interface StreamedPart {
  text: string;
  pieces: readonly string[];
}

/** How a reply arrived: its pieces, and the token counts reported at its beginning and end. */
interface StreamedReply {
  pieces: StreamedPieces;
  startUsage: Usage | undefined;
  endUsage: Usage | undefined;
}

/** Describes a complete reply as a person would write it in a script. */
function notifyReply(message: AssistantMessage, { pieces, startUsage }: StreamedReply): ScriptTurn {
  const blocks = toolCallsOf(message);
  const isCut = message.stopReason === "max_tokens";
  const toolCalls = blocks.map((block, index) => {
    const isLastCut = isCut && index === blocks.length - 1 && block.invalidInput !== undefined;
    return toScriptCall(block, inputOf(block, pieces), isLastCut);
  });
  const words = { thinking: wordsOf(message, "thinking"), text: wordsOf(message, "text"), toolCalls };
  const said = { ...spoken(words), ...stopOf(message) };
  const parts = toReplyParts({ turn: said, callIds: blocks.map(({ id }) => id) });
  const isAllSaid = Bun.deepEquals(toMessageBlocks(parts.map(({ block }) => block)), message.content);
  return {
    ...spoken(words),
    ...(!isAllSaid && { content: message.content.flatMap((block) => toScriptBlock(block, words)) }),
    ...chunksOf(isAllSaid ? usualParts(message, pieces) : partsOf(message, pieces)),
    ...stopOf(message),
    ...(startUsage && { startUsage: { ...startUsage } }),
    usage: { ...message.usage },
  };
}

/** Describes a failed request and the part of the reply that had arrived. */
function notifyFailure(error: ProviderError, { pieces, startUsage, endUsage }: StreamedReply): ScriptTurn {
  const [thinking, text] = [pieces.all("thinking"), pieces.all("text")];
  const toolCalls = pieces.calls.map((call) => ({
    id: call.id,
    name: call.name,
    input: call.pieces.join(""),
  }));
  return {
    ...spoken({ thinking: thinking.join(""), text: text.join(""), toolCalls }),
    ...chunksOf([
      { text: thinking.join(""), pieces: thinking },
      { text: text.join(""), pieces: text },
      ...pieces.calls.map((call) => ({ text: call.pieces.join(""), pieces: call.pieces })),
    ]),
    ...(startUsage && { startUsage: { ...startUsage } }),
    ...(endUsage && { usage: { ...endUsage } }),
    error: toScriptError(error),
  };
}

/** The error in the form of a script. */
function toScriptError({
  errorType,
  message,
  retryAfterMs,
  contextWindow,
  requestTokens,
}: ProviderError): NonNullable<ScriptTurn["error"]> {
  return {
    errorType,
    message: message || errorType,
    ...(retryAfterMs !== undefined && { retryAfterMs }),
    ...(contextWindow !== undefined && { contextWindow }),
    ...(requestTokens !== undefined && { requestTokens }),
  };
}

/** In the order of a turn without `content`. */
function usualParts(message: AssistantMessage, pieces: StreamedPieces): StreamedPart[] {
  return [
    { text: wordsOf(message, "thinking"), pieces: pieces.all("thinking") },
    { text: wordsOf(message, "text"), pieces: pieces.all("text") },
    ...toolCallsOf(message).map((block) => partOfCall(block, pieces)),
  ];
}

/** In the order of the message. */
function partsOf(message: AssistantMessage, streamed: StreamedPieces): StreamedPart[] {
  const pieces = { thinking: streamed.each("thinking"), text: streamed.each("text") };
  return message.content.flatMap((block) => {
    if (block.type === "tool_call") return [partOfCall(block, streamed)];
    if (block.type !== "text" && block.type !== "thinking") return [];
    const text = block.type === "text" ? block.text : block.thinking;
    return [{ text, pieces: pieces[block.type].shift() ?? [] }];
  });
}

function partOfCall(block: ToolCallBlock, pieces: StreamedPieces): StreamedPart {
  return { text: inputOf(block, pieces), pieces: pieces.piecesOfCall(block.id) ?? [] };
}

/** The text of the arguments as the model wrote it; if it was not streamed, the JSON of the parsed arguments. */
function inputOf({ id, input, invalidInput }: ToolCallBlock, pieces: StreamedPieces): string {
  if (invalidInput !== undefined) return invalidInput;
  const streamed = pieces.piecesOfCall(id)?.join("") ?? "";
  const isSame = streamed === "" ? Object.keys(input).length === 0 : Bun.deepEquals(parse(streamed), input);
  return isSame ? streamed : JSON.stringify(input);
}

function spoken({ thinking, text, toolCalls }: Spoken) {
  return {
    ...(thinking !== "" && { thinking }),
    ...(text !== "" && { text }),
    ...(toolCalls.length > 0 && { toolCalls }),
  };
}

/** Needed only if the pieces differ from the default chunks and add up to the texts of the turn. */
function chunksOf(parts: readonly StreamedPart[]): Pick<ScriptTurn, "chunks"> {
  const isUsual = parts.every(({ text, pieces }) => Bun.deepEquals([...splitIntoChunks(text)], pieces));
  const isWhole = parts.every(({ text, pieces }) => pieces.join("") === text);
  if (isUsual || !isWhole) return {};
  return { chunks: parts.flatMap(({ pieces }) => pieces.map(({ length }) => length)) };
}

/** Text and thinking that the turn states once; with several blocks, each block of `content` states its own. */
function wordsOf({ content }: AssistantMessage, type: "text" | "thinking"): string {
  const texts = content.flatMap((block) => {
    if (block.type !== type) return [];
    return [block.type === "text" ? block.text : block.type === "thinking" ? block.thinking : ""];
  });
  const [only = "", ...more] = texts;
  return more.length > 0 ? "" : only;
}

/** The block without the fields that the turn states already. */
function toScriptBlock(block: ContentBlock, { thinking, text }: Spoken): ScriptBlock[] {
  switch (block.type) {
    case "thinking": {
      const { thinking: own, ...rest } = block;
      return [own === thinking ? rest : block];
    }
    case "text": {
      const { text: own, ...rest } = block;
      return [own === text ? rest : block];
    }
    case "tool_call":
      return [{ type: "tool_call", ...(block.replay && { replay: block.replay }) }];
    case "opaque":
      return [block];
    case "image":
      // Models do not answer with images.
      return [];
    default:
      return assertNever(block);
  }
}

/**
 * The arguments as an object if its JSON equals the streamed text, which is more readable; otherwise the text
 * verbatim.
 */
function toScriptCall({ id, name, input }: ToolCallBlock, text: string, isCut: boolean): ScriptToolCall {
  // Playing a cut-off reply removes the last character of the arguments.
  if (isCut) return { id, name, input: `${text}}` };
  return { id, name, input: text === JSON.stringify(input) ? input : text };
}

/**
 * The raw stop reason if a script converts it to the same stop reason, otherwise our own name; left out if it is the
 * default.
 */
function stopOf(message: AssistantMessage): Pick<ScriptTurn, "stopReason"> {
  const toolCalls = toolCallsOf(message) satisfies ScriptToolCall[];
  const { stopReason, rawStopReason } = message;
  const means = (word: string | undefined) =>
    toReplyStop({ toolCalls, ...(word !== undefined && { stopReason: word }) }).stopReason === stopReason;
  if (rawStopReason !== undefined && rawStopReason !== "" && means(rawStopReason))
    return { stopReason: rawStopReason };
  return means(undefined) && rawStopReason === undefined ? {} : { stopReason };
}

function parse(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    // Text that is not JSON differs from the parsed arguments in any case.
    return undefined;
  }
}

/** A tool call of a reply; its `pieces` joined are the JSON of its arguments. */
interface StreamedCall {
  id: string;
  name: string;
  pieces: string[];
}

/** The pieces of one text, or of one thinking. */
interface StreamedText {
  type: "text" | "thinking";
  pieces: string[];
  isEnded: boolean;
}

/** The streamed pieces, grouped by their block. */
class StreamedPieces {
  readonly calls: StreamedCall[] = [];
  private readonly texts: StreamedText[] = [];

  note(event: ProviderEvent): void {
    if (event.type === "text_delta") this.open("text").pieces.push(event.delta);
    else if (event.type === "thinking_delta") this.open("thinking").pieces.push(event.delta);
    else if (event.type === "text_end") this.end("text");
    else if (event.type === "thinking_end") this.end("thinking");
    else if (event.type === "tool_call_start")
      this.calls.push({ id: event.id, name: event.name, pieces: [] });
    else if (event.type === "tool_call_delta") this.piecesOfCall(event.id)?.push(event.delta);
  }

  /** All pieces of a kind, in order. */
  all(type: StreamedText["type"]): string[] {
    return this.texts.flatMap((text) => (text.type === type ? text.pieces : []));
  }

  /** The pieces of each text of a kind. A blank text is left out, as it is from a message. */
  each(type: StreamedText["type"]): string[][] {
    const texts = this.texts.filter((text) => text.type === type).map(({ pieces }) => pieces);
    return type === "text" ? texts.filter((pieces) => !isBlank(pieces.join(""))) : texts;
  }

  /** Undefined for a call that was not streamed. */
  piecesOfCall(id: string): string[] | undefined {
    return this.calls.findLast((call) => call.id === id)?.pieces;
  }

  private open(type: StreamedText["type"]): StreamedText {
    const open = this.texts.findLast((text) => text.type === type && !text.isEnded);
    if (open) return open;
    const text: StreamedText = { type, pieces: [], isEnded: false };
    this.texts.push(text);
    return text;
  }

  /** A text without streamed pieces is not part of the message. Thinking can be: providers may hide it. */
  private end(type: StreamedText["type"]): void {
    const open = this.texts.findLast((text) => text.type === type && !text.isEnded);
    if (open) open.isEnded = true;
    else if (type === "thinking") this.texts.push({ type, pieces: [], isEnded: true });
  }
}
