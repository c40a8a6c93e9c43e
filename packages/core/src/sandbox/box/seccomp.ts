import { chmodSync, closeSync, lstatSync, mkdirSync, openSync, writeFileSync } from "node:fs";
import { isOwn } from "../../infrastructure/fs/directory.ts";
import { findStats } from "../../infrastructure/fs/stat.ts";
import { commandTemporaryPath } from "../../infrastructure/fs/state-files.ts";
import { processorName } from "../../infrastructure/runtime.ts";

/**
 * The system calls that the kernel rejects for sandboxed commands in addition to namespaces: sockets of families
 * without namespaces (one reaches a virtual machine's host), the user's keyrings, a way around this filter, and
 * writing input to a terminal. The result is a program for seccomp(2), or undefined for a processor whose system call
 * numbers are not listed here.
 */
export function makeSystemCallFilter(processor: string): Uint8Array | undefined {
  const machine = MACHINES[processor];
  if (machine === undefined) return undefined;
  const refused = machine.refused.flatMap((call) => onEqual(call, [give(ENOSYS)]));
  const instructions = [
    load(ARCHITECTURE_OFFSET),
    ...unlessEqual(machine.architecture, [give(ENOSYS)]),
    load(NUMBER_OFFSET),
    ...(machine.foreignFrom === undefined ? [] : onAtLeast(machine.foreignFrom, [give(ENOSYS)])),
    ...refused,
    ...onEqual(machine.ioctl, [
      load(argumentOffset(1)),
      ...TERMINAL_INPUT.flatMap((request) => onEqual(request, [give(EPERM)])),
      give(ALLOW),
    ]),
    ...onEqual(machine.socket, [
      load(argumentOffset(0)),
      ...FAMILIES.flatMap((family) => onEqual(family, [give(ALLOW)])),
      give(EAFNOSUPPORT),
    ]),
    give(ALLOW),
  ];
  return encode(instructions);
}

/** False for a processor without a filter. */
export function canFilterSystemCalls(): boolean {
  return MACHINES[processorName()] !== undefined;
}

interface Machine {
  /** From linux/audit.h. */
  architecture: number;
  /** The first number of another calling convention. */
  foreignFrom?: number;
  socket: number;
  ioctl: number;
  /** add_key, request_key, keyctl; io_uring_setup, which can create sockets that the filter does not see. */
  refused: readonly number[];
}

/** By Node's names for processors. */
const MACHINES: Readonly<Record<string, Machine>> = {
  x64: {
    architecture: 0xc000003e,
    foreignFrom: 0x40000000,
    socket: 41,
    ioctl: 16,
    refused: [248, 249, 250, 425],
  },
  arm64: { architecture: 0xc00000b7, socket: 198, ioctl: 29, refused: [217, 218, 219, 425] },
};

// Unix, IPv4, IPv6 and netlink, from sys/socket.h: the families with network namespaces.
const FAMILIES: readonly number[] = [1, 2, 10, 16];

// TIOCSTI and TIOCLINUX, from asm-generic/ioctls.h.
const TERMINAL_INPUT: readonly number[] = [0x5412, 0x541c];

const ALLOW = 0x7fff0000;
const ERROR = 0x00050000;
const ENOSYS = ERROR | 38;
const EPERM = ERROR | 1;
const EAFNOSUPPORT = ERROR | 97;

// Offsets in struct seccomp_data.
const NUMBER_OFFSET = 0;
const ARCHITECTURE_OFFSET = 4;
const argumentOffset = (index: number) => 16 + 8 * index;

// From linux/bpf_common.h.
const LOAD_WORD = 0x20;
const JUMP_IF_EQUAL = 0x15;
const JUMP_IF_AT_LEAST = 0x35;
const RETURN = 0x06;

interface Instruction {
  code: number;
  /** The number of instructions to skip. */
  ifTrue?: number;
  ifFalse?: number;
  value: number;
}

const load = (offset: number): Instruction => ({ code: LOAD_WORD, value: offset });
const give = (value: number): Instruction => ({ code: RETURN, value });

function onEqual(value: number, then: readonly Instruction[]): Instruction[] {
  return [{ code: JUMP_IF_EQUAL, ifFalse: then.length, value }, ...then];
}

function unlessEqual(value: number, then: readonly Instruction[]): Instruction[] {
  return [{ code: JUMP_IF_EQUAL, ifTrue: then.length, value }, ...then];
}

function onAtLeast(value: number, then: readonly Instruction[]): Instruction[] {
  return [{ code: JUMP_IF_AT_LEAST, ifFalse: then.length, value }, ...then];
}

/** The instructions as an array of struct sock_filter, in the byte order of all machines above. */
function encode(instructions: readonly Instruction[]): Uint8Array {
  const bytes = new DataView(new ArrayBuffer(8 * instructions.length));
  for (const [index, { code, ifTrue = 0, ifFalse = 0, value }] of instructions.entries()) {
    bytes.setUint16(8 * index, code, true);
    bytes.setUint8(8 * index + 2, ifTrue);
    bytes.setUint8(8 * index + 3, ifFalse);
    bytes.setUint32(8 * index + 4, value, true);
  }
  return new Uint8Array(bytes.buffer);
}

/** The directory of sandboxed commands' temporary files; absolute. */
export interface PrivateTemporary {
  /** The session's directory; commands may read it. */
  directory: string;
  /** Inside it: where commands write, and what they see instead of the system's temporary directories. */
  files: string;
  /** Inside it: an empty file. */
  emptyFile: string;
  /** Inside it: an empty file that nobody may read. */
  unreadableFile: string;
  /** Inside it: see `makeSystemCallFilter`; undefined if this machine has no filter. */
  filterFile: string | undefined;
}

/**
 * Creates the session's private temporary files. Undefined if they cannot be created: temporary files then last only
 * as long as their command.
 *
 * @param directory absolute and real, and outside all directories that commands may write to.
 * @throws Error if something other than a directory of this user has replaced the directory for files.
 */
export function preparePrivateTemporary(directory: string): PrivateTemporary | undefined {
  const files = commandTemporaryPath(directory);
  const emptyFile = `${directory}/empty`;
  const unreadableFile = `${directory}/unreadable`;
  try {
    mkdirSync(directory, { recursive: true, mode: 0o700 });
    makeDirectory(files);
    closeSync(openSync(emptyFile, "a", 0o600));
    if (findStats(unreadableFile) === undefined) closeSync(openSync(unreadableFile, "a", 0));
    const filterFile = writeFilter(`${directory}/filter`);
    return { directory, files, emptyFile, unreadableFile, filterFile };
  } catch (error) {
    if (error instanceof PathTakenError) throw error;
    return undefined;
  }
}

class PathTakenError extends Error {}

/** Creates the directory if necessary and makes it writable, whatever commands did to it. */
function makeDirectory(path: string): void {
  if (findStats(path) === undefined) mkdirSync(path, { mode: 0o700 });
  const stats = lstatSync(path, { bigint: true });
  if (!stats.isDirectory() || !isOwn(stats))
    throw new PathTakenError(`${path} is no directory of this session`);
  // Commands can change its contents and its mode, but its parent directory prevents them from replacing it.
  if ((stats.mode & 0o777n) !== 0o700n) chmodSync(path, 0o700);
}

function writeFilter(path: string): string | undefined {
  const filter = makeSystemCallFilter(processorName());
  if (filter === undefined) return undefined;
  // Written once: on a full disk, writing it again would leave commands without the filter.
  if (findStats(path)?.size !== filter.length) writeFileSync(path, filter, { mode: 0o600 });
  return path;
}
