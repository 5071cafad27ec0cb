import { styleText } from "node:util";

/** The colours of a terminal that the commands use. */
export type Colour = "bold" | "red" | "yellow" | "green" | "cyan";

/** Returns whether a stream shows colours: a terminal with colours, unless `NO_COLOR` is set (no-color.org). */
const showsColours = (stream: NodeJS.WriteStream): boolean => stream.isTTY && stream.hasColors();

/** Returns a text for stdout in a colour. Without colours there, returns the text unchanged. */
export const coloured = (colour: Colour, text: string): string =>
  showsColours(process.stdout) ? styleText(colour, text) : text;

/** Returns a text for stderr in a colour. Without colours there, returns the text unchanged. */
export const colouredError = (colour: Colour, text: string): string =>
  showsColours(process.stderr) ? styleText(colour, text) : text;

/** The colours of states in lists. A state that is not here has no colour. */
const OF_STATE: ReadonlyMap<string, Colour> = new Map([
  ["failed", "red"],
  ["aborted", "red"],
  ["down", "red"],
  ["lost", "red"],
  ["refused", "red"],
  ["done with failures", "yellow"],
  ["paused", "yellow"],
  ["draining", "yellow"],
  ["pending", "yellow"],
  ["skipped", "yellow"],
  ["running", "cyan"],
  ["done", "green"],
  ["ready", "green"],
  ["up", "green"],
]);

/** Returns the colour of a state. A job that waits, for whatever, is yellow. */
export const stateColour = (state: string): Colour | undefined =>
  state.startsWith("waiting") ? "yellow" : OF_STATE.get(state);
