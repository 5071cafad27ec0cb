/** A forked process lives as long as its front, and ends when that says so. */
export function followParent(): void {
  // A terminal and a service manager signal all processes: the server decides when its own end.
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, () => {});
  process.on("disconnect", () => process.exit(0));
}
