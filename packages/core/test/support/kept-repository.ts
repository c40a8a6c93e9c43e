import { mkdirSync, symlinkSync } from "node:fs";
import { dirname } from "node:path";
import { makeKeptProject } from "./kept-project.ts";

/** Settings of git that name a directory of hooks. */
export const HOOKS = (path: string) => `[core]\n\thooksPath = ${path}\n`;

/** Settings of git that name a file of further ones. */
export const INCLUDE = (path: string) => `[include]\n\tpath = ${path}\n`;

/** A kept project with a repository that has these settings, and what else is in it. */
export function makeKeptRepository(settings = "", files: Readonly<Record<string, string>> = {}) {
  const place = makeKeptProject();
  const repository = (path: string, text: string) => {
    for (const name of ["objects", "refs", "hooks"])
      mkdirSync(place.at(`${path}/${name}`), { recursive: true });
    place.put(`${path}/HEAD`, "ref: refs/heads/main\n");
    place.put(`${path}/config`, text);
  };
  repository(".git", settings);
  for (const [path, text] of Object.entries(files)) place.put(path, text);
  const link = (path: string, target: string) => {
    mkdirSync(dirname(place.at(path)), { recursive: true });
    symlinkSync(target, place.at(path));
  };
  return { ...place, repository, link };
}
