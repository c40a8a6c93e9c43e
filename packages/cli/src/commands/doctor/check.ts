/** `problem`: diligent cannot work so; `warning`: a part of it cannot, or not well. */
export type CheckStatus = "ok" | "warning" | "problem" | "skipped";

/** What was found out about one thing that diligent needs. */
export interface Check {
  /** What was looked at, in a word or two. */
  name: string;
  status: CheckStatus;
  /** What was found, in a line. Never a key. */
  message: string;
  /** What to do about it, where something can be done. */
  hint?: string;
}

/** In order. @param message what was found. */
export function ok(name: string, message: string): Check {
  return { name, status: "ok", message };
}

/** Works, but not everything does, or not as one might expect. @param hint what to do about it. */
export function warning(name: string, message: string, hint?: string): Check {
  return { name, status: "warning", message, ...(hint !== undefined && { hint }) };
}

/** Does not work as it is. @param hint what to do about it. */
export function problem(name: string, message: string, hint?: string): Check {
  return { name, status: "problem", message, ...(hint !== undefined && { hint }) };
}

/** Not looked at. @param message why. */
export function skipped(name: string, message: string): Check {
  return { name, status: "skipped", message };
}
