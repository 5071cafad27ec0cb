export const truncations = {};
