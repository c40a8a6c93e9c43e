import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { findSecrets } from "../../../core/src/extensions/secrets/find-secrets.ts";
import { createFamilies } from "../../../core/test/support/secret-families.ts";
import type { Benchmark, Figure } from "../figure.ts";
import { runProcess } from "../measure/process-run.ts";
import { streamedAnswer, toolCallAnswer } from "../stage/answers.ts";
import { MessagesServer } from "../stage/messages-server.ts";
import { createProject, type Stage } from "../stage/stage.ts";

const SECRETS = 500;
const FILES = 10;
const MOST_LEAKED_PERCENT = 1;
const MOST_FALSE_PERCENT = 0.5;
const REPOSITORY = join(import.meta.dir, "../../../..");
const SOURCES = "**/*.{ts,tsx,mts,cts,js,mjs,cjs,json,md,py,sh,yml,yaml,toml,html,css}";
const MAX_SOURCE_BYTES = 4 * 1024 * 1024;
const MANY = 10_000;

/** How many secrets reach a server or a file, how much is masked wrongly, and how long ten thousand secrets take. */
export const secrets: Benchmark = {
  name: "secrets",
  about: "secrets that are sent or saved, false masks over all sources, the time for 10,000 secrets",
  async measure(stage) {
    return [await measureLeaks(stage), measureFalseMasks(), measureMany()];
  },
};

/** A session in which commands print the secrets, in files of many kinds, and the model repeats them in pieces. */
async function measureLeaks(stage: Stage): Promise<Figure> {
  const values = listSecrets(SECRETS);
  const cwd = createProject(stage.scratch);
  const perFile = SECRETS / FILES;
  const texts = Array.from({ length: FILES }, (_, file) =>
    values
      .slice(file * perFile, (file + 1) * perFile)
      .map(({ text }) => text)
      .join("\n"),
  );
  for (const [index, text] of texts.entries()) writeFileSync(join(cwd, `input-${index}.txt`), `${text}\n`);
  const home = stage.scratch.makeDirectory("home");
  mkdirSync(home, { recursive: true });
  using server = new MessagesServer();
  server.begin([
    ...texts.map((_, index) =>
      toolCallAnswer({ name: "bash", input: { command: `cat input-${index}.txt` } }, index),
    ),
    streamedAnswer(texts.join("\n").match(/[\s\S]{1,17}/g) ?? []),
  ]);
  const environment = {
    ...stage.environment(home),
    ANTHROPIC_API_KEY: "bench-key",
    ANTHROPIC_BASE_URL: server.baseUrl,
  };
  const { stdout } = await runProcess({
    argv: [
      ...[stage.checkout.path, "-p", "--approval", "auto", "--verbose", "--output-format", "stream-json"],
      `Look for ${values[0]?.secret}.`,
    ],
    cwd,
    environment,
  });
  if (server.requests.length !== FILES + 1) throw new Error("The session has not read every file.");
  const seen = [
    stdout,
    ...server.requests.map(({ body }) => body),
    ...readWritten(home),
    ...readWritten(join(cwd, ".diligent")),
  ].join("\n");
  const leaked = values.filter(({ secret }) => seen.includes(secret));
  const families = new Set(values.map(({ family }) => family)).size;
  return {
    name: `sent or saved of ${values.length} secrets of ${families} families`,
    unit: "%",
    rule: { kind: "amount" },
    measured: [(100 * leaked.length) / values.length],
    budget: MOST_LEAKED_PERCENT,
  };
}

/** The texts of all files; the copies for undo hold the project as it is. */
function readWritten(directory: string): string[] {
  return readdirSync(directory, { recursive: true, withFileTypes: true }).flatMap((entry) => {
    const path = join(entry.parentPath, entry.name);
    return entry.isFile() && !path.includes("/checkpoints/") ? [readFileSync(path, "latin1")] : [];
  });
}

function listSecrets(count: number) {
  const families = createFamilies();
  return Array.from({ length: count }, (_, index) => {
    const family = families[index % families.length];
    if (!family) throw new Error("There are no families.");
    return { family: family.name, ...family.create(index) };
  });
}

/** Files of this repository and of all its dependencies in which something is masked. */
function measureFalseMasks(): Figure {
  let files = 0;
  let masked = 0;
  for (const path of new Bun.Glob(SOURCES).scanSync({ cwd: REPOSITORY, dot: true, onlyFiles: true })) {
    if (path.startsWith(".git/") || Bun.file(join(REPOSITORY, path)).size > MAX_SOURCE_BYTES) continue;
    files += 1;
    if (findSecrets(readFileSync(join(REPOSITORY, path), "utf8")).length > 0) masked += 1;
  }
  return {
    name: `masked of ${files} files of sources`,
    unit: "%",
    rule: { kind: "amount" },
    measured: [(100 * masked) / files],
    budget: MOST_FALSE_PERCENT,
  };
}

function measureMany(): Figure {
  const text = listSecrets(MANY)
    .map(({ text: line }) => line)
    .join("\n");
  const startedAt = performance.now();
  findSecrets(text);
  return {
    name: `finding ${MANY} secrets in a text`,
    unit: "ms",
    rule: { kind: "amount" },
    measured: [performance.now() - startedAt],
  };
}
