import { LISTING_PROGRAMS } from "./listing-programs.ts";
import type { ProgramSpec } from "./program-spec.ts";
import { SYSTEM_PROGRAMS } from "./system-programs.ts";
import { TEXT_PROGRAMS } from "./text-programs.ts";

/**
 * Programs that only read, each with the options with which that is certain; any other option makes a call ask. Taken
 * from the manuals of GNU coreutils, findutils, grep, diffutils, util-linux and their BSD kin: where these differ, an
 * option is left out. Left out for good: what runs other programs, writes files, opens pagers or connections, or takes
 * its settings from the directory it is run in, as git does. Programs with a language of their own are in
 * `special-programs.ts`.
 */
export const READ_ONLY_PROGRAMS: Readonly<Record<string, ProgramSpec>> = {
  ...LISTING_PROGRAMS,
  ...TEXT_PROGRAMS,
  ...SYSTEM_PROGRAMS,
};
