/** Serves a store to the tests of exactness. Argument: the server's address. */
import { memcachedStore } from 'headgate/memcached'
import { serveStore } from 'headgate/testing'
import { Client } from 'memjs'

const [url] = process.argv.slice(2)
const client = Client.create(url, { timeout: 30, retries: 1 })
await serveStore(memcachedStore(client))
client.close()
