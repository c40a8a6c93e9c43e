import { expect, test } from "bun:test";
import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import {
  calibrationKey,
  readCalibration,
  saveCalibration,
} from "../../src/session/compaction/calibration.ts";
import { makeTempDir } from "../support/temp-dir.ts";

function makePlace() {
  const environment = { XDG_STATE_HOME: makeTempDir() };
  const directory = join(environment.XDG_STATE_HOME, "diligent");
  return { environment, directory, path: join(directory, "calibration.json") };
}

test("the same model of two providers has two keys", () => {
  expect(calibrationKey({ provider: "anthropic", id: "m" })).toBe("anthropic/m");
  expect(calibrationKey({ provider: "local", id: "m" })).toBe("local/m");
});

test("what was learned is there in the next session, in a private file", async () => {
  const { environment, path } = makePlace();
  expect(readCalibration(environment, "a/m")).toBeUndefined();
  await saveCalibration(environment, "a/m", { ratio: 0.31, samples: 4 });
  expect(readCalibration(environment, "a/m")).toEqual({ ratio: 0.31, samples: 4 });
  expect(readCalibration(environment, "b/m")).toBeUndefined();
  expect(statSync(path).mode & 0o777).toBe(0o600);
});

test("saving replaces a model's calibration and keeps those of the others", async () => {
  const { environment, directory } = makePlace();
  await saveCalibration(environment, "a/m", { ratio: 0.3, samples: 1 });
  await saveCalibration(environment, "__proto__", { ratio: 0.2, samples: 2 });
  await saveCalibration(environment, "a/m", { ratio: 0.4, samples: 3 });
  expect(readCalibration(environment, "__proto__")).toEqual({ ratio: 0.2, samples: 2 });
  expect(readCalibration(environment, "a/m")).toEqual({ ratio: 0.4, samples: 3 });
  expect(readdirSync(directory)).toEqual(["calibration.json"]);
});

test("of more than a hundred models the one saved longest ago goes", async () => {
  const { environment, path } = makePlace();
  const models = Array.from({ length: 100 }, (_, index) => ({ id: `${index}`, ratio: 0.25, samples: 1 }));
  mkdirSync(join(path, ".."), { recursive: true });
  writeFileSync(path, JSON.stringify({ version: 1, models }), { mode: 0o600 });
  await saveCalibration(environment, "0", { ratio: 0.3, samples: 2 });
  await saveCalibration(environment, "new", { ratio: 0.3, samples: 1 });
  expect(readCalibration(environment, "1")).toBeUndefined();
  expect(readCalibration(environment, "0")).toEqual({ ratio: 0.3, samples: 2 });
  expect(JSON.parse(readFileSync(path, "utf8")).models).toHaveLength(100);
});

test("a broken file says nothing and is begun anew", async () => {
  const broken = [
    "",
    "{",
    "null",
    "[1]",
    '{"version":2,"models":[{"id":"a/m","ratio":0.3,"samples":1}]}',
    '{"version":1,"models":[{"id":"a/m","ratio":"0.3","samples":1},{"id":"a/m","ratio":99,"samples":1},7]}',
    "x".repeat(2_000_000),
  ];
  for (const content of broken) {
    const { environment, directory, path } = makePlace();
    mkdirSync(directory, { recursive: true });
    writeFileSync(path, content);
    expect(readCalibration(environment, "a/m")).toBeUndefined();
    await saveCalibration(environment, "a/m", { ratio: 0.3, samples: 1 });
    expect(readCalibration(environment, "a/m")).toEqual({ ratio: 0.3, samples: 1 });
  }
});

test("where nothing can be kept, saving and reading pass in silence", async () => {
  const homeless = { HOME: "/" };
  await saveCalibration(homeless, "a/m", { ratio: 0.3, samples: 1 });
  expect(readCalibration(homeless, "a/m")).toBeUndefined();
  const { environment, path } = makePlace();
  mkdirSync(path, { recursive: true });
  await saveCalibration(environment, "a/m", { ratio: 0.3, samples: 1 });
  expect(readCalibration(environment, "a/m")).toBeUndefined();
});

test("two that save at once lose neither's model", async () => {
  const { environment } = makePlace();
  const ids = Array.from({ length: 8 }, (_, index) => `p/${index}`);
  await Promise.all(ids.map((id) => saveCalibration(environment, id, { ratio: 0.3, samples: 1 })));
  expect(ids.map((id) => readCalibration(environment, id)?.samples)).toEqual(ids.map(() => 1));
});
