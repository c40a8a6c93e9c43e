import { errorReply, type Reply } from "../../../core/test/support/sse-server.ts";
import type { VendorAnswer, VendorService } from "./vendor-service.ts";

/** A fault in the answer that a model was about to give; the answer has a text and a call. */
export type VendorFault = (service: VendorService, answer: VendorAnswer) => Reply;

/** Temporary faults, by name. */
export const PASSING_FAULTS: Readonly<Record<string, VendorFault>> = {
  "a rate limit": () => errorReply(429, "rate_limit_error", "Slow down", { "retry-after": "0" }),
  overload: ({ overloaded }) => overloaded,
  "a connection reset before the answer": () => ({ silent: true, ending: "reset" }),
  "a connection reset in mid-text": (...cut) => ({ events: untilMidText(...cut), ending: "reset" }),
  "a stream that ends in mid-text": (...cut) => ({ events: untilMidText(...cut) }),
  "a stream that ends in the arguments of its last call": (...cut) => ({ events: untilMidCall(...cut) }),
  "a stream that ends before its last event": (service, answer) => ({
    events: service.events(answer).slice(0, -1),
  }),
  "an error event after a text": (service, answer) => ({
    events: [...untilMidCall(service, answer), service.errorEvent],
  }),
  "a stall in the arguments of the last call": (...cut) => ({ events: untilMidCall(...cut), ending: "hang" }),
  "a stall before the answer": () => ({ silent: true }),
};

function untilMidText(service: VendorService, answer: VendorAnswer): unknown[] {
  return untilLastButOne(service.events(answer), service.pieces.text);
}

/** Calls before the last are complete by then. */
function untilMidCall(service: VendorService, answer: VendorAnswer): unknown[] {
  return untilLastButOne(service.events(answer), service.pieces.json);
}

function untilLastButOne(events: readonly unknown[], piece: string): unknown[] {
  const places = [...events.keys()].filter((index) => JSON.stringify(events[index]).includes(`"${piece}"`));
  const place = places.at(-2);
  if (place === undefined) throw new Error(`The answer has no two pieces of ${piece}.`);
  return events.slice(0, place + 1);
}
