import { chmodSync, statSync } from "node:fs";
import { basename, join } from "node:path";
import { updatePrivateFile } from "../infrastructure/fs/private-files.ts";
import { userConfigDirectory } from "../infrastructure/paths/user.ts";
import type { Environment } from "../infrastructure/runtime.ts";
import { decodeUtf8, encodeUtf8 } from "../infrastructure/text/text-file.ts";
import { parseText, readConfigFile } from "./document.ts";
import { ConfigError, createLocationFinder } from "./errors.ts";
import { removeMember, setMember } from "./jsonc-member.ts";
import { readConfig } from "./layers.ts";
import type { McpServerSetting } from "./schema.ts";
import { CONFIG_NAMES } from "./settings.ts";

/** The file of the user's settings, which may not exist yet. @throws Error without a home directory. */
export async function findUserConfigPath(environment: Environment): Promise<string> {
  const directory = userConfigDirectory(environment);
  if (directory === undefined)
    throw new Error("There is no home directory, so there is no user configuration.");
  return (await readConfigFile(directory))?.path ?? join(directory, CONFIG_NAMES[0]);
}

/** The project's own file, which may not exist yet. */
export async function findProjectConfigPath(root: string): Promise<string> {
  return (await readConfigFile(root))?.path ?? join(root, CONFIG_NAMES[0]);
}

/** What changes about a server: all of its settings, one of them, or that it exists. */
export type ServerChange =
  | { kind: "set"; setting: McpServerSetting }
  | { kind: "enable"; isEnabled: boolean }
  | { kind: "remove" };

/**
 * Changes a server in a file with `mcpServers`, which is created if necessary. Everything else in it stays unchanged,
 * including comments.
 * @param options.isShared true for a file of a project, which others may read.
 * @throws ConfigError if the file is invalid, Error if it cannot be changed; nothing was written then.
 */
export async function changeServer(
  path: string,
  { name, change, isShared }: { name: string; change: ServerChange; isShared: boolean },
): Promise<void> {
  const mode = statSync(path, { throwIfNoEntry: false })?.mode ?? (isShared ? 0o644 : 0o600);
  await updatePrivateFile(path, (content) => {
    const { text, hasByteOrderMark } = content
      ? decodeUtf8(content)
      : { text: "{}\n", hasByteOrderMark: false };
    const parsed = parseText(text);
    if ("fault" in parsed) {
      const location = createLocationFinder(text)(parsed.fault.offset);
      throw new ConfigError([{ source: path, location, message: parsed.fault.message }]);
    }
    const edited = edit(text, ["mcpServers", name], change);
    if (!("root" in parseText(edited)))
      throw new Error(`${path} cannot be changed; edit mcpServers.${name} yourself.`);
    // What it says afterwards has to be valid, or every start would fail.
    if (CONFIG_NAMES.some((each) => each === basename(path)))
      readConfig({ path, text: edited }, { kind: "keep" }, "skip");
    return encodeUtf8({ text: edited, hasByteOrderMark });
  });
  chmodSync(path, mode & 0o777);
}

function edit(text: string, member: readonly string[], change: ServerChange): string {
  switch (change.kind) {
    case "set":
      return setMember(removeMember(text, member), member, change.setting);
    case "enable":
      // Without the setting, it is enabled.
      return change.isEnabled
        ? removeMember(text, [...member, "enabled"])
        : setMember(text, [...member, "enabled"], false);
    case "remove":
      return removeMember(text, member);
  }
}
