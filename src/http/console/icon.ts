/** An icon: three tiles and a seed. */
export const ICON = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect width="32" height="32" rx="6" fill="#2c6e8f"/><g fill="#d9e8ef"><rect x="5" y="5" width="10" height="10" rx="1.5"/><rect x="17" y="5" width="10" height="10" rx="1.5"/><rect x="5" y="17" width="10" height="10" rx="1.5"/></g><path d="M22 16.5c4 1.6 5.6 4.4 5 6.8-.6 2.4-2.6 4-5 4s-4.4-1.6-5-4c-.6-2.4 1-5.2 5-6.8z" fill="#e0a458"/></svg>
`;

/** The icon of the console as a PNG of 64 x 64 pixels, for pages that show GeoWebCache's logo. */
export const LOGO: Uint8Array = Buffer.from(
  [
    "iVBORw0KGgoAAAANSUhEUgAAAEAAAABACAMAAACdt4HsAAABblBMVEVMaXErbY4qb48rbY4tbZEsbY8sbI8sbY8sbo4rbo4sbo4r",
    "bo8sbY4rcowrbY8ocI4qbY4sbY4sbpAvcY0qbpArbY8sb48sbo8rbo4rbY8rbo4vb48na5MrbY4rbo8tbI8rbY4sbo8rbo0wbZEr",
    "bo8rbo4rbY8rbpArbo4sbY8sbo8sbY4sbo/Z6O/gpFiJr8LH2+YwcJLI3ObH2+XJ3OYtb47bolqJsMKIr8I4covVoVtXe4LAmmLf",
    "o1lbfICRjHAwb441cYyAh3XAmmHepFg/dImqlGnOn11cfYBLd4YycI7ToFzCm2LRoFypk2lbfIFGdodFdofco1lGdYdlf35jf36w",
    "lWfNn15kfn5mgH02cYzNnl7Mnl4vb44ub441cIxTeoNXe4Gaj269mmNSeYNOeIW8mWNEdYhCdYhjf3/YolqMi3GYjm6dkW2Xjm5L",
    "d4UycI2ckG2bj226mWRPeIRCdYnZoluMi3K2l2VAdIlrDnPvAAAALHRSTlMAtU7YHPJu/fP88ddtHfQZa7hsGx77ULdvaZEgGqrZ",
    "SU2bahWZmJ5MttuinCWLokYAAAAJcEhZcwAAFiUAABYlAUlSJPAAAAHSSURBVFjD7ZdXU8JAFEYXCBCKKCj23ssSQAULRcHee++9",
    "9/7vDQmYhE1WdjM+OMN5Yu7kOykb7uYCIFLidJtcMEdcJrenAMgpbrZBQqw1VVK+lIUUmI2ZfLkVUmG1pM9PmecNwjUwLKTGXM0L",
    "WqEOGvj1s+kR2BhggbooAmX6BAbQ8fM72NftUxDwB3F1AROQ1sDvQ/Dj6gIskK6mGz2wF1cXkQl8KuDqeUFekBf8lSCAHteDqyMC",
    "lcbRj6sjgqA/oN7SNOqIgI5/JYisf16FcAJs/4dHUY4nGsEIcP3/4DbGCcTuE5oCTP8fO+F+GPnSEmi/shcbnIzdS1JBYoRTMLtN",
    "KHjisjgmE5yNZgtGX4kEdxzCM4lgbwYVzO0TCJY4Fd4IBIdqglMCwaKaYIVAMBxG8+FhklUYRwXzRMu4hQo2iQSh8+z8S4jsVX54",
    "V+avpyDRvgDh6rLiCa4p/o3sr/sCz+SElN+Jy/N2UPvrvpBi4GZQjA9+DCj6iSPnj+3HeHJoKLkwjXxse/R19QpQoGvg8DIAdOkR",
    "tKSGTjN93l6YGtvqqG/CWi8OjhbawdOZGV2NVHdhb5OG56ZKL/HpOwsV8ztT1O7IeYRlHYZGJh38BnfDulxtViQSAAAAAElFTkSu",
    "QmCC",
  ].join(""),
  "base64",
);
