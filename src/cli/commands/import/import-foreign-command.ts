import { Command } from "commander";
import type { ForeignConfiguration } from "../../../migrate/foreign/foreign-configuration.ts";
import { type ImportFlags, importConfiguration } from "./import-configuration.ts";

interface Program {
  /** The name of the command. */
  readonly command: string;
  /** The name of the program. */
  readonly name: string;
  /** The kind of file to read, for the help. */
  readonly file: string;
  readonly read: (file: string) => Promise<ForeignConfiguration>;
}

const MAPPROXY: Program = {
  command: "mapproxy",
  name: "MapProxy",
  file: "mapproxy.yaml",
  read: async (file) =>
    (await import("../../../migrate/foreign/mapproxy/mapproxy-configuration.ts")).mapProxyConfiguration(file),
};

const MAPCACHE: Program = {
  command: "mapcache",
  name: "MapCache",
  file: "mapcache.xml",
  read: async (file) =>
    (await import("../../../migrate/foreign/mapcache/mapcache-configuration.ts")).mapCacheConfiguration(file),
};

/**
 * `nuthatch import mapproxy FILE` and `nuthatch import mapcache FILE`: convert a configuration to a configuration file.
 */
export const importForeignCommands = (): readonly Command[] => [importForeign(MAPPROXY), importForeign(MAPCACHE)];

const importForeign = ({ command, name, file, read }: Program): Command =>
  new Command(command)
    .description(`writes ${name}'s configuration as a configuration file, and reports each element`)
    .argument("<file>", `a ${file}`)
    .option("--check", "only print the report of elements")
    .option("-o, --output <file>", "write to a file instead of printing")
    .option("--force", "overwrite an existing file")
    .action((given: string, flags: ImportFlags) =>
      importConfiguration(flags, async () => {
        const [{ foreignYaml }, { withoutRefused }, { reportText }] = await Promise.all([
          import("../../../migrate/foreign/foreign-configuration.ts"),
          import("../../../migrate/foreign/without-refused.ts"),
          import("../../../migrate/element-report.ts"),
        ]);
        const taken = await withoutRefused(name, await read(given));
        const { warnings, variables } = taken;
        const left = taken.leftOut.map((line) => `left out: ${line}\n`).join("");
        const report = reportText(taken.reports) + left;
        return { warnings, report, write: () => ({ text: foreignYaml(name, taken), variables }) };
      }),
    );
