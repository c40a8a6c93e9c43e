import { describe, expect, test } from "bun:test";
import { isPublicAddress, toCanonicalHost } from "../../../src/infrastructure/network/addresses.ts";

describe("toCanonicalHost() turns every notation of an address into one", () => {
  const NOTATIONS: Readonly<Record<string, string>> = {
    "127.0.0.1": "127.0.0.1",
    "127.1": "127.0.0.1",
    "127.0.1": "127.0.0.1",
    "2130706433": "127.0.0.1",
    "0x7f000001": "127.0.0.1",
    "0x7f.1": "127.0.0.1",
    "0177.0.0.1": "127.0.0.1",
    "017700000001": "127.0.0.1",
    "127.0.0.1.": "127.0.0.1",
    "１２７.０.０.１": "127.0.0.1",
    "①②⑦.⓪.⓪.①": "127.0.0.1",
    "0": "0.0.0.0",
    "[::1]": "::1",
    "::1": "::1",
    "[0:0:0:0:0:0:0:1]": "::1",
    "[::ffff:127.0.0.1]": "127.0.0.1",
    "::ffff:7f00:1": "127.0.0.1",
    "[0:0:0:0:0:ffff:a9fe:a9fe]": "169.254.169.254",
  };
  for (const [text, host] of Object.entries(NOTATIONS))
    test(`${text} is ${host}`, () => expect(toCanonicalHost(text)).toBe(host));
});

describe("toCanonicalHost() of names", () => {
  test.each([
    ["EXAMPLE.com.", "example.com"],
    ["münchen.example", "xn--mnchen-3ya.example"],
    ["_service.example.com", "_service.example.com"],
  ])("%s is %s", (text, host) => expect(toCanonicalHost(text)).toBe(host));

  test.each([
    "",
    ".",
    "a..b",
    "a b",
    "a/b",
    "user@host",
    "host:80",
    "a\\b",
    "%31%32%37.0.0.1",
    "1.2.3.4.5",
    "256.0.0.1",
    "0x100000000",
    "[::1%25lo]",
    "[::1",
    "a\0b",
    `${"a".repeat(300)}`,
  ])("%j is no host", (text) => expect(toCanonicalHost(text)).toBeUndefined());
});

describe("isPublicAddress()", () => {
  test.each([
    ..."0.0.0.0 10.1.2.3 100.64.0.1 100.100.100.200 127.0.0.1 127.255.255.255 169.254.169.254".split(" "),
    ..."172.16.0.1 172.31.255.255 192.0.0.8 192.0.2.1 192.88.99.1 192.168.1.1 198.18.0.1 198.51.100.7".split(
      " ",
    ),
    ..."203.0.113.9 168.63.129.16 224.0.0.1 239.1.1.1 240.0.0.1 255.255.255.255".split(" "),
    ..."::1 :: ::ffff:10.0.0.1 ::10.0.0.1 fe80::1 fc00::1 fd00:ec2::254 ff02::1 fec0::1 100::1".split(" "),
    ..."2001:db8::1 2001::1 2001:10::1 2002:7f00:1::1 2002:808:808::1 3fff:1::1".split(" "),
    ..."64:ff9b::127.0.0.1 64:ff9b::a9fe:a9fe 64:ff9b:1::1 fe80::1%lo".split(" "),
    ..."example.com localhost 127.1".split(" "),
  ])("is false for %s", (address) => expect(isPublicAddress(address)).toBe(false));

  test.each([
    ..."1.1.1.1 8.8.8.8 9.255.255.255 11.0.0.0 100.63.255.255 100.128.0.0 172.15.255.255 172.32.0.0".split(
      " ",
    ),
    ..."192.167.255.255 198.17.255.255 198.20.0.0 223.255.255.255".split(" "),
    ..."2606:4700::1111 2a00:1450:4001:80e::200e 2001:4860:4860::8888 64:ff9b::8.8.8.8".split(" "),
  ])("is true for %s", (address) => expect(isPublicAddress(address)).toBe(true));
});
