/** The groups of options in the help of commands. */
export const GROUPS = {
  what: "What:",
  where: "Where:",
  how: "How:",
  when: "When:",
  waiting: "Asking and waiting:",
  /** Options of all commands that use a server. The help shows this group last. */
  server: "Server and output:",
} as const;
