import { join } from "node:path";
import { IMAGE_CHARACTERS } from "../../history.ts";
import { updatePrivateFile } from "../../infrastructure/fs/private-files.ts";
import { locateFile, readWholeFile } from "../../infrastructure/fs/read.ts";
import { userStateDirectory } from "../../infrastructure/paths/user.ts";
import type { Environment } from "../../infrastructure/runtime.ts";
import type { Model, StreamContext } from "../../provider/types.ts";
import type { AssistantMessage } from "../../types.ts";
import {
  CHARACTERS_PER_TOKEN,
  countFixedCharacters,
  countImages,
  isPlausible,
  sumCharacters,
  type TokenCalibration,
  TokenEstimator,
  usageTokens,
} from "./tokens.ts";

const IMAGE_TOKENS = IMAGE_CHARACTERS / CHARACTERS_PER_TOKEN;

/** Where calibrations are kept across restarts. */
export interface CalibrationStore {
  read(): TokenCalibration | undefined;
  /** Never fails: without it the next session starts with the average of all models. */
  save(calibration: TokenCalibration): void;
}

/** Learns from each counted request how many tokens per character this model's tokenizer produces. */
export class Calibrator {
  readonly estimator: TokenEstimator;
  private lastLearned: AssistantMessage | undefined;
  private savedSamples: number;

  constructor(private readonly store?: CalibrationStore) {
    this.estimator = new TokenEstimator(store?.read());
    this.savedSamples = this.estimator.samples;
  }

  /** @param counted the newest reply of `context` for whose request the provider reported token counts. */
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

const VERSION = 1;
// Far more than any user has; at this number the one saved longest ago is dropped.
const MAX_MODELS = 100;
// A hundred models take 10 KB: anything much larger was not written by diligent.
const MAX_BYTES = 1024 * 1024;

interface CalibratedModel extends TokenCalibration {
  id: string;
}

/** The key of a model's calibration: several providers may serve the same id. */
export function calibrationKey({ provider, id }: Pick<Model, "provider" | "id">): string {
  return `${provider}/${id}`;
}

/** What was learned about a model in earlier sessions; undefined if there is nothing or it cannot be read. */
export function readCalibration(environment: Environment, modelId: string): TokenCalibration | undefined {
  const path = calibrationPath(environment);
  if (path === undefined) return undefined;
  try {
    const { realPath, stats } = locateFile(path);
    if (stats === undefined || stats.size > MAX_BYTES) return undefined;
    const found = parseModels(readWholeFile(realPath)).findLast(({ id }) => id === modelId);
    return found && { ratio: found.ratio, samples: found.samples };
  } catch {
    // It will be learned again.
    return undefined;
  }
}

/**
 * Keeps what was learned about a model, in `calibration.json` of the user's state directory (0600). A damaged file
 * is replaced. Never rejects.
 */
export async function saveCalibration(
  environment: Environment,
  modelId: string,
  { ratio, samples }: TokenCalibration,
): Promise<void> {
  const path = calibrationPath(environment);
  if (path === undefined) return;
  try {
    await updatePrivateFile(path, (content) => {
      const others = parseModels(content).filter(({ id }) => id !== modelId);
      const models = [...others, { id: modelId, ratio, samples }].slice(-MAX_MODELS);
      return new TextEncoder().encode(`${JSON.stringify({ version: VERSION, models }, null, 2)}\n`);
    });
  } catch {
    // A read-only home directory, a full disk or a directory in its place: only the estimate is less accurate.
  }
}

function calibrationPath(environment: Environment): string | undefined {
  const directory = userStateDirectory(environment);
  return directory && join(directory, "calibration.json");
}

/** Empty for a file that is damaged or of an unknown version. */
function parseModels(content: Uint8Array | undefined): CalibratedModel[] {
  if (content === undefined || content.length > MAX_BYTES) return [];
  try {
    const value: unknown = JSON.parse(new TextDecoder().decode(content));
    if (!isObject(value) || value.version !== VERSION || !Array.isArray(value.models)) return [];
    return value.models.filter(isCalibratedModel);
  } catch {
    return []; // The file is not JSON: the caller starts a new one.
  }
}

function isCalibratedModel(value: unknown): value is CalibratedModel {
  if (!isObject(value)) return false;
  const { id, ratio, samples } = value;
  if (typeof id !== "string" || typeof ratio !== "number" || !isPlausible(ratio)) return false;
  return typeof samples === "number" && samples >= 0;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null;
}
