import { afterEach, beforeEach, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { CHECKPOINT_LIMITS } from "../../core/src/checkpoint/types.ts";
import { MAX_COPIED_OBJECT_BYTES } from "../../core/src/infrastructure/paths/git.ts";
import { runDiligent } from "./support/run-diligent.ts";
import { createTemporaryProject, type TemporaryProject } from "./support/temporary-project.ts";

const MB = 1024 ** 2;
const GB = 1024 ** 3;

let place: TemporaryProject;

beforeEach(() => {
  place = createTemporaryProject();
});

afterEach(() => place.remove());

test("the limits of undo match its help page and security.md", async () => {
  const { storeBytes, fileBytes, projectBytes, projectEntries, objectBytes, objectCount } = CHECKPOINT_LIMITS;
  expect([storeBytes, fileBytes, projectBytes, projectEntries]).toEqual([2 * GB, 50 * MB, GB, 200_000]);
  expect([objectBytes, objectCount, MAX_COPIED_OBJECT_BYTES]).toEqual([256 * MB, 100_000, 16 * MB]);
  const { stdout } = await runDiligent(place, ["undo", "--help"]);
  const help = stdout.replace(/\s+/g, " ");
  for (const promise of [
    "At most 2 GB is kept",
    "files above 50 MB",
    "projects with more than 200,000 files or 1 GB",
  ])
    expect(help).toContain(promise);
  const security = readFileSync(join(import.meta.dir, "../docs/security.md"), "utf8").replace(/\s+/g, " ");
  for (const promise of [
    "at most 2 GB for all projects",
    "files above 50 MB and unreadable files",
    "At most 256 MB and 100,000 smaller objects are copied",
    "Objects above 16 MiB",
  ])
    expect(security).toContain(promise);
});

/** The values of all constants of that name in a folder, if written as a number or a product of numbers. */
function readConstants(folder: string, name: string): number[] {
  const pattern = new RegExp(`^(?:export )?const ${name} = ([\\d_ *.]+);`, "gm");
  const root = join(import.meta.dir, "../..", folder);
  return [...new Bun.Glob("**/*.ts").scanSync(root)].flatMap((path) =>
    [...readFileSync(join(root, path), "utf8").matchAll(pattern)].map(([, product = ""]) =>
      product.split("*").reduce((value, factor) => value * Number(factor.replaceAll("_", "")), 1),
    ),
  );
}

const KB = 1024;
const SECURITY = "cli/docs/security.md";
const SANDBOX = "core/src/sandbox";

/** What a document says, and the constants that make it true, by the folder that they are below. */
const SAID: readonly [document: string, words: string, constants: Record<string, number>][] = [
  [SECURITY, "more than 10,000 entries to examine", { "core/src/approval MAX_ENTRIES": 10_000 }],
  [SECURITY, "(50,000 for a whole line)", { "core/src/approval MAX_ENTRIES": 50_000 }],
  [
    SECURITY,
    "exceeds 64 MiB or 10,000 files",
    {
      "core/src/infrastructure/fs MAX_COPIED_BYTES": 64 * MB,
      "core/src/infrastructure/fs MAX_COPIED_ENTRIES": 10_000,
    },
  ],
  [SECURITY, "names the first five files", { [`${SANDBOX}/protected-files MAX_NAMED`]: 5 }],
  [SECURITY, "up to 4 s after the last sign of life", { [`${SANDBOX} LEASE_MS`]: 4_000 }],
  [SECURITY, "if diligent was stopped for more than 4 s", { [`${SANDBOX} LEASE_MS`]: 4_000 }],
  [SECURITY, "of at most 100 projects", { [`${SANDBOX} MAX_PROJECTS`]: 100 }],
  [SECURITY, "that of the 101st known project", { [`${SANDBOX} MAX_PROJECTS`]: 100 }],
  [SECURITY, "the 100 nearest to the top", { [`${SANDBOX} MAX_FILES`]: 100 }],
  [SECURITY, "cannot be ended within two seconds", { [`${SANDBOX} END_LIMIT_MS`]: 2_000 }],
  [SECURITY, "at most 8,192 processes", { [`${SANDBOX} MAX_PROCESSES`]: 8_192 }],
  [SECURITY, "more than 200 protected files and directories", { [`${SANDBOX} MAX_MOUNTS`]: 200 }],
  [SECURITY, "30,000 directories, or a git directory", { [`${SANDBOX} MAX_DIRECTORIES`]: 30_000 }],
  [SECURITY, "more than 300 paths", { [`${SANDBOX} MAX_HIDDEN`]: 300 }],
  [SECURITY, "or 150 sockets to hide", { [`${SANDBOX} MAX_SOCKETS`]: 150 }],
  [SECURITY, "more than 100 entries or a mount in it", { [`${SANDBOX} MAX_SHOWN`]: 100 }],
  [SECURITY, "more than 150 mounts", { [`${SANDBOX} MAX_MOUNTS_WITH_HOMES`]: 150 }],
  [SECURITY, "ends after 30,000 directories", { [`${SANDBOX} MAX_SEARCHED`]: 30_000 }],
  [SECURITY, "at most 256 steps and 40 links", { "core/src MAX_STEPS": 256, "core/src MAX_LINKS": 40 }],
  [SECURITY, "name 50 or more hooks", { "core/src/infrastructure/paths MAX_NAMED": 50 }],
  [
    SECURITY,
    "more than 5,000 directories or 100 protected files",
    {
      [`${SANDBOX} MAX_DIRECTORIES_ELSEWHERE`]: 5_000,
      [`${SANDBOX} MAX_FILES_ELSEWHERE`]: 100,
    },
  ],
  [SECURITY, "at most 500 characters on one line", { "core/src/tools MAX_SHOWN_CHARS": 500 }],
  [
    SECURITY,
    "A diff of more than 200 lines",
    {
      "cli/src/line-prompt DIFF_HEAD_LINES": 120,
      "cli/src/line-prompt DIFF_TAIL_LINES": 80,
    },
  ],
  [
    SECURITY,
    "a line of more than 2,000 characters",
    {
      "cli/src/line-prompt DIFF_HEAD_CHARS": 1_500,
      "cli/src/line-prompt DIFF_TAIL_CHARS": 500,
    },
  ],
  [
    SECURITY,
    "Changes of files above 4 MB are not compared",
    { "core/src/tools/edit MAX_PREVIEW_BYTES": 4 * MB },
  ],
  [
    SECURITY,
    "Values below 8 characters",
    {
      "core/src/infrastructure/text MIN_VALUE_CHARS": 8,
      "core/src/config MIN_CHARS": 8,
    },
  ],
  [SECURITY, "ask once in 24 hours", { "cli/src/update DAY_MS": 24 * 3_600_000 }],
  [
    SECURITY,
    "Its limits are 5 s and 64 KB",
    { "cli/src/update TIMEOUT_MS": 5_000, "cli/src/update MAX_BYTES": 64 * KB },
  ],
  [SECURITY, "of at most 64 characters is accepted", { "cli/src/update MAX_CHARACTERS": 64 }],
  [SECURITY, "After more than 10 s the undo says so", { "cli/src/undo LONG_CALL_MS": 10_000 }],
  ["cli/docs/models.md", "for five minutes", { "core/src/provider RETRY_FOR_MS": 300_000 }],
  ["cli/docs/models.md", "32,768 tokens are assumed", { "core/src/provider/models ASSUMED_WINDOW": 32_768 }],
  [
    "cli/docs/scripted-provider.md",
    "default 200,000",
    { "core/src/provider DEFAULT_CONTEXT_WINDOW": 200_000 },
  ],
  [
    "cli/docs/scripted-provider.md",
    "default: whole words, about 12",
    { "core/src/provider/scripted WORDS_CHARS": 12 },
  ],
  ["cli/docs/scripted-provider.md", "characters / 4", { "core/src/provider/scripted CHARS_PER_TOKEN": 4 }],
];

/** What no document states, or what is too large to be reached in a test. */
const UNSTATED: Record<string, number> = {
  "core/src/provider MAX_DELAY_MS": 30_000,
  "core/src/provider MAX_RETRY_AFTER_MS": 600_000,
  "core/src/infrastructure/process MAX_BYTES": 100 * MB,
  "core/src/infrastructure/fs MAX_LOG_BYTES": 200 * MB,
  "core/src/tools/edit MAX_BYTES": 64 * MB,
  "core/src/tools/read MAX_BYTES": 46 * KB,
  "core/src/tools/read MAX_IMAGE_FILE_BYTES": 50 * MB,
  "core/src/tools/search MAX_LINE_BYTES": 500,
  "cli/src/login TIMEOUT_MS": 30_000,
  "cli/src/tui/prompt MAX_TEXT_BYTES": 30 * KB,
  "cli/src/tui/prompt MAX_ATTACHED": 10,
};

test.each(Object.entries(UNSTATED))("the limit %s is %d", (key, value) => {
  const [folder = "", name = ""] = key.split(" ");
  expect(readConstants(folder, name)).toContain(value);
});

test.each(SAID)("%s says %p, and that number is used", (document, words, constants) => {
  const text = readFileSync(join(import.meta.dir, "../..", document), "utf8").replace(/\s+/g, " ");
  expect(text).toContain(words);
  for (const [key, value] of Object.entries(constants)) {
    const [folder = "", name = ""] = key.split(" ");
    const used = readConstants(folder, name).filter((each) => each === value);
    expect([key, ...new Set(used)]).toEqual([key, value]);
  }
});
