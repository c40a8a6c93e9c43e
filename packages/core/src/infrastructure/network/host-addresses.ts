import { lookup } from "node:dns/promises";
import { isAddress, isPublicAddress } from "./addresses.ts";

/** Resolves a name. @throws Error if it has no addresses. */
export type ResolveName = (name: string) => Promise<readonly string[]>;

/** The system's resolver. */
export const resolveBySystem: ResolveName = async (name) => {
  const found = await lookup(name, { all: true, order: "verbatim" });
  return found.map(({ address }) => address);
};

/** A host without a usable address: a clause, and whether the address itself is the reason. */
export class HostAddressError extends Error {
  constructor(
    message: string,
    readonly isRefusal: boolean,
  ) {
    super(message);
  }
}

const MAX_ADDRESSES = 4;

/**
 * The checked addresses of a canonical host, to connect to instead of its name: a later change of the name then has no
 * effect. Empty for a name that is unknown here when `hasProxy` says that a proxy resolves it.
 *
 * @param mayBePrivate true for an address that the user has listed; a name never leads to a private one.
 * @throws HostAddressError
 */
export async function findHostAddresses(
  host: string,
  {
    mayBePrivate,
    hasProxy,
    resolve = resolveBySystem,
  }: { mayBePrivate: boolean; hasProxy: boolean; resolve?: ResolveName | undefined },
): Promise<readonly string[]> {
  if (isAddress(host)) {
    if (!mayBePrivate && !isPublicAddress(host))
      throw new HostAddressError(`${host} is not a public address, and no rule names it`, true);
    return [host];
  }
  const addresses = await resolve(host).catch(() => []);
  // One private address among several is enough to redirect a client to an internal host.
  const hidden = addresses.find((address) => !isPublicAddress(address));
  if (hidden !== undefined)
    throw new HostAddressError(`the name ${host} stands for ${hidden}, which is not a public address`, true);
  if (addresses.length === 0 && !hasProxy)
    throw new HostAddressError(`the name ${host} could not be resolved`, false);
  return addresses.slice(0, MAX_ADDRESSES);
}
