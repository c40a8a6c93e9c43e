import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { removeUserKey, storeUserKey } from "../../src/config/user-keys.ts";

const KEY = "sk-ant-test-0123456789";

let home: string;
let path: string;
const environment = () => ({ HOME: home });

beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), "diligent-keys-"));
  path = join(home, ".config", "diligent", "diligent.jsonc");
});

afterEach(() => rmSync(home, { recursive: true, force: true }));

function write(text: string, mode = 0o600): void {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  writeFileSync(path, text);
  chmodSync(path, mode);
}

const content = () => readFileSync(path, "utf8");
const modeOf = (file: string) => (statSync(file).mode & 0o777).toString(8);

describe("storeUserKey()", () => {
  test("creates a private file if there is none", async () => {
    expect(await storeUserKey(environment(), "anthropic", KEY)).toEqual({ path, hadKey: false });
    expect(JSON.parse(content())).toEqual({ provider: { anthropic: { apiKey: KEY } } });
    expect([modeOf(path), modeOf(dirname(path))]).toEqual(["600", "700"]);
  });

  test("keeps comments and all other content of the file, and makes it private", async () => {
    write(
      '// mine\n{\n  "model": "opus", // good\n  "provider": {\n    // the proxy\n    "openai": { "baseUrl": "https://proxy.example/v1" },\n  },\n}\n',
      0o644,
    );
    await storeUserKey(environment(), "openai", KEY);
    await storeUserKey(environment(), "anthropic", "other");
    expect(content()).toBe(
      `// mine\n{\n  "model": "opus", // good\n  "provider": {\n    // the proxy\n    "openai": { "baseUrl": "https://proxy.example/v1", "apiKey": "${KEY}" },\n    "anthropic": { "apiKey": "other" },\n  },\n}\n`,
    );
    expect(modeOf(path)).toBe("600");
  });

  test("replaces an earlier key, and a variable in its place", async () => {
    write('{ "provider": { "anthropic": { "apiKey": "{env:MY_KEY}" /* here */ } } }');
    expect(await storeUserKey(environment(), "anthropic", KEY)).toEqual({ path, hadKey: true });
    expect(content()).toBe(`{ "provider": { "anthropic": { "apiKey": "${KEY}" /* here */ } } }`);
  });

  test("sets the key of a compatible server, and rejects a server that the file does not have", async () => {
    write('{"provider": {"compatible": {"work": {"baseUrl": "https://work.example/v1"}}}}');
    await storeUserKey(environment(), "work", KEY);
    expect(JSON.parse(content()).provider.compatible.work).toEqual({
      baseUrl: "https://work.example/v1",
      apiKey: KEY,
    });
    const before = content();
    const refused = storeUserKey(environment(), "other", KEY);
    await expect(refused).rejects.toThrow("has no server other in provider.compatible");
    expect(content()).toBe(before);
  });

  test("leaves a broken file unchanged, and no message contains the key", async () => {
    write('{ "modle": "x" }');
    const refused = storeUserKey(environment(), "anthropic", KEY);
    await expect(refused).rejects.toThrow("modle");
    await expect(refused).rejects.not.toThrow(KEY);
    expect(content()).toBe('{ "modle": "x" }');
  });
});

describe("removeUserKey()", () => {
  test("removes the key and keeps the rest", async () => {
    write(
      `{\n  "provider": {\n    "openai": {\n      // where\n      "baseUrl": "https://a.example/v1",\n      "apiKey": "${KEY}"\n    }\n  }\n}\n`,
    );
    expect(await removeUserKey(environment(), "openai")).toEqual({ path, hadKey: true });
    expect(content()).toContain("// where");
    expect(content()).not.toContain(KEY);
    expect(await removeUserKey(environment(), "openai")).toEqual({ path, hadKey: false });
  });

  test("creates no file if there is none", async () => {
    expect(await removeUserKey(environment(), "anthropic")).toEqual({ path, hadKey: false });
    expect(existsSync(path)).toBe(false);
  });
});
