import { Command, InvalidArgumentError } from "commander";
import { machineClock } from "../../../lib/time/machine-clock.ts";
import { EXIT } from "../../exit.ts";
import { Interruption } from "../../interruption.ts";
import { textTable } from "../../output/text-table.ts";
import { appendMeasurement, readMeasurements } from "../../quality/measurement-file.ts";
import { type MonthOfQuality, qualityByMonth, qualityOf } from "../../quality/measurements.ts";
import { createProber, probeAtRate } from "../../quality/probe.ts";
import { parseWhole } from "../shared-options.ts";

/** The requests a second that a view service answers (Regulation (EC) 976/2009, annex I, 3), and the share in 5 s. */
const CAPACITY = { perSecond: 20, percent: 95 } as const;
/** The time for which `capacity` sends requests. */
const SECONDS = { standard: 30, most: 3_600 } as const;

function parseAddress(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || !/^https?:$/.test(url.protocol))
    throw new InvalidArgumentError("It is an address with http:// or https://.");
  return url;
}
const parseAddresses = (text: string, before: readonly URL[] = []): readonly URL[] => [...before, parseAddress(text)];

const FILE = ["--file <file>", "the file of the measurements (CSV)", "quality.csv"] as const;
const COLUMNS = [
  "month",
  "probes",
  "failed",
  "availabilityPercent",
  "firstByteMs95",
  "inTimePercent",
] as const satisfies readonly (keyof MonthOfQuality)[];
const cells = (month: MonthOfQuality): readonly string[] => COLUMNS.map((column) => String(month[column] ?? ""));

interface ReportFlags {
  readonly file: string;
  readonly json?: true;
  readonly csv?: true;
}

function reportText(months: readonly MonthOfQuality[], { json, csv }: ReportFlags): string {
  if (json) return `${JSON.stringify({ months })}\n`;
  if (csv) return [COLUMNS, ...months.map(cells)].map((line) => `${line.join(",")}\n`).join("");
  return textTable(
    ["month", "probes", "failed", "available %", "first byte ms (95 of 100)", "within 5 s %"],
    months.map(cells),
  );
}

/** `nuthatch quality`: measures availability, response time and capacity of a service from outside. */
export function qualityCommand(): Command {
  return new Command("quality")
    .description("measures availability, response time and capacity of a service from outside")
    .addCommand(
      new Command("probe")
        .description("requests an address once, and appends the result to a file; run it every ten minutes")
        .argument("<address>", "the address of a tile or of a map", parseAddress)
        .option(...FILE)
        .action(async (url: URL, { file }: ReportFlags) => {
          using interruption = new Interruption();
          await using prober = createProber(machineClock, 1);
          const measurement = await prober.probe(url, interruption.signal);
          appendMeasurement(file, measurement);
          if (measurement.status !== 200) process.exitCode = EXIT.failure;
        }),
    )
    .addCommand(
      new Command("report")
        .description("shows the quality by month")
        .option(...FILE)
        .option("--json", "print JSON")
        .option("--csv", "print CSV")
        .action((flags: ReportFlags) => {
          process.stdout.write(reportText(qualityByMonth(readMeasurements(flags.file)), flags));
        }),
    )
    .addCommand(
      new Command("capacity")
        .description(`sends ${CAPACITY.perSecond} requests a second, and shows how many are answered within 5 s`)
        .argument("<address...>", "addresses of tiles or of maps, requested in turn", parseAddresses)
        .option("--seconds <n>", "how long", parseWhole(1, SECONDS.most), SECONDS.standard)
        .option("--json", "print JSON")
        .action(async (urls: readonly URL[], { seconds, json }: { readonly seconds: number; readonly json?: true }) => {
          using interruption = new Interruption();
          const { perSecond, percent } = CAPACITY;
          const count = perSecond * seconds;
          await using prober = createProber(machineClock, count);
          const parts = { prober, clock: machineClock };
          const all = await probeAtRate(parts, urls, { count, perSecond }, interruption.signal);
          const { probes: requests, ...quality } = qualityOf(all);
          const { failed, firstByteMs95, inTimePercent } = quality;
          const text = `${requests} requests, ${perSecond} a second: ${failed} failed, 95 of 100 first bytes within ${firstByteMs95 ?? "-"} ms, ${inTimePercent ?? 0} % within 5 s`;
          process.stdout.write(`${json ? JSON.stringify({ requests, perSecond, ...quality }) : text}\n`);
          const answeredInTime = ((inTimePercent ?? 0) * (requests - failed)) / requests;
          if (answeredInTime < percent) process.exitCode = EXIT.failure;
        }),
    );
}
