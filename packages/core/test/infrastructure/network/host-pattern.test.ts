import { describe, expect, test } from "bun:test";
import { matchesHostPattern, parseHostPattern } from "../../../src/infrastructure/network/host-pattern.ts";
import { parseNetworkSetting, toHostPatterns } from "../../../src/infrastructure/network/network-setting.ts";

function matches(text: string, host: string, port = 443): boolean {
  const pattern = parseHostPattern(text);
  if ("problem" in pattern) throw new Error(pattern.problem);
  return matchesHostPattern(pattern, { host, port });
}

describe("a host pattern", () => {
  test("without a port means the ports of HTTP and HTTPS", () => {
    expect([80, 443, 22, 25, 8080].filter((port) => matches("example.com", "example.com", port))).toEqual([
      80, 443,
    ]);
  });

  test("with a port means only that one", () => {
    expect([80, 443, 8080].filter((port) => matches("example.com:8080", "example.com", port))).toEqual([
      8080,
    ]);
  });

  test("with a star means the names below it, and not itself", () => {
    const hosts = [
      "a.example.com",
      "b.a.example.com",
      "example.com",
      "notexample.com",
      "example.com.evil.org",
    ];
    expect(hosts.filter((host) => matches("*.example.com", host))).toEqual([
      "a.example.com",
      "b.a.example.com",
    ]);
  });

  test("for a name means neither what is below it nor a name that ends like it", () => {
    const hosts = ["example.com", "a.example.com", "evilexample.com"];
    expect(hosts.filter((host) => matches("Example.COM", host))).toEqual(["example.com"]);
  });

  test.each([
    ["127.0.0.1:8080", "127.0.0.1", 8080],
    ["0x7f.1:8080", "127.0.0.1", 8080],
    ["[::1]:8080", "::1", 8080],
    ["::1", "::1", 443],
    ["[::ffff:10.0.0.5]:80", "10.0.0.5", 80],
  ])("%s means the address in any notation", (text, host, port) =>
    expect(matches(text, host, port)).toBe(true),
  );

  test.each([
    ["https://example.com", "must be a host, without http:// in front"],
    ["*", 'must name a host; any public host is the setting "on"'],
    ["*.com", "must name a domain of at least two parts after *."],
    ["*.10.0.0.1", "must name a domain of at least two parts after *."],
    ["example.com:0", "must have a port from 1 to 65535"],
    ["example.com:65536", "must have a port from 1 to 65535"],
    ...["", "a/b", "a b", "*a.example.com", "a.*.com", "user@example.com", "example.com:http", "::1:x"].map(
      (text) => [text, "must be a host such as example.com, *.example.com, example.com:8443 or 10.0.0.5:80"],
    ),
  ])("%j is refused: it %s", (text, problem) => expect(parseHostPattern(text)).toEqual({ problem }));
});

describe("parseNetworkSetting()", () => {
  test("reads off, on and lists", () => {
    expect(parseNetworkSetting("off")).toEqual({ setting: "off" });
    expect(parseNetworkSetting("on")).toEqual({ setting: "on" });
    expect(parseNetworkSetting("packages, a.example:81")).toEqual({
      setting: { allow: ["packages", "a.example:81"] },
    });
  });

  test.each([
    ["", '"" must be a host such as'],
    ["a.example,", '"" must be a host such as'],
    ["a.example,on/off", '"on/off" must be a host such as'],
  ])("names what is wrong in %j", (text, problem) => {
    expect(parseNetworkSetting(text)).toEqual({ problem: expect.stringContaining(problem) });
  });

  test("packages stands for hosts of all seven registries, and is valid itself", () => {
    const patterns = toHostPatterns(["packages", "a.example"]);
    expect(patterns.length).toBeGreaterThan(13);
    expect(patterns.every(({ includesSubdomains, port }) => !includesSubdomains && port === undefined)).toBe(
      true,
    );
    expect(patterns.at(-1)?.host).toBe("a.example");
  });
});
