import { ProviderError } from "../provider/types.ts";
import type { SerializableError } from "./types.ts";

/** An error as data. The stack is kept only for what is a bug of ours: the others name their cause themselves. */
export function toSerializableError(error: unknown): SerializableError {
  if (error instanceof ProviderError) {
    return { name: error.name, message: error.message, errorType: error.errorType };
  }
  if (!(error instanceof Error)) return { name: "Error", message: String(error) };
  const { name, message, stack } = error;
  return { name, message, ...(stack !== undefined && { stack }) };
}
