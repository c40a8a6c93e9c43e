import { expect, test } from "bun:test";
import type { NetworkSetting } from "../../../src/infrastructure/network/network-setting.ts";
import { describeSandbox } from "../../../src/sandbox/index.ts";

const SETTINGS: readonly [setting: NetworkSetting | undefined, text: string][] = [
  [undefined, "; no network; "],
  ["off", "; no network; "],
  ["on", "; network: public hosts on ports 80 and 443, through the proxy in http_proxy; "],
  [
    { allow: ["packages", "*.a.example"] },
    "; network: package registries, *.a.example through the proxy in http_proxy, other hosts need the user's consent; ",
  ],
  [
    { allow: Array.from({ length: 10 }, (_, index) => `${index}.example`) },
    "; network: 0.example, 1.example, 2.example, 3.example, 4.example, 5.example, 6.example, 7.example and 2 more through the proxy",
  ],
];

test.each(SETTINGS)("the prompt for sandboxNetwork %j says which network there is", (network, text) => {
  expect(describeSandbox({ mayLeave: true, ...(network !== undefined && { network }) })).toContain(text);
});
