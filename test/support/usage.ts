/** Prints how a command is called, and ends the process, if an argument asks for it. */
export function exitWithUsage(usage: string): void {
  if (!process.argv.slice(2).some((argument) => argument === "--help" || argument === "-h")) return;
  process.stdout.write(`${usage}\n`);
  process.exit(0);
}
