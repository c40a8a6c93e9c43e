import { WholeFile } from "../infrastructure/writing/whole-file.ts";
import { RecordedReply } from "./recorded-turn.ts";
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
 * @throws Error when it could not be made, also when there is such a file already.
 */
export function startRecording(path: string, fail: (error: unknown) => void): Recording {
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
        recorded.add(turn, { model, purpose: options.purpose });
        save();
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

class RecordedScript {
  private readonly turns: ScriptTurn[] = [];
  private readonly summaries: ScriptTurn[] = [];
  private readonly callIds = new Set<string>();
  private facts: Pick<Script, "contextWindow" | "price"> = {};

  /** The model of the first request is the one that the script stands for. */
  add(turn: ScriptTurn, { model, purpose }: { model: Model; purpose: "summary" | undefined }): void {
    if (this.turns.length + this.summaries.length === 0) this.facts = factsOf(model);
    const list = purpose === "summary" ? this.summaries : this.turns;
    list.push(this.withOwnIds(turn));
  }

  /** A turn a line. Without a summary there are no `summaries`, as in a script that is written by hand. */
  toJson(): string {
    const lists = [listOf("turns", this.turns)];
    if (this.summaries.length > 0) lists.push(listOf("summaries", this.summaries));
    const facts = JSON.stringify({ version: 1, ...this.facts }).slice(0, -1);
    return `${facts},\n${lists.join(",\n")}}\n`;
  }

  /** In a script an id stands once, and is one that every provider takes; a server may count anew for every reply. */
  private withOwnIds({ toolCalls, ...turn }: ScriptTurn): ScriptTurn {
    if (!toolCalls) return turn;
    const named = toolCalls.map((call) => {
      const isUsable = call.id !== undefined && CALL_ID.test(call.id) && !this.callIds.has(call.id);
      const id = isUsable ? call.id : this.freeId();
      if (id !== undefined) this.callIds.add(id);
      return { ...call, id };
    });
    return { ...turn, toolCalls: named };
  }

  private freeId(): string {
    let number = this.callIds.size + 1;
    while (this.callIds.has(`recorded_${number}`)) number++;
    return `recorded_${number}`;
  }
}

function listOf(name: "turns" | "summaries", turns: readonly ScriptTurn[]): string {
  return `${JSON.stringify(name)}:[\n${turns.map((turn) => JSON.stringify(turn)).join(",\n")}\n]`;
}

function factsOf(model: Model): Pick<Script, "contextWindow" | "price"> {
  const { inputCostPer1M, outputCostPer1M, cacheReadCostPer1M, cacheWriteCostPer1M } = model;
  const price: ModelPrice = {
    ...(inputCostPer1M !== undefined && { inputCostPer1M }),
    ...(outputCostPer1M !== undefined && { outputCostPer1M }),
    ...(cacheReadCostPer1M !== undefined && { cacheReadCostPer1M }),
    ...(cacheWriteCostPer1M !== undefined && { cacheWriteCostPer1M }),
  };
  return { contextWindow: model.contextWindow, ...(Object.keys(price).length > 0 && { price }) };
}
