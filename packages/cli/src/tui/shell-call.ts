import type { ShellNote } from "@diligent/core/interactive";
import type { ShellLine } from "../shell-line.ts";
import { finish, rememberExpandable, type ShellBlock, type View } from "./view.ts";

/** A command that starts to run, with the mark it was typed after; times are those of the view's clock. */
export function toShellCall(
  { command, isSharedWithModel, isTried }: ShellLine,
  startedAt: number,
): ShellBlock {
  const toolName = isTried ? "/try" : isSharedWithModel ? "!" : "!!";
  return {
    type: "shell",
    isSharedWithModel,
    call: { toolCallId: toolName, toolName, input: { command }, startedAt },
  };
}

/** A command of an earlier session, as recorded in the conversation. */
export function toEarlierShellCall({ command, output, exitCode }: ShellNote, timestamp: number): ShellBlock {
  const isError = exitCode !== 0;
  const result = { output, isError, metadata: exitCode === null ? {} : { exitCode }, endedAt: timestamp };
  const block = toShellCall({ command, isSharedWithModel: true }, timestamp);
  return { ...block, call: { ...block.call, result } };
}

/** The view with the finished command in the transcript. */
export function showShellCall(view: View): View {
  const { shell } = view;
  if (!shell) return view;
  return { ...rememberExpandable(finish(view, shell), [shell]), shell: undefined, lastCall: shell };
}
