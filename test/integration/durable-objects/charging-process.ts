/** Serves a store to the tests of exactness. Its requests reach the objects through a Worker. */
import { durableObjectsStore } from 'headgate/durable-objects'
import { serveStore } from 'headgate/testing'

const [, , url] = process.argv

await serveStore(
  durableObjectsStore({
    idFromName: (name) => ({ name }),
    get: ({ name }: { name: string }) => ({
      fetch: (_, init) => fetch(`${url}/?object=${encodeURIComponent(name)}`, init),
    }),
  }),
)
