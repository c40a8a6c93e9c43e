import { dlopen, FFIType, ptr } from "bun:ffi";

/** A connection that was begun, or a datagram: where it goes. */
export interface Departure {
  protocol: "tcp" | "udp" | "other";
  /** In its usual notation; IPv6 without brackets. */
  address: string;
  /** 0 for other protocols. */
  port: number;
  /** The name that a DNS question asks for. */
  question?: string;
}

const AF_PACKET = 17;
const SOCK_DGRAM = 2;
// `ETH_P_ALL` in network order.
const ALL_PROTOCOLS = 0x0300;
const SOL_SOCKET = 1;
const SO_ATTACH_FILTER = 26;
const SOL_PACKET = 263;
const PACKET_STATISTICS = 6;
const MSG_DONTWAIT = 0x40;

const MAX_PACKET_BYTES = 65_536;
const READ_AFTER_MS = 5;

/**
 * What the kernel keeps for us, as a classic BPF program: first packets of TCP connections (SYN without ACK), and
 * everything else of IPv4 and IPv6 but what the kernel itself sends to keep an interface up (ARP, IGMP, ICMPv6).
 */
const FILTER: readonly [code: number, jumpTrue: number, jumpFalse: number, value: number][] = [
  [0x30, 0, 0, 0], // 0: the first byte
  [0x74, 0, 0, 4],
  [0x15, 0, 7, 4], // 2: IPv4?
  [0x30, 0, 0, 9],
  [0x15, 0, 4, 6], // 4: TCP?
  [0xb1, 0, 0, 0],
  [0x50, 0, 0, 13],
  [0x54, 0, 0, 0x12],
  [0x15, 8, 9, 0x02], // 8: SYN without ACK?
  [0x15, 8, 7, 2], // 9: IGMP?
  [0x30, 0, 0, 6], // 10: IPv6, or no IP at all
  [0x15, 0, 3, 6],
  [0x30, 0, 0, 53],
  [0x54, 0, 0, 0x12],
  [0x15, 2, 3, 0x02],
  [0x15, 2, 0, 58], // 15: ICMPv6?
  [0x15, 1, 0, 0], // 16: options before it, or ARP?
  [0x06, 0, 0, MAX_PACKET_BYTES], // 17: keep
  [0x06, 0, 0, 0], // 18: drop
];

function openLibrary() {
  return dlopen("libc.so.6", {
    socket: { args: [FFIType.i32, FFIType.i32, FFIType.i32], returns: FFIType.i32 },
    setsockopt: {
      args: [FFIType.i32, FFIType.i32, FFIType.i32, FFIType.ptr, FFIType.u32],
      returns: FFIType.i32,
    },
    getsockopt: {
      args: [FFIType.i32, FFIType.i32, FFIType.i32, FFIType.ptr, FFIType.ptr],
      returns: FFIType.i32,
    },
    recv: { args: [FFIType.i32, FFIType.ptr, FFIType.u64, FFIType.i32], returns: FFIType.i64 },
    close: { args: [FFIType.i32], returns: FFIType.i32 },
  }).symbols;
}

/** Records where packets of this network namespace go, on all of its interfaces. */
export class PacketCapture implements Disposable {
  private readonly departures = new Map<string, Departure>();
  private readonly buffer = new Uint8Array(MAX_PACKET_BYTES);
  private readonly timer = setInterval(() => this.read(), READ_AFTER_MS);

  private constructor(
    private readonly libc: ReturnType<typeof openLibrary>,
    private readonly socket: number,
  ) {}

  /** @throws Error, a line, where the kernel does not allow it. */
  static open(): PacketCapture {
    const libc = openLibrary();
    const socket = libc.socket(AF_PACKET, SOCK_DGRAM, ALL_PROTOCOLS);
    if (socket < 0) throw new Error("the kernel allows no packet socket here");
    const program = new DataView(new ArrayBuffer(FILTER.length * 8));
    for (const [index, [code, jumpTrue, jumpFalse, value]] of FILTER.entries()) {
      program.setUint16(index * 8, code, true);
      program.setUint8(index * 8 + 2, jumpTrue);
      program.setUint8(index * 8 + 3, jumpFalse);
      program.setUint32(index * 8 + 4, value, true);
    }
    const described = new DataView(new ArrayBuffer(16));
    described.setUint16(0, FILTER.length, true);
    described.setBigUint64(8, BigInt(ptr(program)), true);
    if (libc.setsockopt(socket, SOL_SOCKET, SO_ATTACH_FILTER, ptr(described), 16) !== 0) {
      libc.close(socket);
      throw new Error("the kernel did not take the packet filter");
    }
    return new PacketCapture(libc, socket);
  }

  /** Those since the last call, each once. @throws Error if the kernel had to drop packets. */
  take(): Departure[] {
    this.read();
    const statistics = new Uint32Array(2);
    const size = new Uint32Array([8]);
    this.libc.getsockopt(this.socket, SOL_PACKET, PACKET_STATISTICS, ptr(statistics), ptr(size));
    if (statistics[1] !== 0) throw new Error(`the kernel dropped ${statistics[1]} packets of the capture`);
    const taken = [...this.departures.values()];
    this.departures.clear();
    return taken;
  }

  [Symbol.dispose](): void {
    clearInterval(this.timer);
    this.libc.close(this.socket);
  }

  private read(): void {
    for (;;) {
      const address = ptr(this.buffer);
      const length = Number(this.libc.recv(this.socket, address, this.buffer.length, MSG_DONTWAIT));
      if (length <= 0) return;
      const departure = parsePacket(this.buffer.subarray(0, length));
      if (departure) this.departures.set(JSON.stringify(departure), departure);
    }
  }
}

const PROTOCOLS: Readonly<Record<number, Departure["protocol"]>> = { 6: "tcp", 17: "udp" };

/** Undefined for what is no IP packet. */
export function parsePacket(packet: Uint8Array): Departure | undefined {
  const view = new DataView(packet.buffer, packet.byteOffset, packet.byteLength);
  const version = (packet[0] ?? 0) >> 4;
  const isShort = packet.length < (version === 4 ? 20 : 40);
  if (isShort || (version !== 4 && version !== 6)) return undefined;
  const head = version === 4 ? ((packet[0] ?? 0) & 0x0f) * 4 : 40;
  const protocol = PROTOCOLS[packet[version === 4 ? 9 : 6] ?? 0] ?? "other";
  const address =
    version === 4
      ? [...packet.subarray(16, 20)].join(".")
      : Array.from({ length: 8 }, (_, index) => view.getUint16(24 + index * 2).toString(16)).join(":");
  const port = protocol === "other" || packet.length < head + 4 ? 0 : view.getUint16(head + 2);
  const question =
    protocol === "udp" && port === DNS_PORT ? readQuestion(packet.subarray(head + 8)) : undefined;
  return { protocol, address, port, ...(question !== undefined && { question }) };
}

const DNS_PORT = 53;
const DNS_HEAD_BYTES = 12;

function readQuestion(message: Uint8Array): string {
  const labels: string[] = [];
  let at = DNS_HEAD_BYTES;
  for (let length = message[at] ?? 0; length > 0; length = message[at] ?? 0) {
    labels.push(new TextDecoder("latin1").decode(message.subarray(at + 1, at + 1 + length)));
    at += 1 + length;
  }
  return labels.join(".");
}
