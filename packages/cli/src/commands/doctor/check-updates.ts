import type { LoadedConfig } from "@diligent/core/run";
import { askForVersion } from "../../update/ask-for-version.ts";
import { describeUpdate } from "../../update/describe-update.ts";
import { UpdateError } from "../../update/update-error.ts";
import { VERSION } from "../../version.ts";
import { placeOf } from "../models-table.ts";
import { type Check, ok, skipped, warning } from "./check.ts";

/** Whether there is a newer version, asked at once where the user has said whom to ask. Nothing is kept. */
export async function checkUpdates(
  { updateUrl }: Pick<LoadedConfig["config"], "updateUrl">,
  { isOffline, version = VERSION }: { isOffline: boolean; version?: string },
): Promise<Check> {
  if (updateUrl === undefined) return skipped("updates", 'not asked for: there is no "updateUrl"');
  const place = placeOf(updateUrl);
  if (isOffline) return skipped("updates", `${place} was not asked`);
  try {
    const newest = await askForVersion(updateUrl);
    const news = describeUpdate(newest, version);
    return news === undefined
      ? ok("updates", `up to date: ${place} names ${newest}`)
      : warning("updates", news, `as ${place} says`);
  } catch (error) {
    if (!(error instanceof UpdateError)) throw error;
    return warning("updates", `${place} could not be asked: ${error.message}`);
  }
}
