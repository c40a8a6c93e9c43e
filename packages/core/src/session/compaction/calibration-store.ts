import { join } from "node:path";
import type { Environment } from "../../infrastructure/environment.ts";
import { userStateDirectory } from "../../infrastructure/places/user-directories.ts";
import { locateFile } from "../../infrastructure/reading/file-target.ts";
import { readWholeFile } from "../../infrastructure/reading/regular-file.ts";
import { updatePrivateFile } from "../../infrastructure/writing/private-file.ts";
import type { Model } from "../../provider/types.ts";
import { isPlausible, type TokenCalibration } from "./token-estimator.ts";

const VERSION = 1;
// Far more than anybody uses side by side; beyond it what was saved longest ago goes.
const MAX_MODELS = 100;
// A hundred models take 10 KB: anything much larger is not ours.
const MAX_BYTES = 1024 * 1024;

interface CalibratedModel extends TokenCalibration {
  id: string;
}

/** The name under which a model's calibration is kept: the same id may be served by several providers. */
export function calibrationKey({ provider, id }: Pick<Model, "provider" | "id">): string {
  return `${provider}/${id}`;
}

/** What was learned about a model in earlier sessions; undefined when nothing was, or it cannot be read. */
export function readCalibration(environment: Environment, modelId: string): TokenCalibration | undefined {
  const path = calibrationPath(environment);
  if (path === undefined) return undefined;
  try {
    const { realPath, stats } = locateFile(path);
    if (stats === undefined || stats.size > MAX_BYTES) return undefined;
    const found = parseModels(readWholeFile(realPath)).findLast(({ id }) => id === modelId);
    return found && { ratio: found.ratio, samples: found.samples };
  } catch {
    // It is learned anew then.
    return undefined;
  }
}

/**
 * Keeps what was learned about a model, in `calibration.json` of the user's state directory (0600). A file that is
 * broken is begun anew. Never rejects.
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
    // A read-only home, a full disk or a directory in its place: nobody misses more than a better guess.
  }
}

function calibrationPath(environment: Environment): string | undefined {
  const directory = userStateDirectory(environment);
  return directory && join(directory, "calibration.json");
}

/** Nothing for a file that is damaged or of a version that we do not know. */
function parseModels(content: Uint8Array | undefined): CalibratedModel[] {
  if (content === undefined || content.length > MAX_BYTES) return [];
  try {
    const value: unknown = JSON.parse(new TextDecoder().decode(content));
    if (!isObject(value) || value.version !== VERSION || !Array.isArray(value.models)) return [];
    return value.models.filter(isCalibratedModel);
  } catch {
    return []; // No JSON: the caller begins a new one.
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
