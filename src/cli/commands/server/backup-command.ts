import { Command } from "commander";
import { machineDisk } from "../../../lib/file/machine-disk.ts";
import { machineClock } from "../../../lib/time/machine-clock.ts";
import { CommandFailure, EXIT } from "../../exit.ts";
import { Interruption } from "../../interruption.ts";
import { progressLine } from "../../output/progress-line.ts";
import { bytesText } from "../../output/text-table.ts";
import { addConfigurationFlags, type ConfigurationFlags, loadOrPrint } from "./configuration-flags.ts";

/** The copy of a smaller database takes less than a second, so its progress is not shown. */
const BIG_BYTES = 64 * 1024 * 1024;

interface BackupFlags extends ConfigurationFlags {
  readonly force?: boolean;
}

/** `nuthatch backup`: copies the state database of a server on this machine, which may be running. */
export function backupCommand(): Command {
  return addConfigurationFlags(
    new Command("backup")
      .description("copies the state database to a file, also while the server runs")
      .argument("<file>", "the copy; only its owner can read it")
      .option("--force", "overwrite an existing file"),
  ).action(async (target: string, flags: BackupFlags) => {
    const configuration = await loadOrPrint(flags);
    if (configuration === undefined) return;
    const { dataDir, state } = configuration;
    if (state.type === "postgres") {
      const where = `the state is in PostgreSQL (${state.target.name}), and not in a file of ${dataDir}`;
      throw new CommandFailure(`${where}: make a backup with pg_dump`, EXIT.configuration);
    }
    const line = process.stderr.isTTY ? progressLine() : undefined;
    const { backUp } = await import("../../../state/backup.ts");
    using interruption = new Interruption();
    let bytes: number;
    try {
      bytes = await backUp({
        dataDir,
        target,
        replace: flags.force === true,
        signal: interruption.signal,
        disk: machineDisk,
        clock: machineClock,
        progress(copied, total) {
          if (total < BIG_BYTES) return;
          const text = `${bytesText(copied)} of ${bytesText(total)}`;
          line?.show(text, { share: copied / total, text });
        },
      });
    } finally {
      line?.close();
    }
    process.stdout.write(`The state of ${dataDir} has been copied to ${target} (${bytesText(bytes)}).\n`);
  });
}
