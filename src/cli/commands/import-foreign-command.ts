import { existsSync, writeFileSync } from "node:fs";
import { Command } from "commander";
import type { ForeignConfiguration } from "../exchange/foreign/foreign-configuration.ts";
import { CommandFailure, EXIT } from "../exit.ts";

interface Flags {
  readonly check?: boolean;
  readonly output?: string;
  readonly force?: boolean;
}

interface Program {
  /** The name of the command. */
  readonly command: string;
  /** The name of the program. */
  readonly name: string;
  /** The file that it reads, for the help. */
  readonly file: string;
  readonly read: (file: string) => Promise<ForeignConfiguration>;
}

const MAPPROXY: Program = {
  command: "mapproxy",
  name: "MapProxy",
  file: "mapproxy.yaml",
  read: async (file) =>
    (await import("../exchange/foreign/mapproxy/mapproxy-configuration.ts")).mapProxyConfiguration(file),
};

const MAPCACHE: Program = {
  command: "mapcache",
  name: "MapCache",
  file: "mapcache.xml",
  read: async (file) =>
    (await import("../exchange/foreign/mapcache/mapcache-configuration.ts")).mapCacheConfiguration(file),
};

/** `nuthatch import mapproxy FILE` and `nuthatch import mapcache FILE`: write a configuration as configuration file. */
export const importForeignCommands = (): readonly Command[] => [importForeign(MAPPROXY), importForeign(MAPCACHE)];

const importForeign = ({ command, name, file, read }: Program): Command =>
  new Command(command)
    .description(`writes ${name}'s configuration as a configuration file, and reports each element`)
    .argument("<file>", `a ${file}`)
    .option("--check", "only report what is taken over, and how")
    .option("-o, --output <file>", "write to a file instead of printing")
    .option("--force", "write over the file if it is there already")
    .action(async (given: string, flags: Flags) => {
      if (flags.output !== undefined && flags.force !== true && existsSync(flags.output))
        throw new CommandFailure(
          `${flags.output} is there already: --force writes over it, or name another file with -o`,
          EXIT.failure,
        );
      const [{ foreignYaml }, { reportText }, { problemsOfText }] = await Promise.all([
        import("../exchange/foreign/foreign-configuration.ts"),
        import("../output/element-report.ts"),
        import("../exchange/problems-of-text.ts"),
      ]);
      const taken = await read(given);
      const left = taken.leftOut.map((line) => `left out: ${line}\n`).join("");
      const report = reportText(taken.reports) + left;
      for (const warning of taken.warnings) process.stderr.write(`warning: ${warning}\n`);
      if (flags.check === true) {
        process.stdout.write(report);
        return;
      }
      const text = foreignYaml(name, taken);
      if (flags.output === undefined) process.stdout.write(text);
      else writeFileSync(flags.output, text, { flag: flags.force === true ? "w" : "wx", mode: 0o600 });
      process.stderr.write(report);
      const { variables } = taken;
      if (variables.length > 0) process.stderr.write(`Variables to set, with the secrets: ${variables.join(", ")}\n`);
      const problems = await problemsOfText(text, Object.fromEntries(variables.map((one) => [one, "secret"])));
      if (problems.length === 0) return;
      process.stderr.write(
        `What is written needs changes before a server takes it:\n${problems.map(({ message }) => `  ${message}\n`).join("")}`,
      );
      process.exitCode = EXIT.configuration;
    });
