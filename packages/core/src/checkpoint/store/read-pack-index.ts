import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { systemErrorCode } from "../../infrastructure/system-error.ts";
import type { Slices } from "../slices.ts";
import { type BlobPlace, RECORD_BYTES, readPackRecord } from "./pack-record.ts";

/** Where the contents of all packs in a directory lie, added to `places`. Torn ends and packs that went away do not count. */
export async function readPackIndexes(
  directory: string,
  places: Map<string, BlobPlace>,
  slices: Slices,
): Promise<void> {
  for (const name of listIndexes(directory)) {
    const pack = join(directory, `${name.slice(0, -".idx".length)}.pack`);
    const records = readWhole(join(directory, name));
    const size = statSync(pack, { throwIfNoEntry: false })?.size ?? 0;
    for (let start = 0; start + RECORD_BYTES <= records.length; start += RECORD_BYTES) {
      if (slices.isDue) await slices.pause();
      const [hash, place] = readPackRecord(records, start, pack);
      if (place.offset + place.storedLength <= size) places.set(hash, place);
    }
  }
}

function listIndexes(directory: string): string[] {
  try {
    return readdirSync(directory).filter((name) => name.endsWith(".idx"));
  } catch (error) {
    if (systemErrorCode(error) === "ENOENT") return [];
    throw error;
  }
}

function readWhole(path: string): Buffer {
  try {
    return readFileSync(path);
  } catch (error) {
    // Another process has just found that it needs none of it.
    if (systemErrorCode(error) === "ENOENT") return Buffer.alloc(0);
    throw error;
  }
}
