import { isLoopbackUrl } from "../infrastructure/loopback-url.ts";
import { isHttpUrl } from "./http-url.ts";

/**
 * True for an address that may be asked for the newest version: https, or http on this machine, without a user's name or
 * a password in it.
 */
export function isUpdateUrl(text: string): boolean {
  const url = isHttpUrl(text) ? URL.parse(text) : null;
  if (url === null || url.username !== "" || url.password !== "") return false;
  return url.protocol === "https:" || isLoopbackUrl(text);
}
