/** The store that a test gives an application: a module of `stores/`. */
declare module 'store-of-the-runtime' {
  export const store: import('headgate/store').Store
}

declare module 'cloudflare:workers' {
  export const env: { readonly LIMITS: import('headgate/durable-objects').ObjectNamespace }
}
