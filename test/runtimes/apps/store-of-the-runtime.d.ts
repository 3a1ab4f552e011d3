/** The store that a test gives an application: a module of `stores/`. */
declare module 'store-of-the-runtime' {
  export const store: import('headgate/store').Store
}
