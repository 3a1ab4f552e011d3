import express from 'express'
import { rateLimit, type Store } from 'headgate'
import { memcachedStore } from 'headgate/memcached'
import { redisStore } from 'headgate/redis'
import { Redis } from 'ioredis'
import { Client } from 'memjs'
import { startMemcached } from '../../support/servers/memcached.js'
import { startRedis } from '../../support/servers/redis.js'
import { callsOf, type Path } from './calls.js'
import { callCount, pathTable } from './table.js'

/**
 * Prints which functions of `src` one allowed request calls, in Express with the limiter's defaults, and of
 * another package in its place. With `--calls`, prints each function.
 */
async function main(): Promise<void> {
  const redis = await startRedis()
  const memcached = await startMemcached()
  const client = new Redis(redis.url, { autoResendUnfulfilledCommands: false })
  const cache = Client.create(memcached.url)
  const paths: Record<string, Path> = {
    memory: await pathOf(undefined),
    Redis: await pathOf(redisStore(client)),
    memcached: await pathOf(memcachedStore(cache)),
  }
  console.log(pathTable(paths, process.argv.includes('--calls')))
  client.disconnect()
  cache.close()
  await redis.stop()
  await memcached.stop()
}

/**
 * Returns the path of one request, after others have taken it: the first ones read options and load scripts.
 * It is the shortest of some, since a timer may end during a request.
 */
async function pathOf(store: Store | undefined): Promise<Path> {
  const limits = { limit: 1000, window: '1m' } as const
  const app = express().set('trust proxy', 'loopback')
  app.use(rateLimit(store === undefined ? limits : { ...limits, name: 'path', store }))
  app.use((_req, res) => void res.send('ok'))
  const server = app.listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  const { port } = server.address() as { readonly port: number }
  const send = async () => {
    const { status } = await fetch(`http://127.0.0.1:${port}/`)
    if (status !== 200) throw new Error(`the request was answered with ${status}`)
  }
  for (let i = 0; i < 50; i++) await send()
  const paths: Path[] = []
  for (let i = 0; i < 5; i++) paths.push(await callsOf(send))
  server.close()
  server.closeAllConnections()
  return paths.reduce((shortest, path) => (callCount(path) < callCount(shortest) ? path : shortest))
}

await main()
