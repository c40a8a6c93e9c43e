import { expect, test } from "bun:test";
import { homeDirectory } from "../src/infrastructure/environment.ts";
import { userConfigDirectory, userStateDirectory } from "../src/infrastructure/places/user-directories.ts";

test("a home that is not absolute would be another one in each directory, and counts as none", () => {
  const homes = ["relative", "./relative", "~", "/", "/home/me"];
  const none = undefined;
  expect(homes.map((HOME) => homeDirectory({ HOME }))).toEqual([none, none, none, none, "/home/me"]);
  const environment = { HOME: "relative" };
  expect([userConfigDirectory(environment), userStateDirectory(environment)]).toEqual([none, none]);
});
