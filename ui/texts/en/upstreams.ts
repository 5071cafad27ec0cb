export const upstreams = {};
