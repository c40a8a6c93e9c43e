import { chmodSync, closeSync, lstatSync, mkdirSync, openSync, writeFileSync } from "node:fs";
import { isOwn } from "../../infrastructure/fs/directory.ts";
import { findStats } from "../../infrastructure/fs/stat.ts";
import { commandTemporaryPath } from "../../infrastructure/fs/state-files.ts";
import { processorName } from "../../infrastructure/runtime.ts";

/**
 * The system calls that the kernel refuses sandboxed commands in addition to namespaces: sockets of families that
 * know no namespaces (a virtual machine's host is reached by one), the user's keyrings, a way around this filter,
 * and typing into a terminal. As a program for seccomp(2), or undefined for a processor whose numbers are not known
 * here.
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

/** False for a processor for which there is no filter. */
export function canFilterSystemCalls(): boolean {
  return MACHINES[processorName()] !== undefined;
}

interface Machine {
  /** From linux/audit.h. */
  architecture: number;
  /** The first number of another way to call. */
  foreignFrom?: number;
  socket: number;
  ioctl: number;
  /** add_key, request_key, keyctl; io_uring_setup, by which sockets can be made unseen. */
  refused: readonly number[];
}

/** By the names that Node has for processors. */
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

// Unix, IPv4, IPv6 and netlink, from sys/socket.h: what a network namespace holds.
const FAMILIES: readonly number[] = [1, 2, 10, 16];

// TIOCSTI and TIOCLINUX, from asm-generic/ioctls.h.
const TERMINAL_INPUT: readonly number[] = [0x5412, 0x541c];

const ALLOW = 0x7fff0000;
const ERROR = 0x00050000;
const ENOSYS = ERROR | 38;
const EPERM = ERROR | 1;
const EAFNOSUPPORT = ERROR | 97;

// Of struct seccomp_data.
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
  /** How many instructions are skipped. */
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

/** As an array of struct sock_filter, in the byte order of all machines above. */
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

/** Where the temporary files of boxed commands are; absolute. */
export interface PrivateTemporary {
  /** Of this session; may be read. */
  directory: string;
  /** In it: what commands write to, and what they see in the place of the system's temporary directories. */
  files: string;
  /** In it: an empty file. */
  emptyFile: string;
  /** In it: an empty file that may not be read. */
  unreadableFile: string;
  /** In it: see `makeSystemCallFilter`; undefined where there is none for this machine. */
  filterFile: string | undefined;
}

/**
 * Undefined where nothing can be made: what is written there lasts as long as the command then.
 *
 * @param directory absolute and real, and in no place that commands may write to.
 * @throws Error where something that is no directory of this user's has taken the place of the one for files.
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

/** There, and such that it can be written to, whatever commands did to it. */
function makeDirectory(path: string): void {
  if (findStats(path) === undefined) mkdirSync(path, { mode: 0o700 });
  const stats = lstatSync(path, { bigint: true });
  if (!stats.isDirectory() || !isOwn(stats))
    throw new PathTakenError(`${path} is no directory of this session`);
  // Commands can change what lies in it and its mode; it is in a directory where nothing can take its place.
  if ((stats.mode & 0o777n) !== 0o700n) chmodSync(path, 0o700);
}

function writeFilter(path: string): string | undefined {
  const filter = makeSystemCallFilter(processorName());
  if (filter === undefined) return undefined;
  // Written once: on a disk that has become full, a second time would leave commands without it.
  if (findStats(path)?.size !== filter.length) writeFileSync(path, filter, { mode: 0o600 });
  return path;
}
