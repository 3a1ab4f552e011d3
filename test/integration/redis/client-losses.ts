import { type ChildProcess, fork } from 'node:child_process'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { redisStore } from 'headgate/redis'
import { remainingOf } from '../../../src/testing/conformance/store-calls.js'
import { inRuntimes } from '../../runtimes/fetched.js'
import { chargingProcess, endAt } from '../../support/charging-processes.js'
import { type Bundle, bundle } from '../../support/servers/bundle.js'
import { INSTALL_TIMEOUT_MS } from '../../support/servers/install.js'
import { type RedisServer, startRedisNode } from '../../support/servers/redis-node.js'
import { lossesOf, type RecordLosses, sumOf, type Tally, unknownIn } from '../../support/tally.js'
import { connect } from './connect.js'
import { glidePath } from './glide.js'
import { POLICY } from './loss-process.js'

/** Starts a Redis in which a reply means that the charge is on disk. */
export const startDurableRedis = () =>
  startRedisNode('redis-aof', () => ['--appendonly', 'yes', '--appendfsync', 'always'])

/** Restarts a server, after it was killed. */
export async function killAndRestart(server: RedisServer): Promise<void> {
  await server.kill()
  await server.restart()
}

type Fail = () => Promise<unknown>

/** After this many runs, surely one failure has met a charge in flight. */
const MAX_RUNS = 10

/** Has processes charge while something fails, one after the other until the outcome of a charge is unknown. */
export async function chargeAmid(start: () => ChildProcess, fail: Fail): Promise<Tally> {
  let tally = await chargeAmidFive(start, fail)
  for (let runs = 1; unknownIn(tally) === 0 && runs < MAX_RUNS; runs++)
    tally = sumOf([tally, await chargeAmidFive(start, fail)])
  return tally
}

/** Has a process charge while something fails five times. */
async function chargeAmidFive(start: () => ChildProcess, fail: Fail): Promise<Tally> {
  const charging = chargingProcess(start())
  await charging.reports(({ allowed }) => allowed > 0)
  for (let i = 0; i < 5; i++) {
    await pause(300)
    await fail()
  }
  const { allowed } = charging.tally
  await charging.reports((tally) => tally.allowed > allowed) // it is connected again
  return charging.end('stop')
}

/** Returns how many units of the charged key are counted. */
export async function countedIn({ url }: RedisServer): Promise<number> {
  const client = await connect(url)
  const [left = 0] = await remainingOf(redisStore(client), POLICY, ['key'])
  client.disconnect()
  return POLICY.limit - left
}

type ChargeAmid = (start: () => ChildProcess, server: RedisServer) => Promise<Tally>

const FAILURES: Readonly<Record<string, ChargeAmid>> = {
  'processes killed': (start) => endAt('kill', start, [1000, 2000, 3000]),
  'connections cut, replies lost': (start, server) =>
    chargeAmid(start, () => server.cli('CLIENT', 'KILL', 'TYPE', 'normal', 'SKIPME', 'yes')),
  'Redis killed': (start, server) => chargeAmid(start, () => killAndRestart(server)),
}

/** Defines the tests of a client that needs a runtime or packages of its own. */
export function describeClientLosses(client: 'Bun' | 'Valkey GLIDE', record: RecordLosses): void {
  let server: RedisServer
  let program: Bundle
  let start: () => ChildProcess

  beforeAll(async () => {
    server = await startDurableRedis()
    program = await bundle(join(__dirname, 'loss-process.ts'))
    const [execPath, glide] = [await inRuntimes('.bin/bun'), await glidePath()]
    start =
      client === 'Bun'
        ? () => fork(program.path, [server.url, 'Bun'], { execPath, execArgv: [] })
        : () => fork(program.path, [server.url, glide])
  }, INSTALL_TIMEOUT_MS)
  afterAll(async () => {
    await program?.remove()
    await server?.stop()
  })
  beforeEach(() => server.cli('FLUSHALL'))

  test.each(Object.entries(FAILURES))(
    'no charge is counted twice or lost: %s',
    async (failure, fail) => {
      const losses = lossesOf(await fail(start, server), await countedIn(server))
      record(failure, losses)
      expect(losses.allowed).toBeGreaterThan(100)
      expect(losses.unknown).toBeGreaterThan(0)
      expect(losses).toMatchObject({ lost: 0, doubled: 0 })
    },
    60_000,
  )
}
