import { type Environment, now } from "@diligent/core/light";
import { VERSION } from "../version.ts";
import { type AskingOptions, askForVersion } from "./ask-for-version.ts";
import { describeUpdate } from "./describe-update.ts";
import { wasLeft } from "./update-error.ts";
import { claimAsking, keepAnswer, readFreshRecord, updateRecordPath } from "./update-record.ts";

/** When and for which version it is looked, and how long. */
export interface LookOptions extends AskingOptions {
  environment: Environment;
  /** The time in milliseconds since the epoch; now when left out. */
  at?: number;
  /** The version that runs; this program's when left out. */
  current?: string;
}

/** The newest version as far as it is known. */
export interface KnownVersion {
  /** What to say where it is newer than the one that runs. */
  news?: string;
  /** Undefined when nobody has answered yet. */
  version?: string;
  /** False: it was kept from an earlier look. */
  isAsked: boolean;
}

/**
 * The newest version: as it was answered within the last 24 hours, else as the server names it now, which is kept.
 * @throws UpdateError when the server gives no answer, and Error where no answer could be kept: nobody is asked then.
 */
export async function lookForUpdate(
  url: string,
  { environment, at = now(), current = VERSION, ...asking }: LookOptions,
): Promise<KnownVersion> {
  const path = updateRecordPath(environment);
  let fresh = await readFreshRecord(path, { url, at });
  // Who is about to leave does not use up the day.
  if (fresh === undefined && asking.signal?.aborted) throw wasLeft();
  fresh ??= await claimAsking(path, { url, at });
  if (fresh) return { isAsked: false, ...describe(fresh.version, current) };
  const version = await askForVersion(url, asking);
  await keepAnswer(path, { url, at }, version);
  return { isAsked: true, ...describe(version, current) };
}

function describe(version: string | undefined, current: string): Pick<KnownVersion, "version" | "news"> {
  if (version === undefined) return {};
  const news = describeUpdate(version, current);
  return { version, ...(news !== undefined && { news: `${news}.` }) };
}
