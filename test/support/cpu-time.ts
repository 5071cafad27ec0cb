/** Returns the CPU time in ms that `run` took: other processes of a busy machine do not count. */
export function cpuMs(run: () => void): number {
  const before = process.cpuUsage();
  run();
  return since(before);
}

/** Returns the CPU time in ms that passed in this process until `run` was done. */
export async function cpuMsUntil(run: () => Promise<void>): Promise<number> {
  const before = process.cpuUsage();
  await run();
  return since(before);
}

function since(before: NodeJS.CpuUsage): number {
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}
