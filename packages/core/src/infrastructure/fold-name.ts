/**
 * A file name as the most forgiving file system takes it: without case, Unicode form and invisible characters. Two names
 * that differ here are different files everywhere.
 */
export function foldName(name: string): string {
  // Most are plain, and nothing but their case is to be folded.
  if (/^[ -~]*$/.test(name)) return name.toLowerCase();
  return name
    .replace(/\p{Default_Ignorable_Code_Point}/gu, "")
    .normalize("NFKC")
    .toLowerCase();
}
