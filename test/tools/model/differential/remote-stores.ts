import { leased, type Store } from 'headgate'
import { redisStore } from 'headgate/redis'
import { createClient } from 'redis'
import { connect } from '../../../integration/redis/connect.js'
import { kindsNamed, type StoreName } from '../../../integration/store-kinds.js'
import { startRedis } from '../../../support/servers/redis.js'

/** A store on a real server. */
export interface Started {
  readonly store: Store
  stop(): Promise<void>
}

const ofKind = (name: StoreName) => async (): Promise<Started> => {
  const [kind] = kindsNamed(name)
  if (kind === undefined) throw new Error(`There is no store ${name}.`)
  const { makeStore, stop } = await kind.start()
  return { store: await makeStore(), stop }
}

async function startNodeRedis(): Promise<Started> {
  const server = await startRedis()
  const client = createClient({ url: server.url })
  client.on('error', () => undefined) // connecting may fail at first
  await client.connect()
  const stop = async () => {
    client.destroy()
    await server.stop()
  }
  return { store: redisStore(client), stop }
}

/** All limits of the model are too small for a lease, so it must change nothing. */
async function startLeased(): Promise<Started> {
  const server = await startRedis()
  const client = await connect(server.url)
  const stop = async () => {
    client.disconnect()
    await server.stop()
  }
  return { store: leased(redisStore(client)), stop }
}

/** How each store is started. */
export const remoteStarts = {
  Redis: ofKind('Redis'),
  'node-redis': startNodeRedis,
  'leased Redis': startLeased,
  'Redis Cluster': ofKind('Redis Cluster'),
  memcached: ofKind('memcached'),
  MariaDB: ofKind('MariaDB'),
  PostgreSQL: ofKind('PostgreSQL'),
}

export type RemoteName = keyof typeof remoteStarts
