import { isBlank } from "../result-texts.ts";
import type { ProviderEvent } from "./types.ts";

/** A tool call of a reply; joined, its `pieces` are the JSON of its arguments. */
export interface StreamedCall {
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

/** The pieces that a reply is streamed in, by what they are pieces of. */
export class StreamedPieces {
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

  /** The pieces of each text of a kind. One that is blank is left out, as it is from a message. */
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

  /** A text of which nothing was streamed is none of a message either; thinking may be kept from us. */
  private end(type: StreamedText["type"]): void {
    const open = this.texts.findLast((text) => text.type === type && !text.isEnded);
    if (open) open.isEnded = true;
    else if (type === "thinking") this.texts.push({ type, pieces: [], isEnded: true });
  }
}
