/** What diligent promises its users, whatever happens. */
export const PROMISES = {
  foreign: "Opening a repository runs nothing from it",
  key: "The key goes only to the endpoint the user set",
  unasked: "Nothing unproven runs unasked",
  saved: "What was shown is saved",
  opens: "No session is ever bricked",
  patient: "Never hangs in silence, never storms",
  traceless: "Leaves no trace",
  exact: "Only the asked bytes change",
  light: "Stays light",
} as const;

/** Which of the `PROMISES` a check is about. */
export type PromiseName = keyof typeof PROMISES;
