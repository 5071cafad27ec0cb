/** Ends this forked process when its parent disconnects. */
export function followParent(): void {
  // A terminal and a service manager send signals to all processes. Only the server decides when this process ends.
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, () => {});
  process.on("disconnect", () => process.exit(0));
}
