/** A part of the configuration file: the value of `layers[i]` or `gridSets[i]`. */
export type Content = Readonly<Record<string, unknown>>;
