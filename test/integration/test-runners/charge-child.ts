import { mock } from 'node:test'
import { install } from '@sinonjs/fake-timers'
import { Client } from 'memjs'
import { connect } from '../redis/connect.js'
import { chargeStores } from './charge-stores.js'

/**
 * The ways to fake the timers of a process. The library is that of Sinon and Vitest, which leave `nextTick`:
 * Node.js itself would stop. `node:test` also fakes the only pause that the others leave.
 */
const FAKES: Readonly<Record<string, () => void | Promise<void>>> = {
  '@sinonjs/fake-timers before': () => void install({ now: Date.now(), toNotFake: ['nextTick'] }),
  'node:test after': async () => {
    await import('headgate/store')
    mock.timers.enable({ apis: ['setTimeout', 'setInterval', 'setImmediate', 'Date'], now: Date.now() })
  },
}

async function main([way = '', redisUrl = '', memcachedUrl = '', limit]: readonly string[]): Promise<void> {
  const redis = await connect(redisUrl)
  const memcached = Client.create(memcachedUrl, { timeout: 30 })
  await memcached.stats()
  await FAKES[way]?.()
  const allowed = await chargeStores({ redis, memcached }, Number(limit))
  process.stdout.write(JSON.stringify(allowed), () => process.exit())
}

main(process.argv.slice(2))
