/**
 * The additional exports for an interactive terminal: drafts and earlier inputs, files and images in a prompt, the
 * user's screen settings.
 */
export { describeGrant } from "../approval/grants.ts";
export { isUpdateUrl } from "../config/schema.ts";
export { measureSystemPrompt, type PromptShares } from "../config/system-prompt.ts";
export { readUserSettings, type UserSettings, type UserSettingsReading } from "../config/user-settings.ts";
export { PermissionCommand } from "../harness/permission-command.ts";
export { readInputDirectories, readRecentInputs } from "../infrastructure/fs/input-history.ts";
export { DraftFile, updatePrivateFile } from "../infrastructure/fs/private-files.ts";
export { readCheckedFile } from "../infrastructure/fs/read.ts";
export { isInside } from "../infrastructure/fs/real-path.ts";
export { createProgramFetch, type ProgramFetch } from "../infrastructure/network/program-fetch.ts";
export { isSecretFile } from "../infrastructure/paths/secret-files.ts";
export { userConfigDirectory } from "../infrastructure/paths/user.ts";
export { inheritEnvironment, resolveExecutable } from "../infrastructure/process/environment.ts";
export { findRipgrep, listFiles } from "../infrastructure/process/ripgrep.ts";
export { systemErrorText } from "../infrastructure/system-error.ts";
export { isEffort } from "../provider/types.ts";
export { type ProbeOptions, probeSandbox, type SandboxFailure } from "../sandbox/probe.ts";
export { calibrationKey, readCalibration } from "../session/compaction/calibration.ts";
export { readShellNote, type ShellNote, toShellNote } from "../session/summary-message.ts";
export { compareTexts } from "../tools/file-tools.ts";
export { readPromptDocument } from "../tools/read/read-document.ts";
export { type PromptImage, readPromptImage } from "../tools/read/read-image.ts";
export { runUserCommand, type UserCommandOptions } from "../tools/shell/user-command.ts";
