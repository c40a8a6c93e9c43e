import { readdirSync } from "node:fs";
import type { TrialStage } from "./trial.ts";

/** To be called behind the end of a program that was asked to end: its session's temporary directory has to be gone. */
export function checkTemporary({ place, check }: Pick<TrialStage, "place" | "check">): void {
  const left = readdirSync(place.temporary).filter((name) => name.startsWith("diligent-session-"));
  check("traceless", left.length === 0 ? undefined : `left in the temporary directory: ${left.join(", ")}`);
}
