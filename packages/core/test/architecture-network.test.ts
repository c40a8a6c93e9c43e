import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";

const PACKAGES = join(import.meta.dir, "..", "..");

/** What opens a connection, or listens for one. */
const OPENING =
  /(?<![\w.$#])fetch\(|globalThis\.fetch|fetchFn: fetch\b|new (?:WebSocket|EventSource|XMLHttpRequest)\b|from "(?:node:)?(?:net|tls|http|https|http2|dgram|undici)(?:\/\w+)?"|require\("(?:node:)?(?:net|tls|http|https|http2|dgram)"\)|Bun\.(?:connect|listen|udpSocket)\(|import\("(?:node:)?(?:net|tls|http|https|http2|dgram)"\)/;

/** The files that may, each with what holds its connections to the limit of hosts. */
const MAY_CONNECT: Readonly<Record<string, RegExp>> = {
  "core/src/infrastructure/network/program-fetch.ts": /assertWithinLimit\(href\)/,
  "core/src/tools/web/download.ts": /findLimitRefusal\(\{ host, port \}\)/,
  // The proxy asks `SessionNetwork` about each connection before it opens one.
  "core/src/sandbox/network/outbound.ts": /./,
  "core/src/sandbox/network/proxy.ts": /this\.options\.authorize\(/,
  // They only pass on connections that the proxy has opened or accepted.
  "core/src/sandbox/network/socket-reader.ts": /import type \{ Socket \}/,
  "core/src/sandbox/network/socks.ts": /import type \{ Socket \}/,
  // It runs in the network namespace of commands, and connects to the proxy's Unix socket.
  "core/src/sandbox/network/namespace-relay.ts": /DILIGENT_RELAY_SOCKET/,
};

function findOpening(): string[] {
  const files = [...new Bun.Glob("{core,cli}/src/**/*.ts").scanSync(PACKAGES)];
  return files.filter((file) => {
    const text = readFileSync(join(PACKAGES, file), "utf8");
    // A server's handler is called `fetch`, too.
    return OPENING.test(text.replace(/^ +fetch\(request\) \{$/gm, ""));
  });
}

test("connections are opened in few places, which hold them to the hosts of --only-host", () => {
  const opening = findOpening().sort();
  expect(opening).toEqual(Object.keys(MAY_CONNECT).sort());
  for (const [file, check] of Object.entries(MAY_CONNECT))
    expect(readFileSync(join(PACKAGES, file), "utf8")).toMatch(check);
  const network = join(PACKAGES, "core/src/sandbox/network/session-network.ts");
  expect(readFileSync(network, "utf8")).toContain("findLimitRefusal(wanted)");
});

test("the SDKs of the vendors and of MCP get the program's own fetch", () => {
  const creators = [...new Bun.Glob("core/src/**/*.ts").scanSync(PACKAGES)].flatMap((file) => {
    const text = readFileSync(join(PACKAGES, file), "utf8");
    return [
      ...text.matchAll(/new (?:OpenAI|Anthropic|StreamableHTTPClientTransport|SSEClientTransport)\(/g),
    ].map(({ index }) => ({ file, call: text.slice(index, index + 900) }));
  });
  expect(creators.length).toBe(4);
  expect(creators.filter(({ call }) => !/^ +fetch[:,]/m.test(call)).map(({ file }) => file)).toEqual([]);
});
