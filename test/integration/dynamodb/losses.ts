import { fork } from 'node:child_process'
import { join } from 'node:path'
import { slidingWindow } from 'headgate'
import { part, remainingOf } from '../../../src/testing/conformance/store-calls.js'
import { chargingProcess } from '../../support/charging-processes.js'
import { startProxy } from '../../support/proxy.js'
import { type Bundle, bundle } from '../../support/servers/bundle.js'
import { chargeRepeatedly, lossesOf, newTally, type RecordLosses, sumOf } from '../../support/tally.js'
import { type AnyClient, metered } from './clients.js'
import { newKey, TABLE, type Tables } from './use-dynalite.js'

/** Defines the test of processes that charge one key, of which some are killed. */
export function describeKills(
  tables: Tables,
  { processes, limit }: { processes: number; limit: number },
  record?: RecordLosses,
): void {
  let program: Bundle
  beforeAll(async () => {
    program = await bundle(join(__dirname, 'charging-process.ts'))
  })
  afterAll(() => program?.remove())

  test(`of ${processes} processes that charge one key, all but one are killed: none of ${limit} units is lost or doubled`, async () => {
    const key = newKey()
    const policy = slidingWindow({ limit, window: '1000d' })
    const start = () => {
      const { folder, port } = tables.server
      return fork(program.path, [folder, `${port}`, TABLE, key, `${limit}`], { execArgv: [], silent: true })
    }
    const children = Array.from({ length: processes }, start)
    const [last, ...others] = children.map(chargingProcess)
    if (last === undefined) throw new Error('there must be a process')
    // The last one pauses once it has taken its share, or it could take all before the others have begun.
    const paused = last
      .reports(({ allowed }) => allowed >= limit / 4)
      .then(() => children[0]?.kill('SIGSTOP'))
    const killed = others.map(async (each, i) => {
      const share = (i + 1) / (2 * processes ** 2) // all are killed while most of the limit is left
      await each.reports(({ allowed }) => allowed >= share * limit)
      return each.end('kill')
    })
    const tallies = await Promise.all(killed)
    expect(await remainingOf(tables.store(), policy, [key])).not.toEqual([0])
    await paused
    children[0]?.kill('SIGCONT')
    await last.reports(({ denied }) => denied > 0)
    const tally = sumOf([...tallies, await last.end('stop')])
    const [remaining = 0] = await remainingOf(tables.store(), policy, [key])
    const losses = lossesOf(tally, limit - remaining)
    record?.('processes killed', losses)
    expect(remaining).toBe(0)
    expect(tally.allowed).toBeLessThanOrEqual(limit)
    expect(losses).toMatchObject({ lost: 0, doubled: 0 })
    expect(losses.unknown).toBeLessThanOrEqual(5 * tallies.length)
  })
}

/** Every so many charges, the next reply is lost on its way, or the next request. */
const EVERY = { reply: 5, request: 7 }

/** Defines the test of replies and requests that are lost on the way between the server and either client. */
export function describeLostReplies(tables: Tables, charges: number, record?: RecordLosses): void {
  test.each(['DynamoDB', 'DynamoDBDocument'] as const)(
    'a charge whose reply is lost is counted once or not at all, and is never sent again: %s',
    async (kind) => {
      const proxy = await startProxy({ host: '127.0.0.1', port: tables.server.port })
      const [key, tally] = [newKey(), newTally()]
      let arrived = 0
      const onRequest = (bytes: Buffer) => {
        arrived += bytes.toString('latin1').split('POST / HTTP').length - 1
        return arrived % EVERY.request === 0 ? 'reset' : 'pass'
      }
      const open: AnyClient =
        kind === 'DynamoDB' ? tables.open({}, proxy.port) : tables.document({}, proxy.port)
      const { client, costs } = metered(open)
      const policy = slidingWindow({ limit: 1_000_000, window: '1000d' })
      const load = {
        parts: [part(key, policy)],
        callers: 1,
        tally,
        goesOn: () => tally.sent < charges,
        beforeSend: async () =>
          proxy.behave({ onRequest, ...(tally.sent % EVERY.reply === 0 && { cutReplyAt: 0 }) }),
      }
      await Promise.all(Array.from({ length: 5 }, () => chargeRepeatedly(tables.store(client), load)))
      await proxy.heal()
      const [remaining = 0] = await remainingOf(tables.store(), policy, [key])
      const counted = policy.limit - remaining
      const losses = lossesOf(tally, counted)
      record?.(`replies lost, ${kind}`, losses)
      expect(losses).toMatchObject({ lost: 0, doubled: 0 })
      expect(counted).toBeGreaterThan(tally.allowed) // replies were lost
      expect(counted).toBeLessThan(tally.sent) // and requests
      expect(arrived).toBe(costs.requests.update)
      await proxy.stop()
    },
  )
}
