/**
 * A file name as the most forgiving file system takes it: without case, Unicode form and invisible characters. Two names
 * that differ here are different files everywhere.
 */
export function foldName(name: string): string {
  return name
    .replace(/\p{Default_Ignorable_Code_Point}/gu, "")
    .normalize("NFKC")
    .toLowerCase();
}
