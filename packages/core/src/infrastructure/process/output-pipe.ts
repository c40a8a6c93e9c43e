import { libcNames } from "../libc-names.ts";

/** Both ends of a pipe, as file descriptors that no other child inherits; the caller closes them. */
export interface OutputPipe {
  readEnd: number;
  writeEnd: number;
}

interface PipeCalls {
  makePipe(descriptors: Int32Array): number;
  poll(request: Buffer): number;
}

// Linux on x86-64 and arm64, from fcntl.h and poll.h.
const O_CLOEXEC = 0o2000000;
const POLL_IN = 0x01;
const REQUEST_BYTES = 8;
const WANTED_EVENTS = 4;
const RETURNED_EVENTS = 6;

let calls: PipeCalls | undefined | "not looked for" = "not looked for";

/**
 * Opens a pipe for the output of a command, or returns undefined when the C library cannot be called.
 *
 * Bun's own `stdout: "pipe"` is a socket: `echo oops > /dev/stderr` fails in such a child, and two sockets lose the
 * order in which a command wrote to stdout and stderr.
 */
export async function openOutputPipe(): Promise<OutputPipe | undefined> {
  if (calls === "not looked for") calls = await findCalls();
  const descriptors = new Int32Array(2);
  if (calls === undefined || calls.makePipe(descriptors) !== 0) return undefined;
  const [readEnd, writeEnd] = descriptors;
  return readEnd === undefined || writeEnd === undefined ? undefined : { readEnd, writeEnd };
}

/** True when a pipe of `openOutputPipe` contains unread bytes. */
export function hasUnreadBytes(readEnd: number): boolean {
  if (calls === undefined || calls === "not looked for") return false;
  const request = Buffer.alloc(REQUEST_BYTES);
  request.writeInt32LE(readEnd);
  request.writeInt16LE(POLL_IN, WANTED_EVENTS);
  calls.poll(request);
  return (request.readInt16LE(RETURNED_EVENTS) & POLL_IN) !== 0;
}

async function findCalls(): Promise<PipeCalls | undefined> {
  if (process.platform !== "linux") return undefined;
  const { dlopen } = await import("bun:ffi");
  for (const library of libcNames()) {
    try {
      const { symbols } = dlopen(library, {
        pipe2: { args: ["ptr", "i32"], returns: "i32" },
        poll: { args: ["ptr", "u64", "i32"], returns: "i32" },
      });
      return {
        makePipe: (descriptors) => symbols.pipe2(descriptors, O_CLOEXEC),
        poll: (request) => symbols.poll(request, 1, 0),
      };
    } catch {
      // Try the next C library; without any, the output goes through sockets.
    }
  }
  return undefined;
}

// From poll(2): a request is a descriptor and two sets of events. An error at the writing end of a pipe means that
// nobody reads; a hang-up at a socket means that the peer has closed it.
const POLL_ERROR = 0x08;
const POLL_HANG_UP = 0x10;

/**
 * True for the writing end of a pipe, or a socket, whose other end was closed, without writing to it. False for any
 * other descriptor, and when the C library cannot be called.
 */
export async function hasLostReader(descriptor: number): Promise<boolean> {
  const { dlopen } = await import("bun:ffi");
  for (const name of libcNames()) {
    try {
      const library = dlopen(name, { poll: { args: ["ptr", "u64", "i32"], returns: "i32" } });
      const request = Buffer.alloc(REQUEST_BYTES);
      request.writeInt32LE(descriptor);
      library.symbols.poll(request, 1, 0);
      library.close();
      return (request.readInt16LE(RETURNED_EVENTS) & (POLL_ERROR | POLL_HANG_UP)) !== 0;
    } catch {
      // Try the next C library.
    }
  }
  return false;
}
