import { expect, test } from "bun:test";
import { parsePacket } from "../src/egress/packet-capture.ts";

const bytes = (hex: string) => new Uint8Array(Buffer.from(hex.replaceAll(" ", ""), "hex"));

test("parsePacket() reads where a packet goes", () => {
  const syn = "4500003c2d0340004006f346 0a620001 08080808 98ea0050ae9b231c00000000a002ffd71aa100000204ffd7";
  expect(parsePacket(bytes(syn))).toEqual({ protocol: "tcp", address: "8.8.8.8", port: 80 });
  const question =
    "450000396a1240004011bc0a 0a620001 0affff35 caf20035002514ce d11c01000001000000000000 076578616d706c6503636f6d0000010001";
  expect(parsePacket(bytes(question))).toEqual({
    ...{ protocol: "udp", address: "10.255.255.53", port: 53 },
    question: "example.com",
  });
  const sixth = `6000000000141140 ${"00".repeat(16)} 26064700000000000000000000000001 1234 01bb ${"00".repeat(16)}`;
  expect(parsePacket(bytes(sixth))).toEqual({
    ...{ protocol: "udp", address: "2606:4700:0:0:0:0:0:1", port: 443 },
  });
  const echo = `4500001c000000004001 0000 0a620001 09090909 ${"00".repeat(8)}`;
  expect(parsePacket(bytes(echo))).toEqual({ protocol: "other", address: "9.9.9.9", port: 0 });
});

test("parsePacket() ignores what is no IP packet, and survives one that is cut off", () => {
  for (const hex of ["", "0001080006040001", "45", "60000000"])
    expect(parsePacket(bytes(hex))).toBeUndefined();
  const cut = "45000028000000004011000000000000 08080808 0001";
  expect(parsePacket(bytes(cut))).toEqual({ protocol: "udp", address: "8.8.8.8", port: 0 });
  const endless = "45000039000040004011bc0a 0a620001 0affff35 caf2003500251 4ce".replaceAll(" ", "");
  expect(parsePacket(bytes(`${endless}d11c01000001000000000000ff`))?.question).toBe("");
});
