import { expect, test } from "bun:test";
import { userConfigDirectory, userStateDirectory } from "../../src/infrastructure/paths/user.ts";
import { homeDirectory, processAccount } from "../../src/infrastructure/runtime.ts";

test("a relative HOME would change with the directory and is treated as unset", () => {
  const { home } = processAccount();
  const account = home === "/" ? undefined : home;
  const homes = ["relative", "./relative", "~", "/", "/home/me"];
  expect(homes.map((HOME) => homeDirectory({ HOME }))).toEqual([
    ...[account, account, account],
    ...[undefined, "/home/me"],
  ]);
  const environment = { HOME: "relative" };
  expect([userConfigDirectory(environment), userStateDirectory(environment)]).toEqual([
    userConfigDirectory({ HOME: home }),
    userStateDirectory({ HOME: home }),
  ]);
});
