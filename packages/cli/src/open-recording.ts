import { resolve } from "node:path";
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
  const { startRecording } = await import("@diligent/core/scripted");
  const path = resolve(cwd, file);
  try {
    return startRecording(path, (error) =>
      warn(`The recording is incomplete: ${path} cannot be written: ${systemErrorText(error)}`),
    );
  } catch (error) {
    throw new UsageError(`--record ${file}: it cannot be made: ${systemErrorText(error)}`);
  }
}
