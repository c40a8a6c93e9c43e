import type { StreamContext } from "../../provider/types.ts";
import type { AssistantMessage } from "../../types.ts";
import { CHARACTERS_PER_TOKEN, IMAGE_CHARACTERS } from "../compaction/estimate-tokens.ts";
import { type TokenCalibration, TokenEstimator } from "../compaction/token-estimator.ts";
import { countImages, sumCharacters } from "./context-tokens.ts";
import { countFixedCharacters } from "./fixed-part.ts";
import { usageTokens } from "./has-room.ts";

const IMAGE_TOKENS = IMAGE_CHARACTERS / CHARACTERS_PER_TOKEN;

/** Where calibrations are kept over restarts. */
export interface CalibrationStore {
  read(): TokenCalibration | undefined;
  /** Never fails: without it the next session begins with the average of all models. */
  save(calibration: TokenCalibration): void;
}

/** Learns from each counted request how many tokens this model's tokenizer makes of a character. */
export class Calibrator {
  readonly estimator: TokenEstimator;
  private lastLearned: AssistantMessage | undefined;
  private savedSamples: number;

  constructor(private readonly store?: CalibrationStore) {
    this.estimator = new TokenEstimator(store?.read());
    this.savedSamples = this.estimator.samples;
  }

  /** @param counted the newest reply of `context` that the provider has counted the request for. */
  learn(context: StreamContext, counted: AssistantMessage | undefined): void {
    if (!counted || counted === this.lastLearned) return;
    this.lastLearned = counted;
    const position = context.messages.lastIndexOf(counted);
    if (position < 0) return;
    const asked = context.messages.slice(0, position);
    const images = countImages(asked);
    const characters = countFixedCharacters(context) + sumCharacters(asked) - images * IMAGE_CHARACTERS;
    const tokens = usageTokens(counted.usage) - counted.usage.outputTokens - images * IMAGE_TOKENS;
    this.estimator.calibrate(characters, tokens);
  }

  save(): void {
    const { ratio, samples } = this.estimator;
    if (samples === this.savedSamples) return;
    this.savedSamples = samples;
    this.store?.save({ ratio, samples });
  }
}
