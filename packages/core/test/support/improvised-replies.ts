import { createText } from "./varied-text.ts";

/** A part of what an improvised model says. `pieces` is how it is streamed. */
export type ImprovisedPart =
  | { kind: "thinking" | "text"; pieces: string[] }
  /** Thinking that the provider keeps to itself. */
  | { kind: "hidden" }
  | { kind: "call"; name: string; pieces: string[] };

/** How an answer ends; `busy` and `overflow` refuse the request before any answer, the second for its length. */
export type ImprovisedEnding = "whole" | "max_tokens" | "error" | "cut" | "busy" | "overflow" | "refusal";

/** What an improvised model does with one request, in no service's words. */
export interface ImprovisedReply {
  parts: ImprovisedPart[];
  ending: ImprovisedEnding;
  /** True: the pieces of calls that follow each other come mixed. */
  isMixed: boolean;
}

const TEXTS = [
  "I look at it.",
  "",
  " \n",
  "\n\n",
  "Part",
  "Zwei — 🎉 Wörter",
  "A longer text, of some more words.",
];
const ARGUMENTS = [
  '{"path":"a","length":300}',
  '{ "length": 9000, "path": "b" }',
  "",
  "{}",
  '{"path": "a',
  "[1]",
  "{}x",
];
const NAMES = ["look", "look", "look", "slow", "slow", "change", "broken", "fly"];
const ENDINGS: ImprovisedEnding[] = ["max_tokens", "max_tokens", "error", "cut", "busy", "busy", "overflow"];

/** Replies at random, the same for the same source of numbers from 0 up to 1; some fail, and few end a run. */
export function improviseReply(random: () => number): ImprovisedReply {
  const pick = <T>(list: readonly T[], otherwise: T): T =>
    list[Math.floor(random() * list.length)] ?? otherwise;
  const cut = (text: string): string[] => {
    if (text === "") return [];
    const at = 1 + Math.floor(random() * text.length);
    return [text.slice(0, at), ...cut(text.slice(at))];
  };
  const thinking = (): ImprovisedPart => ({ kind: "thinking", pieces: cut(createText(random, "prose", 60)) });
  const parts = Array.from({ length: 1 + Math.floor(random() * 5) }, (): ImprovisedPart => {
    const kind = random();
    if (kind < 0.12) return thinking();
    if (kind < 0.2) return { kind: "hidden" };
    if (kind < 0.45) return { kind: "text", pieces: cut(pick(TEXTS, "")) };
    return { kind: "call", name: pick(NAMES, "look"), pieces: cut(pick(ARGUMENTS, "")) };
  });
  const ending = random() < 0.3 ? pick(ENDINGS, "whole") : random() < 0.02 ? "refusal" : "whole";
  return { parts, ending, isMixed: random() < 0.5 };
}
