import { MISBEHAVIOURS, type Misbehaviour } from "../../../core/test/support/bad-summaries.ts";

/**
 * How a summariser behaves at each compaction of a run: each way in turn, beginning with another one in every second
 * run, so that both services meet all of them; then at random.
 */
export function chooseMisbehaviours(run: number, random: () => number): Misbehaviour[] {
  const first = Math.floor(run / 2);
  if (first < MISBEHAVIOURS.length) return [...MISBEHAVIOURS.slice(first), ...MISBEHAVIOURS.slice(0, first)];
  return MISBEHAVIOURS.map((usual) => MISBEHAVIOURS[Math.floor(random() * MISBEHAVIOURS.length)] ?? usual);
}
