import { C_LIBRARIES } from "./output-pipe.ts";

// Of poll(2), whose request is a descriptor and two sets of events: an error at the writing end of a pipe is that nobody
// reads, a hang-up at a socket that the peer has closed.
const POLL_ERROR = 0x08;
const POLL_HANG_UP = 0x10;
const REQUEST_BYTES = 8;
const RETURNED_EVENTS = 6;

/**
 * True for the writing end of a pipe, or a socket, whose other end was closed, without writing to it. False for everything
 * else, and where the C library cannot be asked.
 */
export async function hasLostReader(descriptor: number): Promise<boolean> {
  const { dlopen } = await import("bun:ffi");
  for (const name of C_LIBRARIES) {
    try {
      const library = dlopen(name, { poll: { args: ["ptr", "u64", "i32"], returns: "i32" } });
      const request = Buffer.alloc(REQUEST_BYTES);
      request.writeInt32LE(descriptor);
      library.symbols.poll(request, 1, 0);
      library.close();
      return (request.readInt16LE(RETURNED_EVENTS) & (POLL_ERROR | POLL_HANG_UP)) !== 0;
    } catch {
      // Not this C library.
    }
  }
  return false;
}
