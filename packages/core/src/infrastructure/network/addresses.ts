/**
 * The host of an address as it is compared and connected to: a name in lower case without a final dot, or an IP address
 * in its usual notation. Every notation that a system library accepts for an IPv4 address (`127.1`, `0x7f000001`,
 * `017700000001`, full-width digits) becomes dotted decimal, and so does an IPv6 address that stands for one. Undefined
 * for text that is no host.
 */
export function toCanonicalHost(text: string): string | undefined {
  if (text.length > MAX_HOST_CHARACTERS) return undefined;
  const host = isIP(text) === 6 ? `[${text}]` : text;
  if (!/^(?:\[[\da-fA-F:.]+\]|[^\s[\]:/?#@\\%]+)$/.test(host)) return undefined;
  const parsed = URL.parse(`http://${host}/`)?.hostname ?? "";
  if (parsed.startsWith("[")) return toPlainAddress(parsed.slice(1, -1));
  const name = parsed.replace(/\.$/, "");
  return name === "" || name.startsWith(".") || name.includes("..") ? undefined : name;
}

// The maximum length of a domain name, plus the brackets of an address.
const MAX_HOST_CHARACTERS = 255;

/** 4 or 6 for an address in its usual notation, else 0. `node:net` has it, too, but is not loaded with the program. */
function isIP(text: string): 0 | 4 | 6 {
  if (/^\d{1,3}(?:\.\d{1,3}){3}$/.test(text)) return URL.parse(`http://${text}/`)?.hostname === text ? 4 : 0;
  const [address = "", zone = "x"] = text.split("%", 2);
  const isIpv6 =
    /^[\da-fA-F:.]+$/.test(address) && address.includes(":") && URL.canParse(`http://[${address}]/`);
  return isIpv6 && zone !== "" ? 6 : 0;
}

/** True for an IPv4 or IPv6 address, without brackets. */
export function isAddress(host: string): boolean {
  return isIP(host) !== 0;
}

/**
 * True for an address of a computer in the public internet. False for loopback, private networks, link-local addresses
 * (among them those at which clouds serve credentials), multicast, shared and reserved ranges, for IPv6 addresses that
 * carry such an IPv4 address, and for anything that is no address.
 */
export function isPublicAddress(address: string): boolean {
  const version = isIP(address);
  if (version === 4) return isPublicIpv4(toIpv4Number(address));
  return version === 6 && isPublicIpv6(toGroups(address));
}

/** An IPv4-mapped address stands for the IPv4 address: systems connect to that one. */
function toPlainAddress(address: string): string {
  const groups = toGroups(address);
  const [high = 0, low = 0] = groups.slice(6);
  const isMapped = groups.slice(0, 5).every((group) => group === 0) && groups[5] === 0xffff;
  return isMapped ? [high >> 8, high & 255, low >> 8, low & 255].join(".") : address;
}

function toIpv4Number(address: string): number {
  return address.split(".").reduce((number, part) => number * 256 + Number(part), 0);
}

/** The eight groups of 16 bits. */
function toGroups(address: string): number[] {
  const [text = ""] = address.split("%", 1);
  const hexadecimal = text.replace(/(\d+)\.(\d+)\.(\d+)\.(\d+)$/, (_, ...parts: string[]) => {
    const [a = 0, b = 0, c = 0, d = 0] = parts.slice(0, 4).map(Number);
    return `${(a * 256 + b).toString(16)}:${(c * 256 + d).toString(16)}`;
  });
  const [head = "", tail] = hexadecimal.split("::");
  const toNumbers = (part: string) =>
    part === "" ? [] : part.split(":").map((group) => parseInt(group, 16));
  const first = toNumbers(head);
  if (tail === undefined) return first;
  const last = toNumbers(tail);
  return [...first, ...Array<number>(8 - first.length - last.length).fill(0), ...last];
}

/** From IANA's registries of special-purpose addresses, with one addition. */
const SPECIAL_IPV4: readonly [network: string, bits: number][] = [
  ["0.0.0.0", 8],
  ["10.0.0.0", 8],
  ["100.64.0.0", 10],
  ["127.0.0.0", 8],
  ["169.254.0.0", 16],
  ["172.16.0.0", 12],
  ["192.0.0.0", 24],
  ["192.0.2.0", 24],
  ["192.88.99.0", 24],
  ["192.168.0.0", 16],
  ["198.18.0.0", 15],
  ["198.51.100.0", 24],
  ["203.0.113.0", 24],
  // Azure's metadata service for virtual machines.
  ["168.63.129.16", 32],
  // Multicast, reserved, broadcast.
  ["224.0.0.0", 3],
];

function isPublicIpv4(address: number): boolean {
  return !SPECIAL_IPV4.some(([network, bits]) => {
    const size = 2 ** (32 - bits);
    return Math.floor(address / size) === Math.floor(toIpv4Number(network) / size);
  });
}

function isPublicIpv6(groups: readonly number[]): boolean {
  const [first = 0, second = 0] = groups;
  const isTranslated =
    first === 0x64 && second === 0xff9b && groups.slice(2, 6).every((group) => group === 0);
  const [high = 0, low = 0] = groups.slice(6);
  // The address of an IPv4 host for clients that only have IPv6.
  if (isTranslated) return isPublicIpv4(high * 65_536 + low);
  // Everything else outside 2000::/3 is local, reserved, or a form of an IPv4 address that nobody routes.
  if (first < 0x2000 || first > 0x3fff) return false;
  if (first === 0x2001 && (second < 0x200 || second === 0xdb8)) return false;
  // Documentation; and 6to4, which leads to the IPv4 address in it.
  return first !== 0x2002 && !(first === 0x3fff && second < 0x1000);
}
