import { describe, expect, test } from "bun:test";
import { execFileSync } from "node:child_process";
import { chmodSync, chownSync, mkdirSync, readFileSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { ConfigError } from "../../src/config/errors.ts";
import { loadDiligentConfig } from "../../src/config/loader.ts";
import { describeTrust, trustProject } from "../../src/config/trust.ts";
import { type ConfigPlace, makeConfigPlace, put } from "../support/config-place.ts";
import { ONLY_ROOT_CAN, ROOT_CAN_ANYWAY, testUnless } from "../support/test-unless.ts";

const load = ({ project, environment }: ConfigPlace) => loadDiligentConfig(project, environment);

async function complaintFrom(place: ConfigPlace): Promise<string> {
  const error: unknown = await load(place).catch((thrown: unknown) => thrown);
  if (error instanceof ConfigError) return error.message;
  throw error;
}

describe("a file that cannot be read is rejected by name:", () => {
  async function complaintAbout(prepare: (path: string) => void): Promise<string> {
    const place = makeConfigPlace();
    const directory = join(place.userFile, "..");
    mkdirSync(directory, { recursive: true });
    prepare(place.userFile);
    return (await complaintFrom(place)).replaceAll(place.userFile, "F").replaceAll(directory, "DIR");
  }
  const cannot = "F: the configuration cannot be read: ";

  test("a directory, a pipe, a dangling link, a cycle of links", async () => {
    expect(await complaintAbout((path) => mkdirSync(path))).toBe(`${cannot}F is a directory`);
    expect(await complaintAbout((path) => execFileSync("mkfifo", [path]))).toBe(`${cannot}F is a named pipe`);
    expect(await complaintAbout((path) => symlinkSync("gone", path))).toContain("symbolic link to gone");
    expect(await complaintAbout((path) => symlinkSync(path, path))).toContain("lead in a circle");
  });

  test("binary data, another encoding, a damaged character", async () => {
    expect(await complaintAbout((path) => put(path, Uint8Array.of(0, 1, 2)))).toBe(
      `${cannot}it must be UTF-8, but is binary data`,
    );
    const utf16 = Buffer.from('\ufeff{"model": "x"}', "utf16le");
    expect(await complaintAbout((path) => put(path, utf16))).toContain("UTF-16LE");
    const latin1 = Buffer.from('{"model": "\xe4"}', "latin1");
    expect(await complaintAbout((path) => put(path, latin1))).toContain("line 1");
  });

  test("more than a megabyte", async () => {
    expect(await complaintAbout((path) => put(path, `{}${" ".repeat(1024 * 1024)}`))).toBe(
      `${cannot}it is larger than 1048576 bytes`,
    );
  });

  test("both names in one directory", async () => {
    const complaint = await complaintAbout((path) => {
      put(path, "{}");
      put(path.replace(/c$/, ""), "{}");
    });
    expect(complaint).toBe("F: DIR/diligent.json exists too; keep one of them");
  });

  testUnless(ROOT_CAN_ANYWAY)("a file without read permission", async () => {
    expect(await complaintAbout((path) => chmodSync(put(path, "{}"), 0))).toContain("permission denied");
  });
});

test("errors in all layers are reported together, and no file is changed", async () => {
  const place = makeConfigPlace({ OPENAI_BASE_URL: "x" });
  put(place.userFile, '{"maxTurns": }');
  put(place.projectFile, '{"approval": 1}');
  expect((await complaintFrom(place)).replaceAll(`${place.home}/`, "").split("\n")).toEqual([
    ".config/diligent/diligent.jsonc:1:14: expected a value",
    'project/diligent.jsonc:1:14: key "approval": must be one of "ask", "accept-edits", "plan", "auto", "deny"',
    "environment variable OPENAI_BASE_URL: must be an address such as https://host/v1",
  ]);
  expect(readFileSync(place.userFile, "utf8")).toBe('{"maxTurns": }');
});

describe("warnings about files", () => {
  test("a duplicate key is reported with its position, and the last one applies", async () => {
    const place = makeConfigPlace();
    put(place.userFile, '{"maxTurns": 1,\n "maxTurns": 2}');
    const { config, warnings } = await load(place);
    expect(config.maxTurns).toBe(2);
    const message = `${place.userFile}: set more than once (the last value applies): "maxTurns" (2:2)`;
    expect(warnings).toEqual([{ code: "duplicate_key", message }]);
  });

  test("a user's file with a key that others can read is reported, one with only a reference is not", async () => {
    const place = makeConfigPlace({ KEY: "x" });
    const messages = async () => (await load(place)).warnings.map(({ message }) => message);
    chmodSync(put(place.userFile, { provider: { openai: { apiKey: "sk-1" } } }), 0o640);
    const readable = `${place.userFile} contains a key and can be read by other users; run chmod 600 on it`;
    expect(await messages()).toEqual([readable]);
    chmodSync(place.userFile, 0o600);
    expect(await messages()).toEqual([]);
    chmodSync(put(place.userFile, { provider: { openai: { apiKey: "{env:KEY}" } } }), 0o644);
    expect(await messages()).toEqual([]);
    chmodSync(place.userFile, 0o666);
    const writable = `${place.userFile}: other users can change your configuration: all users may write to it`;
    expect(await messages()).toEqual([writable]);
  });
});

describe("a project's file is not loaded, with a warning,", () => {
  async function expectRefused(place: ConfigPlace, reason: string): Promise<void> {
    const { config, sources, warnings } = await load(place);
    expect({ maxTurns: config.maxTurns, sources }).toEqual({ maxTurns: undefined, sources: [] });
    const message = `${place.projectFile} is not loaded: ${reason}`;
    expect(warnings).toEqual([{ code: "config_not_loaded", message }]);
  }
  const hint = '. "diligent trust" shows its content and accepts it';

  test("if it is a link to something outside the project", async () => {
    const place = makeConfigPlace();
    const outside = put(join(place.home, "elsewhere.jsonc"), { maxTurns: 5 });
    symlinkSync(outside, place.projectFile);
    await expectRefused(place, `it is a link to ${outside}, outside the project`);
    const description = await describeTrust(place.project, place.environment);
    expect(description).toMatchObject({
      state: "none",
      items: [],
      warnings: [{ code: "config_not_loaded" }],
    });
  });

  test("if all users may write to it or to its directory", async () => {
    const place = makeConfigPlace();
    chmodSync(put(place.projectFile, { maxTurns: 5 }), 0o666);
    await expectRefused(place, `all users may write to it${hint}`);
    chmodSync(place.projectFile, 0o644);
    chmodSync(place.project, 0o1777);
    await expectRefused(place, `all users may write to its directory ${place.project}${hint}`);
  });

  testUnless(ONLY_ROOT_CAN)("if it or its directory belongs to another user", async () => {
    const place = makeConfigPlace();
    chownSync(put(place.projectFile, { maxTurns: 5 }), 12345, 12345);
    await expectRefused(place, `it belongs to another user (uid 12345)${hint}`);
    chownSync(place.projectFile, 0, 0);
    chownSync(place.project, 12345, 12345);
    await expectRefused(place, `its directory ${place.project} belongs to another user (uid 12345)${hint}`);
  });

  test("until the user trusts its content", async () => {
    const place = makeConfigPlace();
    chmodSync(put(place.projectFile, { maxTurns: 5 }), 0o666);
    const description = await describeTrust(place.project, place.environment);
    const message = `${place.projectFile}: another user could have written this: all users may write to it`;
    expect(description.warnings).toEqual([{ code: "config_not_private", message }]);
    await trustProject(description, place.environment);
    expect((await load(place)).config.maxTurns).toBe(5);
  });
});

test("a project's file that is a link within the project is loaded", async () => {
  const place = makeConfigPlace();
  put(join(place.project, "tools", "diligent.jsonc"), { maxTurns: 5 });
  symlinkSync("tools/diligent.jsonc", place.projectFile);
  expect((await load(place)).config.maxTurns).toBe(5);
});
