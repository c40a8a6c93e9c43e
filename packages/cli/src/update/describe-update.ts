import { isNewer } from "./version-order.ts";

/** What to say about the newest version, without a full stop; undefined when this one is as new. */
export function describeUpdate(newest: string, current: string): string | undefined {
  return isNewer(newest, current) ? `diligent ${newest} is out; this is ${current}` : undefined;
}
