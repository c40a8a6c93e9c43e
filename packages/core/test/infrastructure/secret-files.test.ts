import { describe, expect, test } from "bun:test";
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { rgPath } from "@vscode/ripgrep";
import {
  createSecretCheck,
  isSecretFile,
  SECRET_FILE_GLOBS,
} from "../../src/infrastructure/paths/secret-files.ts";
import { makeTempDir } from "../support/temp-dir.ts";

describe("isSecretFile", () => {
  const secret = [
    ".env",
    ".env.local",
    "packages/a/.ENV",
    "config/prod.env",
    "id_rsa",
    "keys/id_ed25519",
    "server.pem",
    "server.KEY",
    "cert.p12",
    "cert.pfx",
    "store.jks",
    ".npmrc",
    ".netrc",
    ".pypirc",
    ".git-credentials",
    "home/.aws/credentials",
    "home/.kube/config",
    "home/.docker/config.json",
    "home/.config/gcloud/credentials.db",
    "home/.ssh/known_hosts",
    "terraform.tfstate",
    "\uff0eenv",
  ];
  for (const name of secret) {
    test(`is true for ${JSON.stringify(name)}`, () => expect(isSecretFile(`/app/${name}`)).toBe(true));
  }

  test("is false for names that only resemble one, for examples and for public keys", () => {
    for (const name of [
      ".env.example",
      ".env.sample",
      "config/.env.Template",
      ".env.local.dist",
      "src/env.ts",
      "environment.md",
      "id_rsa.pub",
      "keys.ts",
      "monkey",
      "aws/credentials",
      "server.crt",
    ]) {
      expect([name, isSecretFile(`/app/${name}`)]).toEqual([name, false]);
    }
  });
});

describe("createSecretCheck()", () => {
  test("finds the same files in a directory, whatever lies around it", () => {
    const directories = [
      "/app",
      "/app/.aws",
      "/app/.AWS/sso/cache",
      "/home/.config/gh",
      "/app/.ssh/old",
      "/.gem",
    ];
    const names = [
      "credentials",
      "hosts.yml",
      "key.PUB",
      ".env.pub",
      "id_rsa",
      ".ssh",
      "known_hosts",
      "main.ts",
    ];
    for (const directory of directories)
      expect([directory, names.filter(createSecretCheck(directory))]).toEqual([
        directory,
        names.filter((name) => isSecretFile(`${directory}/${name}`)),
      ]);
    expect(names.filter(createSecretCheck("/app/.ssh/old"))).toEqual(
      names.filter((name) => name !== "key.PUB"),
    );
    expect(names.filter(createSecretCheck("/app/.aws"))).toEqual([
      "credentials",
      ".env.pub",
      "id_rsa",
      ".ssh",
    ]);
  });
});

describe("SECRET_FILE_GLOBS", () => {
  test("exclude the same files from a search, but for .env.*", () => {
    const directory = makeTempDir();
    const hidden = [".env", "b/server.Pem", "home/.aws/credentials", "home/.ssh/known_hosts", "id_rsa"];
    const found = [".env.example", "a/main.ts", "credentials", "env.ts"];
    for (const name of [...hidden, ...found]) {
      mkdirSync(dirname(join(directory, name)), { recursive: true });
      writeFileSync(join(directory, name), "needle");
    }
    const ignored = [".env", ".envrc", ".ENV-old"];
    for (const name of ignored) writeFileSync(join(directory, name), "needle");
    const globs = SECRET_FILE_GLOBS.map((glob) => `--iglob=!${glob}`);
    const { stdout } = Bun.spawnSync([rgPath, "-l", "--hidden", "--sort=path", ...globs, "needle", "."], {
      cwd: directory,
    });
    expect(stdout.toString().trim().split("\n")).toEqual(found.map((name) => `./${name}`));
  });
});
