import { Command } from "commander";
import type { Configuration } from "../../../configuration/configuration.ts";
import type { Layer } from "../../../layer/layer.ts";
import { unknownLayer } from "../../../lib/text/nearest.ts";
import { machineClock } from "../../../lib/time/machine-clock.ts";
import type { Finding } from "../../doctor/finding.ts";
import { CommandFailure, EXIT } from "../../exit.ts";
import { addConfigurationFlags, type ConfigurationFlags, loadWithWarnings } from "./configuration-flags.ts";

interface DoctorFlags extends ConfigurationFlags {
  readonly json?: boolean;
  readonly security?: boolean;
}

const findingLine = ({ severity, layers, upstream, message }: Finding): string => {
  const more = layers.length > 5 ? ` and ${layers.length - 5} more` : "";
  return `${severity}: ${layers.slice(0, 5).join(", ")}${more} (${upstream}): ${message}\n`;
};

/** Checks the upstreams of these layers, prints the faults, and sets the exit code. */
export async function printOnlineCheck(layers: readonly Layer[], asJson = false): Promise<void> {
  const beganMs = machineClock.monotonicNow();
  // Loaded here, because other commands do not need it.
  const { askUpstreams } = await import("../../doctor/ask-upstreams.ts");
  const problems = await askUpstreams(layers, machineClock);
  const ms = Math.round(machineClock.monotonicNow() - beganMs);
  if (asJson) process.stdout.write(`${JSON.stringify({ problems, layers: layers.length, ms })}\n`);
  else {
    process.stdout.write(problems.map(findingLine).join(""));
    process.stdout.write(
      `layers checked: ${layers.length}, problems: ${problems.length}, ${(ms / 1000).toFixed(1)} s\n`,
    );
  }
  if (problems.length > 0) process.exitCode = EXIT.failure;
}

/** Compares the installation with the hardening guide, prints each breach, and sets the exit code. */
async function printSecurityCheck(configuration: Configuration, asJson = false): Promise<void> {
  const { checkSecurity } = await import("../../doctor/check-security.ts");
  const { SECURITY_RULES } = await import("../../doctor/security-rules.ts");
  const { findings, isRunning } = await checkSecurity(configuration, machineClock);
  const rules = SECURITY_RULES.length;
  if (asJson) process.stdout.write(`${JSON.stringify({ problems: findings, rules, isRunning })}\n`);
  else {
    process.stdout.write(findings.map(({ severity, rule, message }) => `${severity}: ${rule}: ${message}\n`).join(""));
    const server = isRunning ? "the server answers" : "no server answers, so its rules were not checked";
    process.stdout.write(`rules checked: ${rules}, problems: ${findings.length}; ${server}\n`);
  }
  if (findings.length > 0) process.exitCode = EXIT.failure;
}

/** @throws CommandFailure for a name that no layer has */
function named(layers: readonly Layer[], names: readonly string[]): readonly Layer[] {
  const known = layers.map(({ name }): string => name);
  const unknown = names.find((name) => !known.includes(name));
  if (unknown !== undefined) throw new CommandFailure(unknownLayer(unknown, known), EXIT.usage);
  return names.length === 0 ? layers : layers.filter(({ name }) => names.includes(name));
}

/** `nuthatch doctor`: checks that the upstreams can render the layers of the configuration. */
export function doctorCommand(): Command {
  return addConfigurationFlags(
    new Command("doctor")
      .description("checks whether each upstream can render its layers, and lists the problems")
      .argument("[layer...]", "the layers to check; absent: all of the configuration")
      .option("--security", "compare the installation with the hardening guide instead")
      .option("--json", "print the problems as JSON"),
  ).action(async (names: readonly string[], { json, security, ...flags }: DoctorFlags) => {
    if (security === true && names.length > 0)
      throw new CommandFailure("doctor --security checks the whole installation: it takes no layer", EXIT.usage);
    const configuration = await loadWithWarnings(flags);
    if (configuration !== undefined && security === true) await printSecurityCheck(configuration, json);
    else if (configuration !== undefined) await printOnlineCheck(named(configuration.layers, names), json);
  });
}
