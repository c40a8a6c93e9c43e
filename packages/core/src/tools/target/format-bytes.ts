const KIBIBYTE = 1024;
const UNITS = ["KB", "MB", "GB", "TB"] as const;

/** Such as `312 bytes`, `4.2 KB`, `1.0 GB`. */
export function formatBytes(bytes: number | bigint): string {
  let amount = Number(bytes);
  if (amount < KIBIBYTE) return amount === 1 ? "1 byte" : `${amount} bytes`;
  let unit: string = UNITS[0];
  for (const larger of UNITS) {
    amount /= KIBIBYTE;
    unit = larger;
    if (amount < KIBIBYTE) break;
  }
  return `${amount.toFixed(1)} ${unit}`;
}
