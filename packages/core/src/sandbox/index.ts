export { describeSandbox } from "./describe-sandbox.ts";
export { type SandboxOptions, SessionSandbox } from "./session-sandbox.ts";
