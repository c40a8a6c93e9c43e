/** True for the address of a server on this machine. */
export function isLoopbackUrl(url: string | undefined): boolean {
  const host = URL.parse(url ?? "")?.hostname ?? "";
  return /^(.+\.)?localhost$/.test(host) || host === "[::1]" || /^127(\.\d{1,3}){3}$/.test(host);
}

/** True for an address that a provider can have. */
export function isHttpUrl(text: string): boolean {
  return /^https?:\/\/[^\s/]/i.test(text) && !/\s/.test(text) && URL.canParse(text);
}
