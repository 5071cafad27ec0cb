/** Ends this forked process when its parent disconnects. */
export function followParent(): void {
  // A terminal and a service manager signal all processes. The server alone decides when this process ends.
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, () => {});
  process.on("disconnect", () => process.exit(0));
}
