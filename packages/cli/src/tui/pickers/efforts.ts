import type { Effort } from "@diligent/core/run";

/** How hard a model may be asked to think, with a line about each. */
export const EFFORTS: readonly { level: Effort; meaning: string }[] = [
  { level: "off", meaning: "answers at once, where the model can be asked to" },
  { level: "low", meaning: "quick and cheap" },
  { level: "medium", meaning: "for most work" },
  { level: "high", meaning: "for what is hard" },
  { level: "xhigh", meaning: "longer still" },
  { level: "max", meaning: "as long as the model can, whatever it costs" },
];

/** True for a level of `EFFORTS`, written exactly so. */
export function isEffort(text: string): text is Effort {
  return EFFORTS.some(({ level }) => level === text);
}
