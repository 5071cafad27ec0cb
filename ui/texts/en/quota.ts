export const quota = {};
