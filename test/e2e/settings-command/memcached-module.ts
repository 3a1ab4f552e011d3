/** The module that an operator would write: its default export makes the store that has the settings. */
import { memcachedStore } from 'headgate/memcached'
import { Client } from 'memjs'

export default () => memcachedStore(Client.create(process.env.MEMCACHED_URL, { retries: 0 }))
