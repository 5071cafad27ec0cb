import { readFileSync } from "node:fs";
import { childrenOf } from "../../test/support/server/processes.ts";

/** `short`: one quick round, for the gate. It shows that a bench works and its rough ratios. */
export type BenchLength = "full" | "short";

export const median = (values: readonly number[]): number => quantile(values, 0.5);

/** Returns the quantile `q`: the value below which the share `q` of the values lies. */
export function quantile(values: readonly number[], q: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * q))] ?? Number.NaN;
}

/**
 * Returns the CPU seconds of all threads of a process and of its children, including children that have ended (proc(5),
 * fields 14 to 17; 100 ticks per second).
 */
export function cpuSeconds(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ")[1]?.split(" ") ?? [];
  const own = fields.slice(11, 15).reduce((sum, ticks) => sum + Number(ticks), 0) / 100;
  return childrenOf(pid).reduce((sum, child) => sum + cpuSeconds(child), own);
}

/** Returns the CPU seconds of all threads of a process, without its children. */
export function ownCpuSeconds(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ")[1]?.split(" ") ?? [];
  return (Number(fields[11]) + Number(fields[12])) / 100;
}

/** Returns the memory in MiB of a process (`VmRSS`) and its children (`Pss`, without double counts); see proc(5). */
export const memoryMiB = (pid: number): number =>
  childrenOf(pid).reduce(
    (sum, child) => sum + kib(child, "smaps_rollup", /^Pss:\s+(\d+)/m),
    kib(pid, "status", /VmRSS:\s+(\d+)/),
  ) / 1024;

const kib = (pid: number, file: string, line: RegExp): number =>
  Number(line.exec(readFileSync(`/proc/${pid}/${file}`, "utf8"))?.[1] ?? 0);

export const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
