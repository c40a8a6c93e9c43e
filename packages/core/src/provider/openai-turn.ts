import type { ResponseInputItem } from "openai/resources/responses/responses";
import type { AssistantMessage } from "../types.ts";
import { type Piece, type PieceContext, toPieces } from "./openai-pieces.ts";

/** What turning one message into items depends on, and what it leaves for the next. */
export interface TurnContext extends PieceContext {
  /** Ids of items that went before: the API refuses an id that comes twice. */
  usedIds: Set<string>;
}

/** Reasoning and what it led to, up to the next reasoning. */
interface Stretch {
  reasoning: Piece[];
  results: Piece[];
}

/** An assistant message as items of the API, in the order in which they came. */
export function toTurnItems(message: AssistantMessage, context: TurnContext): ResponseInputItem[] {
  return toStretches(toPieces(message.content, context)).flatMap((stretch) =>
    toStretchItems(stretch, context.usedIds),
  );
}

function toStretches(pieces: readonly Piece[]): Stretch[] {
  const stretches: Stretch[] = [];
  for (const piece of pieces) {
    const last = stretches.at(-1);
    const goesOn = last !== undefined && (!piece.isReasoning || last.results.length === 0);
    const stretch = goesOn ? last : { reasoning: [], results: [] };
    if (!goesOn) stretches.push(stretch);
    stretch[piece.isReasoning ? "reasoning" : "results"].push(piece);
  }
  return stretches;
}

/**
 * The API refuses reasoning that is not followed by the item it led to, and such an item under its id without its reasoning.
 * So they go back together, or neither reasoning nor ids do.
 */
function toStretchItems({ reasoning, results }: Stretch, usedIds: Set<string>): ResponseInputItem[] {
  const [first] = results;
  const goesWhole =
    reasoning.length === 0 || (first !== undefined && canGoWhole([...reasoning, first], usedIds));
  if (!goesWhole) return results.flatMap(({ plain }) => plain);
  return [...reasoning, ...results].flatMap((piece) => {
    if (!piece.whole || !isFree(piece, usedIds)) return piece.plain;
    if (piece.id !== "") usedIds.add(piece.id);
    return [piece.whole];
  });
}

/** Every piece with its own id, none of them twice. */
function canGoWhole(pieces: readonly Piece[], usedIds: ReadonlySet<string>): boolean {
  const ids = pieces.map(({ id }) => id).filter((id) => id !== "");
  const isUnique = new Set(ids).size === ids.length;
  return isUnique && pieces.at(-1)?.id !== "" && pieces.every((piece) => isFree(piece, usedIds));
}

function isFree({ whole, id }: Piece, usedIds: ReadonlySet<string>): boolean {
  return whole !== undefined && (id === "" || !usedIds.has(id));
}
