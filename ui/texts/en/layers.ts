export const layers = {};
