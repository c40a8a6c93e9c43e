// Longer than any version that was ever given; what is longer is no version.
const MAX_CHARACTERS = 64;

/** As semver.org has it; a part of nine digits is still a number to whatever compares it. */
const VERSION_TEXT =
  /^(?:(?:0|[1-9]\d{0,8})\.){2}(?:0|[1-9]\d{0,8})(?:-(?:0|[1-9]\d*|\d*[A-Za-z-][0-9A-Za-z-]*)(?:\.(?:0|[1-9]\d*|\d*[A-Za-z-][0-9A-Za-z-]*))*)?(?:\+[0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)*)?$/;

/** True for a text such as `0.3.0` or `1.0.0-rc.1`, and for nothing that could say more than that. */
export function isVersion(value: unknown): value is string {
  return typeof value === "string" && value.length <= MAX_CHARACTERS && VERSION_TEXT.test(value);
}

/** Whether one version comes after another by semver: `1.0.0` after `1.0.0-rc.1`, build numbers aside. */
export function isNewer(version: string, than: string): boolean {
  return Bun.semver.order(version, than) > 0;
}
