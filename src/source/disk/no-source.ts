import { type Source, SourceError } from "../source.ts";

/** The source of a layer without an upstream. */
export const NO_SOURCE: Source = {
  async render() {
    throw new SourceError("no_tile", "the layer has no upstream, and the disk has no tile at this place");
  },
  async [Symbol.asyncDispose]() {},
};
