import { bash } from "./bash.ts";
import type { ToolLook } from "./tool-look.ts";

/** A command that the user ran; it looks like one of the model's. */
export const toldShell: ToolLook = { ...bash, showsFailure: () => true };

/** One that only the user knows of. */
export const privateShell: ToolLook = {
  ...toldShell,
  summary: (call) => [bash.summary?.(call), "not told to the model"].filter(Boolean).join(" · "),
};
