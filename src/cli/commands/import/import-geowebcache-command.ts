import { Command } from "commander";
import { runningServer } from "../../client/running-server.ts";
import { ServerClient } from "../../client/server-client.ts";
import { type ImportFlags, importConfiguration } from "./import-configuration.ts";

interface Flags extends ImportFlags {
  readonly user?: string;
}

/** `nuthatch import geowebcache SOURCE`: converts a configuration of GeoWebCache to a configuration file. */
export const importGeoWebCacheCommand = (): Command =>
  new Command("geowebcache")
    .description("writes GeoWebCache's configuration as a configuration file, and reports each element")
    .argument("<file>", "geowebcache.xml, its directory, or the address of a running GeoWebCache")
    .option("--check", "only print the report of elements")
    .option("--user <name>", "the account at the address; NUTHATCH_PASSWORD has its password")
    .option("-o, --output <file>", "write to a file instead of printing")
    .option("--force", "overwrite an existing file")
    .action((source: string, flags: Flags) =>
      importConfiguration(flags, async () => {
        const [{ readGeoWebCache, readServer }, { elementReports }, { unitWarning }, { validYamlOf }, { reportText }] =
          await Promise.all([
            import("../../../migrate/geowebcache/geowebcache-source.ts"),
            import("../../../migrate/geowebcache/honoured.ts"),
            import("../../../configuration/gwc/grid-set-object.ts"),
            import("../../../migrate/geowebcache/geowebcache-yaml.ts"),
            import("../../../migrate/element-report.ts"),
          ]);
        const { user } = flags;
        const taken = await (/^https?:\/\//.test(source)
          ? readServer(runningServer(new ServerClient({ url: source, ...(user === undefined ? {} : { user }) })))
          : readGeoWebCache(source));
        const written = await validYamlOf(taken);
        const { leftOut } = written;
        const objects = taken.objects.filter(({ kind, name }) => kind !== "layer" || !leftOut.has(name));
        const left = [...leftOut].map(([name, why]) => `left out: the layer ${name}: ${why}\n`).join("");
        const report = reportText(elementReports(objects)) + left;
        const units = taken.objects.flatMap(({ kind, document }) =>
          kind === "gridSet" && document !== undefined ? (unitWarning(document) ?? []) : [],
        );
        return { warnings: [...taken.warnings, ...units], report, write: () => written };
      }),
    );
