import { type ChildProcess, fork } from 'node:child_process'
import { join } from 'node:path'
import { endAt } from '../../support/charging-processes.js'
import { type Bundle, bundle } from '../../support/servers/bundle.js'
import { INSTALL_TIMEOUT_MS } from '../../support/servers/install.js'
import type { RedisServer } from '../../support/servers/redis-node.js'
import { type Fault, startUpstash, type UpstashServer } from '../../support/servers/upstash.js'
import { lossesOf, type RecordLosses, type Tally } from '../../support/tally.js'
import { chargeAmid, countedIn, killAndRestart, startDurableRedis } from '../redis/client-losses.js'

/** What happens to the requests, in turn: commands run or not, and a response is lost in every way. */
const TURNS: readonly (Fault | undefined)[] = [
  undefined,
  'lost',
  undefined,
  'cut',
  'refused',
  undefined,
  'gateway',
]

/** Defines the tests of processes that charge one key through the REST interface of a Redis. */
export function describeUpstashLosses(record: RecordLosses): void {
  let server: RedisServer
  let rest: UpstashServer
  let program: Bundle

  beforeAll(async () => {
    server = await startDurableRedis()
    rest = await startUpstash(server.url)
    program = await bundle(join(__dirname, 'charging-process.ts'))
  }, INSTALL_TIMEOUT_MS)
  afterAll(async () => {
    await program?.remove()
    await rest?.stop()
    await server?.stop()
  })
  beforeEach(async () => {
    await server.cli('FLUSHALL')
    rest.fault = () => undefined
  })

  const start = (): ChildProcess => fork(program.path, [rest.url, rest.token])
  const failures: Readonly<Record<string, () => Promise<Tally>>> = {
    'processes killed': () => endAt('kill', start, [1000, 2000, 3000]),
    'Redis killed': () => chargeAmid(start, () => killAndRestart(server)),
    'replies lost': () => {
      let requests = 0
      rest.fault = () => TURNS[requests++ % TURNS.length]
      return endAt('stop', start, [1000, 1000, 1000])
    },
  }

  test.each(Object.entries(failures))(
    'no charge is counted twice or lost: %s',
    async (failure, fail) => {
      const losses = lossesOf(await fail(), await countedIn(server))
      record(failure, losses)
      expect(losses.allowed).toBeGreaterThan(100)
      expect(losses.unknown).toBeGreaterThan(0)
      expect(losses).toMatchObject({ lost: 0, doubled: 0 })
    },
    60_000,
  )
}
