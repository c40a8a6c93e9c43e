import type { Figure } from "./figure.ts";
import type { Stage } from "./stage/stage.ts";

/** A question about speed or size that one or more figures answer. */
export interface Benchmark {
  /** As it is asked for on the command line. */
  name: string;
  /** One line for `--help`. */
  about: string;
  measure(stage: Stage): Promise<Figure[]>;
}
