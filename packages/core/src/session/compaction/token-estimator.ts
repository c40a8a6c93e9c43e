import { CHARACTERS_PER_TOKEN } from "./estimate-tokens.ts";

const START_RATIO = 1 / CHARACTERS_PER_TOKEN;
// The weight of one observation: after ten of them about two thirds of the ratio are learned.
const ALPHA = 0.1;
// No tokenizer comes near these; what does is a request that was counted in another way.
const MIN_RATIO = 0.05;
const MAX_RATIO = 3;

/** What was learned about the tokenizer of one model. */
export interface TokenCalibration {
  /** Tokens of one character. */
  ratio: number;
  /** Requests it was learned from. */
  samples: number;
}

/** Estimates tokens from characters, by a ratio that follows what the provider really counts. */
export class TokenEstimator {
  #ratio: number;
  #samples: number;

  constructor({ ratio = START_RATIO, samples = 0 }: Partial<TokenCalibration> = {}) {
    const isUsable = isPlausible(ratio);
    this.#ratio = isUsable ? ratio : START_RATIO;
    this.#samples = isUsable ? samples : 0;
  }

  get ratio(): number {
    return this.#ratio;
  }

  get samples(): number {
    return this.#samples;
  }

  estimate(characters: number): number {
    return Math.ceil(characters * this.#ratio);
  }

  /**
   * Learns from one request: its characters and the tokens that the provider counted for them, images in neither. What
   * cannot be true is passed over.
   */
  calibrate(characters: number, actualTokens: number): void {
    if (!(characters > 0 && actualTokens > 0)) return;
    const observed = actualTokens / characters;
    if (!isPlausible(observed)) return;
    this.#ratio = ALPHA * observed + (1 - ALPHA) * this.#ratio;
    this.#samples++;
  }
}

/** False for tokens per character as no tokenizer has them: they were counted in another way. */
export function isPlausible(ratio: number): boolean {
  return ratio >= MIN_RATIO && ratio <= MAX_RATIO;
}
