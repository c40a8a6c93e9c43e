import { WholeFile } from "../infrastructure/writing/whole-file.ts";
import { RecordedReply } from "./recorded-turn.ts";
import { renameStreamedCalls } from "./renamed-calls.ts";
import { CALL_ID, type Script, type ScriptTurn } from "./scripted-schema.ts";
import type { Model, ModelPrice, StreamFunction } from "./types.ts";

/** A script in the making: what models answer while it is recorded. */
export interface Recording {
  /** The absolute path of the script. */
  path: string;
  /**
   * Notes what comes of every request. It belongs inside of what repeats requests, since each repetition takes a turn of
   * a script. What was asked, and with which key, is not noted.
   */
  wrap(streamFunction: StreamFunction): StreamFunction;
}

/**
 * Makes a file (0600) with the first reply. From then on it is a script at any time, whenever the process may die, and
 * holds a reply before anybody is told that it has ended.
 * @param path absolute.
 * @param fail told once when the script could not be written any further.
 * @param noteOther told once when another model answers than the one whose window, price and conditions a replay goes by.
 * @throws Error when it could not be made, also when there is such a file already.
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
    wrap: (streamFunction) => (model, context, options) => {
      const reply = new RecordedReply();
      const stream = streamFunction(model, context, options);
      const keep = (turn: ScriptTurn) => {
        const models = recorded.add(turn, { model, purpose: options.purpose });
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

class RecordedScript {
  private readonly turns: ScriptTurn[] = [];
  private readonly summaries: ScriptTurn[] = [];
  private readonly callIds = new Set<string>();
  /** The one that the script stands for: that of the first request, summaries aside where there is any other. */
  private model: Model | undefined;
  private hasOther = false;
  private summarizer: Model | undefined;

  /** @returns the one it stands for and another one, when such a one has answered for the first time. */
  add(
    turn: ScriptTurn,
    { model, purpose }: { model: Model; purpose: "summary" | undefined },
  ): RecordedModels | undefined {
    const isSummary = purpose === "summary";
    if (isSummary) this.summarizer ??= model;
    if (this.turns.length === 0 && (!isSummary || !this.model)) this.model = model;
    (isSummary ? this.summaries : this.turns).push(this.withOwnIds(turn));
    return isSummary ? undefined : this.findOther(model);
  }

  /** A turn a line. Without a summary there are no `summaries`, as in a script that is written by hand. */
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
      ...model.conditions,
      ...(isOther && { summarizer: { ...sizeOf(summarizer), ...priceOf(summarizer) } }),
    };
    const price = priceOf(model);
    return {
      ...sizeOf(model),
      ...(Object.keys(price).length > 0 && { price }),
      ...((model.conditions || isOther) && { conditions }),
    };
  }

  /** In a script an id stands once, and is one that every provider takes; a server may count anew for every reply. */
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

/** Nothing but a price: a model has more fields than a script may hold. */
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
