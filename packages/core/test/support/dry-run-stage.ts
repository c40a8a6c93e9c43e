import { type TriedCommand, tryCommand } from "../../src/extensions/dry-run/try-command.ts";
import type { ViewKind } from "../../src/extensions/dry-run/view.ts";
import type { BoxedProject } from "./boxed-project.ts";

/** Runs a command in a view of the project. */
export function tryIn(
  { workspace }: BoxedProject,
  command: string,
  options: {
    kinds?: readonly ViewKind[];
    timeout?: number;
    signal?: AbortSignal;
    onUpdate?: (output: string) => void;
  } = {},
): Promise<TriedCommand> {
  const { kinds, timeout, signal = new AbortController().signal, onUpdate } = options;
  const context = { toolCallId: "try", signal, approve: async () => "once" as const };
  return tryCommand({ command, ...(timeout && { timeout }) }, workspace, {
    ...context,
    ...(kinds && { kinds }),
    ...(onUpdate && { onUpdate }),
  });
}
