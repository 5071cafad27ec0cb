import { existsSync, writeFileSync } from "node:fs";
import { Command } from "commander";
import { CommandFailure, EXIT } from "../exit.ts";

interface Flags {
  readonly check?: boolean;
  readonly output?: string;
  readonly force?: boolean;
  readonly user?: string;
}

/** `nuthatch import geowebcache SOURCE`: writes a configuration of GeoWebCache as configuration file. */
export const importGeoWebCacheCommand = (): Command =>
  new Command("geowebcache")
    .description("writes GeoWebCache's configuration as a configuration file, and reports each element")
    .argument("<file>", "geowebcache.xml, its directory, or the address of a running GeoWebCache")
    .option("--check", "only report what is taken over, and how")
    .option("--user <name>", "the account at the address; NUTHATCH_PASSWORD has its password")
    .option("-o, --output <file>", "write to a file instead of printing")
    .option("--force", "write over the file if it is there already")
    .action(async (source: string, flags: Flags) => {
      const [
        { readGeoWebCache },
        { elementReports },
        { yamlOf },
        { reportedElements, reportText },
        { problemsOfText },
      ] = await Promise.all([
        import("../exchange/geowebcache-source.ts"),
        import("../../gwc/honoured.ts"),
        import("../exchange/geowebcache-yaml.ts"),
        import("../output/element-report.ts"),
        import("../exchange/problems-of-text.ts"),
      ]);
      if (flags.output !== undefined && flags.force !== true && existsSync(flags.output))
        throw new CommandFailure(
          `${flags.output} is there already: --force writes over it, or name another file with -o`,
          EXIT.failure,
        );
      const taken = await readGeoWebCache(source, flags.user);
      for (const warning of taken.warnings) process.stderr.write(`warning: ${warning}\n`);
      const report = reportText(reportedElements(elementReports(taken.objects)));
      if (flags.check === true) {
        process.stdout.write(report);
        return;
      }
      const { text, variables } = yamlOf(taken);
      if (flags.output === undefined) process.stdout.write(text);
      else writeFileSync(flags.output, text, { flag: flags.force === true ? "w" : "wx", mode: 0o600 });
      process.stderr.write(report);
      if (variables.length > 0) process.stderr.write(`Variables to set, with the secrets: ${variables.join(", ")}\n`);
      const problems = await problemsOfText(text, Object.fromEntries(variables.map((name) => [name, "secret"])));
      if (problems.length === 0) return;
      process.stderr.write(
        `What is written needs changes before a server takes it:\n${problems.map(({ message }) => `  ${message}\n`).join("")}`,
      );
      process.exitCode = EXIT.configuration;
    });
