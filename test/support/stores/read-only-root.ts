import { spawnSync } from "node:child_process";

/**
 * A shell script that makes every mounted file system read-only in a separate mount namespace, except a directory
 * (`$1`) and the file systems of the kernel, and then becomes another program.
 */
export const READ_ONLY_SCRIPT = `set -eu
volume=$1; shift
mount --make-rprivate /
mount --bind "$volume" "$volume"
while read -r _ _ _ _ point options _; do
  case "$point" in "$volume"|/proc*|/sys*|/dev|/dev/pts*|/dev/mqueue*) continue;; esac
  mount -o "remount,bind,ro,\${options#*,}" "$point" 2>/dev/null || [ "$point" != / ] || { echo "/ stays writable" >&2; exit 70; }
done < /proc/self/mountinfo
cd "$volume"
exec "$@"`;

/** Returns the beginning of a command that runs a program with a read-only root and one directory to write to. */
export const withReadOnlyRoot = (volume: string): readonly string[] => [
  "unshare",
  "--user",
  "--map-root-user",
  "--mount",
  "sh",
  "-c",
  READ_ONLY_SCRIPT,
  "sh",
  volume,
];

/** Returns why this machine cannot run a program with a read-only root; undefined: it can. */
export function whyNoReadOnlyRoot(volume: string): string | undefined {
  const [program = "", ...options] = withReadOnlyRoot(volume);
  const tried = spawnSync(program, [...options, "sh", "-c", "! touch /nuthatch-probe 2>/dev/null && touch probe"]);
  if (tried.error !== undefined) return `unshare cannot be run: ${tried.error.message}`;
  return tried.status === 0 ? undefined : `unshare ended with ${tried.status}: ${tried.stderr.toString().trim()}`;
}
