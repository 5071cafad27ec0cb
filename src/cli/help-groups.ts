/** The groups of options in the help of commands. */
export const GROUPS = {
  what: "What:",
  where: "Where:",
  how: "How:",
  when: "When:",
  waiting: "Asking and waiting:",
  /** The options of all commands to a server. The help shows this group last. */
  server: "Server and output:",
} as const;
