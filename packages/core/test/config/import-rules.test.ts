import { describe, expect, test } from "bun:test";
import { mkdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { addImportedRules } from "../../src/config/import-rules.ts";
import { loadDiligentConfig } from "../../src/config/loader.ts";
import type { PermissionRule } from "../../src/config/schema.ts";
import { describeTrust, trustProject } from "../../src/config/trust.ts";
import { makeConfigPlace, put } from "../support/config-place.ts";

const rule = (text: string): PermissionRule => {
  const [action = "", permission = "", ...rest] = text.split(" ");
  return Object(JSON.parse(JSON.stringify({ permission, pattern: rest.join(" "), action })));
};
const IMPORTED = ["allow execute make", "ask execute git push", "deny execute curl"].map(rule);

function placeWith({ user, project }: { user?: object | string; project?: object } = {}) {
  const place = makeConfigPlace();
  if (user !== undefined) put(place.userFile, typeof user === "string" ? user : JSON.stringify(user));
  if (project !== undefined) put(place.projectFile, JSON.stringify(project));
  const { environment, project: root } = place;
  return {
    ...place,
    add: (scope: "user" | "project", rules = IMPORTED) =>
      addImportedRules({ environment, root, scope }, rules),
    /** The rules that apply, as text. */
    async active() {
      const { config } = await loadDiligentConfig(root, environment);
      return config.permissions?.map((each) => `${each.action} ${each.permission} ${each.pattern}`);
    },
  };
}

describe("rules for the user's own configuration", () => {
  test("come before those that exist, but denials without an exception come last", async () => {
    const permissions = [rule("deny execute make all"), rule("allow execute curl x")];
    const place = placeWith({ user: { permissions } });
    expect(await place.add("user")).toEqual({ path: place.userFile, count: 3, needsTrust: false });
    expect(await place.active()).toEqual([
      ...["allow execute make", "ask execute git push", "deny execute make all", "allow execute curl x"],
      "deny execute curl",
    ]);
  });

  test("are added once, and leave everything else of the file as it is", async () => {
    const before =
      '{\n  // mine\n  "permissions": [\n    // no pushing\n    { "permission": "execute", "pattern": "git push", "action": "deny" }, // never\n  ],\n}\n';
    const place = placeWith({ user: before });
    await place.add("user");
    expect((await place.add("user")).count).toBe(0);
    expect(readFileSync(place.userFile, "utf8")).toBe(
      '{\n  // mine\n  "permissions": [\n    // no pushing\n' +
        '    { "permission": "execute", "pattern": "make", "action": "allow" },\n' +
        '    { "permission": "execute", "pattern": "git push", "action": "ask" },\n' +
        '    { "permission": "execute", "pattern": "git push", "action": "deny" }, // never\n' +
        '    { "permission": "execute", "pattern": "curl", "action": "deny" },\n  ],\n}\n',
    );
  });

  test("keep the order where a later one is an exception to a denial", async () => {
    const place = placeWith({ user: { permissions: [rule("deny execute rm")] } });
    await place.add("user", [rule("deny execute *"), rule("allow execute make")]);
    expect(await place.active()).toEqual(["deny execute *", "allow execute make", "deny execute rm"]);
  });

  test("are not added to a file that is invalid", async () => {
    const place = placeWith({ user: '{ "permissions": 7 }' });
    await expect(place.add("user")).rejects.toThrow("permissions");
    expect(readFileSync(place.userFile, "utf8")).toBe('{ "permissions": 7 }');
  });
});

describe("rules for a project", () => {
  test("apply at once if it had no configuration, and nothing else of it becomes trusted", async () => {
    const place = placeWith();
    expect(await place.add("project")).toEqual({ path: place.projectFile, count: 3, needsTrust: false });
    expect(await place.active()).toEqual(["allow execute make", "ask execute git push", "deny execute curl"]);
    expect(statSync(place.projectFile).mode & 0o777).toBe(0o644);
    const { projects } = JSON.parse(readFileSync(place.trustFile, "utf8"));
    expect(projects).toMatchObject([
      { directory: place.project, items: [{ kind: "config", path: "diligent.jsonc" }] },
    ]);
  });

  test("apply at once if its configuration is trusted, whose trust then holds for the new content", async () => {
    const place = placeWith({ project: { effort: "low", permissions: [rule("allow execute ls")] } });
    const items = [
      ...(await describeTrust(place.project, place.environment)).items,
      { kind: "skills", path: "x/SKILL.md", sha256: "0" },
    ];
    await trustProject({ directory: place.project, items }, place.environment);
    expect((await place.add("project")).needsTrust).toBe(false);
    const { projects } = JSON.parse(readFileSync(place.trustFile, "utf8"));
    expect(projects[0].items.map(({ kind }: { kind: string }) => kind)).toEqual(["config", "skills"]);
    expect(await place.active()).toEqual([
      ...["allow execute make", "ask execute git push", "allow execute ls", "deny execute curl"],
    ]);
  });

  test("wait for trust, as far as they allow, if its configuration was not trusted", async () => {
    const place = placeWith({ project: { permissions: [rule("allow execute rm *")], unknown: 1 } });
    expect((await place.add("project")).needsTrust).toBe(true);
    expect(await place.active()).toEqual(["ask execute git push", "deny execute curl"]);
  });

  test("apply without a further question beside rules of the user, which decide where both match", async () => {
    const place = placeWith({ user: { permissions: [rule("deny execute rm")] } });
    expect((await place.add("project")).needsTrust).toBe(false);
    expect(await place.active()).toEqual([
      ...["allow execute make", "ask execute git push", "deny execute curl"],
      "deny execute rm",
    ]);
  });

  test("are not written through a link that leads out of it", async () => {
    const place = placeWith();
    const outside = join(place.home, "outside.jsonc");
    mkdirSync(place.home, { recursive: true });
    writeFileSync(outside, "{}");
    symlinkSync(outside, place.projectFile);
    await expect(place.add("project")).rejects.toThrow("out of the project");
    expect(readFileSync(outside, "utf8")).toBe("{}");
  });
});
