/**
 * What only somebody at a terminal needs beyond a conversation: drafts and earlier inputs, files and images that a prompt
 * names, the user's own settings of the screen.
 */
export { describeGrant } from "./approval/grants.ts";
export { measureSystemPrompt, type PromptShares } from "./config/prompt-shares.ts";
export { isUpdateUrl } from "./config/update-url.ts";
export { readUserSettings, type UserSettings, type UserSettingsReading } from "./config/user-settings.ts";
export { isSecretFile } from "./infrastructure/places/secret-files.ts";
export { userConfigDirectory } from "./infrastructure/places/user-directories.ts";
export { inheritEnvironment } from "./infrastructure/processes/child-environment.ts";
export { resolveExecutable } from "./infrastructure/processes/executables.ts";
export { listFiles } from "./infrastructure/processes/list-files.ts";
export { findRipgrep } from "./infrastructure/processes/ripgrep.ts";
export { readCheckedFile } from "./infrastructure/reading/checked-file.ts";
export { isInside } from "./infrastructure/reading/real-path.ts";
export { readRecentInputs } from "./infrastructure/reading/recent-inputs.ts";
export { systemErrorText } from "./infrastructure/system-error.ts";
export { DraftFile } from "./infrastructure/writing/draft-file.ts";
export { updatePrivateFile } from "./infrastructure/writing/private-file.ts";
export { type ProbeOptions, probeSandbox, type SandboxFailure } from "./sandbox/probe-sandbox.ts";
export { calibrationKey, readCalibration } from "./session/compaction/calibration-store.ts";
export { readShellNote, type ShellNote, toShellNote } from "./session/shell-note.ts";
export { compareTexts } from "./tools/compare-texts.ts";
export { type PromptImage, readPromptImage } from "./tools/read/prompt-image.ts";
export { runUserCommand, type UserCommandOptions } from "./tools/shell/user-command.ts";
