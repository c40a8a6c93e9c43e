import { dirname, resolve } from "node:path";
import { systemErrorText } from "@diligent/core/interactive";
import type { Model } from "@diligent/core/run";
import type { Recording } from "@diligent/core/scripted";
import { UsageError } from "./usage-error.ts";

/**
 * Begins to keep what models answer as a script.
 * @param file absolute, or relative to `cwd`.
 * @param warn told when the script could not be written any further, or holds two models; the run goes on.
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
    return startRecording(
      path,
      (error) => warn(`The recording is incomplete: ${path} cannot be written: ${systemErrorText(error)}`),
      ({ recorded, other }) => warn(describeOther(path, { recorded, other })),
    );
  } catch (error) {
    const directory = dirname(path);
    const what = isAbout(error, directory)
      ? `its directory ${directory} cannot be written to`
      : "it cannot be made";
    throw new UsageError(`--record ${file}: ${what}: ${systemErrorText(error)}`);
  }
}

function describeOther(path: string, { recorded, other }: Record<"recorded" | "other", Model>): string {
  return (
    `The recording ${path} tells the window, the price and the conditions of ${recorded.id} only: ` +
    `its replay goes by those, also where ${other.id} has answered.`
  );
}

/** True for an error of the file system at this path. */
function isAbout(error: unknown, path: string): boolean {
  return error instanceof Error && "path" in error && error.path === path;
}
