import type { Problems } from "./problems.ts";

/** What a reload must not take away from the running server by an omission. */
export interface RunningConfiguration {
  readonly users: number;
  readonly layers: number;
}

/**
 * Refuses a reload that would open the management interface or remove every layer because a section is absent: an editor
 * that rewrites the file, or a full disk, leaves a file that ends early for a moment. `hasLayers`: the section is there.
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
