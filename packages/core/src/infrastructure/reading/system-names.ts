import { readdirSync } from "node:fs";
import { fromNameBytes, REPLACEMENT, toSystemPath } from "./byte-name.ts";

/** The names in a directory, unsorted, also those that are no text; see `fromNameBytes`. @throws system errors. */
export function readSystemNames(path: string): string[] {
  const place = toSystemPath(path);
  const names = readdirSync(place);
  // Bytes are several times as dear, and seldom needed.
  if (!names.some((name) => name.includes(REPLACEMENT))) return names;
  return readdirSync(place, { encoding: "buffer" }).map(fromNameBytes);
}
