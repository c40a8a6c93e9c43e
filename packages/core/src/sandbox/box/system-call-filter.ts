/**
 * What the kernel refuses boxed commands beyond what namespaces keep from them: sockets of families that know no
 * namespaces (a virtual machine's host is reached by one), the user's keyrings, a way around this filter, and typing into
 * a terminal. As a program for seccomp(2), or undefined for a processor whose numbers are not known here.
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
  /** How many instructions are passed over. */
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
