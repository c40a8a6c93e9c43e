import type { Socket } from "node:net";
import type { HostAndPort } from "../../infrastructure/network/host-pattern.ts";
import { type SocketReader, writeChunk } from "./socket-reader.ts";

/** The first byte of a client that speaks SOCKS 5; no HTTP request begins with it. */
export const SOCKS_VERSION = 5;

/** Answers to a request, from RFC 1928. */
export const SOCKS_REPLIES = {
  succeeded: 0,
  failed: 1,
  refused: 2,
  unreachable: 4,
  commandNotSupported: 7,
  addressNotSupported: 8,
} as const;

const NO_AUTHENTICATION = 0;
const USER_AND_PASSWORD = 2;
const NO_ACCEPTABLE_METHOD = 255;
const CONNECT = 1;
const IPV4 = 1;
const DOMAIN_NAME = 3;
const IPV6 = 4;

/**
 * Reads a SOCKS 5 greeting and request, and answers requests other than connect. The host is as the client wrote it,
 * in any notation. Undefined if the connection cannot be used further.
 */
export async function readSocksRequest(
  reader: SocketReader,
  client: Socket,
): Promise<HostAndPort | undefined> {
  const [, methodCount = 0] = (await reader.readExactly(2)) ?? [];
  const methods = await reader.readExactly(methodCount);
  if (methods === undefined) return undefined;
  const method = [NO_AUTHENTICATION, USER_AND_PASSWORD].find((each) => methods.includes(each));
  await writeChunk(client, Buffer.of(SOCKS_VERSION, method ?? NO_ACCEPTABLE_METHOD));
  if (method === undefined) return undefined;
  if (method === USER_AND_PASSWORD && !(await acceptAnyUser(reader, client))) return undefined;
  const [version, command, , addressType] = (await reader.readExactly(4)) ?? [];
  if (version !== SOCKS_VERSION) return undefined;
  const host = await readHost(reader, addressType);
  const port = await reader.readExactly(2);
  if (host === undefined || port === undefined) {
    await replyToSocks(client, "addressNotSupported");
    return undefined;
  }
  if (command !== CONNECT) {
    await replyToSocks(client, "commandNotSupported");
    return undefined;
  }
  return { host, port: port.readUInt16BE(0) };
}

/** Answers a request; the bound address, which nobody uses, is all zeros. */
export async function replyToSocks(client: Socket, reply: keyof typeof SOCKS_REPLIES): Promise<void> {
  await writeChunk(client, Buffer.of(SOCKS_VERSION, SOCKS_REPLIES[reply], 0, IPV4, 0, 0, 0, 0, 0, 0));
}

/** RFC 1929: a name and a password, which are ignored. */
async function acceptAnyUser(reader: SocketReader, client: Socket): Promise<boolean> {
  const [version, nameLength = 0] = (await reader.readExactly(2)) ?? [];
  const name = await reader.readExactly(nameLength);
  const [passwordLength = 0] = (await reader.readExactly(1)) ?? [];
  const password = await reader.readExactly(passwordLength);
  if (version !== 1 || name === undefined || password === undefined) return false;
  await writeChunk(client, Buffer.of(1, 0));
  return true;
}

async function readHost(reader: SocketReader, addressType: number | undefined): Promise<string | undefined> {
  if (addressType === IPV4) return (await reader.readExactly(4))?.join(".");
  if (addressType === DOMAIN_NAME) {
    const [length = 0] = (await reader.readExactly(1)) ?? [];
    return (await reader.readExactly(length))?.toString("latin1");
  }
  if (addressType !== IPV6) return undefined;
  const bytes = await reader.readExactly(16);
  if (bytes === undefined) return undefined;
  return Array.from({ length: 8 }, (_, index) => bytes.readUInt16BE(2 * index).toString(16)).join(":");
}
