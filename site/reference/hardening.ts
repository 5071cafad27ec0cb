import { SECURITY_RULES } from "../../src/cli/doctor/security-rules.ts";
import { code, GENERATED, table } from "./markdown.ts";

/** Returns the page of the rules that `nuthatch doctor --security` checks. */
export const hardeningPage = (): string => `# Hardening guide

${GENERATED}

An installation that keeps these rules gives an attacker on the network little to work with. \`nuthatch doctor --security\` checks them: it reads the configuration as \`serve\` does, the modes of files, and asks the server if it runs.

<!-- not run: its result is that of the machine -->

\`\`\`sh
nuthatch doctor --security --config /etc/nuthatch/nuthatch.yaml
\`\`\`

It prints one line for each breach, with its rule and the remedy. The exit code is 0 without breaches and 1 with breaches. \`--json\` prints \`{"problems": [{"severity", "rule", "message"}], "rules": ${SECURITY_RULES.length}, "isRunning": true}\`.

${table(
  ["Rule", "Severity", "Demand"],
  SECURITY_RULES.map(({ id, severity, demand }) => [code(id), severity, demand]),
)}

## Rules that no program checks

- The proxy in front refuses \`/rest\`, \`/api\`, \`/metrics\`, \`/masstruncate\`, \`/diskquota\` and \`?explain\` from outside ([reverse proxies](../how-to/reverse-proxy.md)).
- Scripts have a [token](access.md) of the role that they need, not the password of an administrator.
- Secrets are in files that \`\${FILE:…}\` names ([configuration](configuration.md)), not in the configuration.
- The unit of systemd, the image and the chart are used as they are: no rights, and a file system that is read-only but for the data directory ([install](../how-to/install.md)).
- Backups are as secret as the state ([backup](../how-to/backup.md)).
`;
