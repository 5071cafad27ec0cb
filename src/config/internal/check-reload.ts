import type { Problems } from "./problems.ts";

/** Facts of the running server that a reload must not lose because a section is absent. */
export interface RunningConfiguration {
  readonly users: number;
  readonly layers: number;
}

/**
 * Refuses a reload that would open the management interface or remove every layer because a section is absent. A file
 * can end early for a moment: an editor is rewriting it, or the disk is full.
 * `hasLayers`: the section exists.
 */
export function checkReload(
  running: RunningConfiguration,
  next: { readonly users: number; readonly hasLayers: boolean },
  problems: Problems,
): void {
  if (running.users > 0 && next.users === 0 && !problems.within(["users"]))
    problems.add(
      ["users"],
      `the running server has ${running.users} ${running.users === 1 ? "user" : "users"} and this configuration names none: a reload does not open the server to everybody; restart it to run without users`,
    );
  if (running.layers > 0 && !next.hasLayers)
    problems.add(
      ["layers"],
      `the running server has ${running.layers} ${running.layers === 1 ? "layer" : "layers"} and this configuration has no such section: a reload removes all layers only by "layers: []"`,
    );
}
