import { afterAll, beforeEach, describe, expect, test } from "bun:test";
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { placeRipgrep } from "../src/executable/place-ripgrep.ts";

const CONTENT = "#!/bin/sh\necho a ripgrep\n";
const SHA256 = new Bun.CryptoHasher("sha256").update(CONTENT).digest("hex");
const NAME = `rg-${SHA256.slice(0, 16)}`;

const top = mkdtempSync(join(tmpdir(), "diligent-place-"));
afterAll(() => rmSync(top, { recursive: true, force: true }));

let home: string;
let temporaryDirectory: string;
let shared: string;

beforeEach(() => {
  const place = mkdtempSync(join(top, "place-"));
  home = join(place, "home");
  temporaryDirectory = join(place, "tmp");
  shared = join(temporaryDirectory, `diligent-programs-${process.getuid?.()}`);
  mkdirSync(temporaryDirectory);
  writeFileSync(join(top, "embedded"), CONTENT);
});

function place(): string {
  const embeddedPath = join(top, "embedded");
  return placeRipgrep({ embeddedPath, sha256: SHA256, environment: { HOME: home }, temporaryDirectory });
}

describe("the ripgrep of the executable", () => {
  test("is copied to the user's state directory and nowhere else", () => {
    const path = place();
    expect(path).toBe(join(home, ".local", "state", "diligent", "programs", NAME));
    expect([readFileSync(path, "utf8"), readdirSync(temporaryDirectory)]).toEqual([CONTENT, []]);
    expect(place()).toBe(path);
  });

  test("is copied to a private temporary directory if there is no home", () => {
    writeFileSync(home, "a file where the home is expected\n");
    const path = place();
    expect(path).toBe(join(shared, NAME));
    expect([statSync(shared).mode & 0o777, statSync(path).mode & 0o777]).toEqual([0o700, 0o700]);
    expect(place()).toBe(path);
    writeFileSync(path, "#!/bin/sh\necho owned\n");
    expect(readFileSync(place(), "utf8")).toBe(CONTENT);
  });

  test("is not copied to a place that others may write to, nor through a link", () => {
    writeFileSync(home, "");
    mkdirSync(shared);
    chmodSync(shared, 0o777);
    expect(place).toThrow("No directory for ripgrep.");
    rmSync(shared, { recursive: true });
    const elsewhere = join(temporaryDirectory, "elsewhere");
    mkdirSync(elsewhere, { mode: 0o700 });
    symlinkSync(elsewhere, shared);
    expect(place).toThrow("No directory for ripgrep.");
    expect(readdirSync(elsewhere)).toEqual([]);
  });
});
