import { EventStream } from "../event-stream.ts";
import type { ProviderEvent, ProviderResult } from "./types.ts";

/** A stream that ends with `done` or `error`, as every provider returns it; `result()` rejects with the ProviderError. */
export function createProviderStream(): EventStream<ProviderEvent, ProviderResult> {
  return new EventStream(
    (event) => event.type === "done" || event.type === "error",
    (event) => {
      if (event.type === "done") return { message: event.message };
      if (event.type === "error") throw event.error;
      throw new Error(`A provider stream cannot end with ${event.type}.`);
    },
  );
}
