import { isPlainObject } from "./setting-paths.ts";
import { holdsVariable } from "./variables.ts";

const MASK = "********";

/** A setting's value as it may be shown: keys and what addresses hold besides the place are replaced by asterisks. */
export function maskSetting(key: string, value: unknown): unknown {
  if (Array.isArray(value)) return value.map((element) => maskSetting("", element));
  if (isPlainObject(value)) {
    return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, maskSetting(name, inner)]));
  }
  if (typeof value !== "string" || value === "") return value;
  const name = key.slice(key.lastIndexOf(".") + 1);
  if (name === "apiKey") return holdsVariable(value) ? value : MASK;
  return name === "baseUrl" || name === "updateUrl" ? maskAddress(value) : value;
}

function maskAddress(address: string): string {
  return address.replace(/^([a-z]+:\/\/)[^/@]*@/i, `$1${MASK}@`).replace(/\?.*$/s, `?${MASK}`);
}
