import { dirname, resolve } from "node:path";
import { systemErrorText } from "@diligent/core/interactive";
import type { Recording } from "@diligent/core/scripted";
import { UsageError } from "./usage-error.ts";

/**
 * Begins to keep what models answer as a script.
 * @param file absolute, or relative to `cwd`.
 * @param warn told when the script could not be written any further; the run goes on.
 * @throws UsageError when it cannot be made, also when it is there already.
 */
export async function openRecording(
  file: string,
  { cwd, warn }: { cwd: string; warn: (message: string) => void },
): Promise<Recording> {
  // Without its last slash or dot it would be the name of a file.
  if (/(^|\/)(\.{1,2})?$/.test(file))
    throw new UsageError(`--record ${file}: that is a directory; name a file in it`);
  const { startRecording } = await import("@diligent/core/scripted");
  const path = resolve(cwd, file);
  try {
    return startRecording(path, (error) =>
      warn(`The recording is incomplete: ${path} cannot be written: ${systemErrorText(error)}`),
    );
  } catch (error) {
    const directory = dirname(path);
    const what = isAbout(error, directory)
      ? `its directory ${directory} cannot be written to`
      : "it cannot be made";
    throw new UsageError(`--record ${file}: ${what}: ${systemErrorText(error)}`);
  }
}

/** True for an error of the file system at this path. */
function isAbout(error: unknown, path: string): boolean {
  return error instanceof Error && "path" in error && error.path === path;
}
