import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { FaultyDisk } from "../../../test/support/stores/faulty-disk.ts";
import { machineDisk } from "../../lib/file/machine-disk.ts";
import { RunningMark } from "../../state/running-mark.ts";
import { claimState } from "./claimed-state.ts";

const directory = mkdtempSync(join(tmpdir(), "nuthatch-claimed-"));
afterAll(() => rmSync(directory, { recursive: true, force: true }));

/** Stops a server whose operations on the disk fail, and returns the loss that the next start reports. */
function lossAfterStop(faults: readonly ("writeSync" | "fsyncSync" | "rmSync")[]) {
  const dataDir = join(directory, `stop ${faults.join(" ")}`);
  const faulty = new FaultyDisk();
  const state = claimState(dataDir, faulty.machine);
  state.db.exec("CREATE TABLE one (n INTEGER)");
  state.begun();
  faulty.fail(faults, "EIO");
  if (faults.includes("rmSync")) expect(() => state.release()).toThrow("EIO");
  else state.release();
  return new RunningMark(dataDir, machineDisk).loss();
}

test.each([[[]], [["writeSync"]], [["fsyncSync"]], [["writeSync", "rmSync"]]] as const)(
  "a start misses nothing after a stop in which %j failed",
  (faults) => {
    expect(lossAfterStop(faults)).toBeUndefined();
  },
);
