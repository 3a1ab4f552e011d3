import { join } from 'node:path'
import { redisStore } from 'headgate/redis'
import { fetchLocked } from '../../e2e/package/fetched.js'
import type { Opened } from './drivers.js'

type Client = Parameters<typeof redisStore>[0] & { close(): void }
interface Maker {
  createClient(options: object): Promise<Client>
}

/** Returns the path of the module of Valkey GLIDE, which `.cache/glide` has. */
export async function glidePath(): Promise<string> {
  const folder = await fetchLocked('glide', join(__dirname, 'glide-packages'))
  return join(folder, 'node_modules/@valkey/valkey-glide')
}

export async function loadGlide(): Promise<Readonly<Record<'GlideClient' | 'GlideClusterClient', Maker>>> {
  const glide = require(await glidePath())
  glide.Logger.init('off') // it reports each error reply
  return glide
}

/** Connects a client of Valkey GLIDE to a server. */
export async function openGlide(url: string): Promise<Opened> {
  const { GlideClient } = await loadGlide()
  const { hostname: host, port } = new URL(url)
  const client = await GlideClient.createClient({
    addresses: [{ host, port: Number(port) }],
    requestTimeout: 5000,
  })
  return { makeStore: () => redisStore(client), isReady: () => true, end: () => client.close() }
}
