import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { slidingLog, slidingWindow } from 'headgate'
import { chargeOne, part, remainingOf } from '../../../src/testing/conformance/store-calls.js'
import { ROOT } from '../../e2e/package/run.js'
import { startProxy } from '../../support/proxy.js'
import { chargeRepeatedly, faultsIn, newTally, sumOf } from '../../support/tally.js'
import { metered } from './clients.js'
import { CALLERS, CONTENDED, contend } from './contend.js'
import { newKey, useDynalite } from './use-dynalite.js'

jest.setTimeout(600_000)

const tables = useDynalite()

const page = readFileSync(join(ROOT, 'docs/stores/dynamodb.md'), 'utf8')
const rows = CALLERS.flatMap((callers) => {
  const [, ...figures] =
    new RegExp(`^\\| ${callers} \\| (.+) \\| (.+) \\| (.+) \\| .+ \\|$`, 'm').exec(page) ?? []
  return Object.keys(CONTENDED).map((name, i) => [callers, name, Number(figures[i])] as const)
})

test.each(rows)('%i callers of one key cost what the page says: %s', async (callers, name, writeUnits) => {
  const policy = CONTENDED[name] as (typeof CONTENDED)[string]
  const { costs, failed, tookMs } = await contend(tables, `${name}-${callers}`, callers, policy, 400)
  const each = costs.reduce((sum, cost) => sum + cost.writeUnits, 0) / tookMs.length
  console.info(callers, name, each)
  expect(failed).toBe(0)
  expect(costs.reduce((sum, { readUnits }) => sum + readUnits, 0)).toBe(0)
  expect(each).toBeGreaterThan(1)
  expect(each).toBeLessThan(1.5 * writeUnits)
})

test('callers whose requests take 1.5 seconds are all decided, while others charge the key', async () => {
  const proxy = await startProxy({ host: '127.0.0.1', port: tables.server.port })
  proxy.behave({ requestDelayMs: 1500 })
  const policy = slidingWindow({ limit: 1_000_000, window: '1000d' })
  const [key, fast] = [newKey(), newTally()]
  const load = { parts: [part(key, policy)], callers: 1 }
  const slow = Array.from({ length: 10 }, newTally)
  const slowly = slow.map((tally) => {
    const store = tables.store(tables.open({}, proxy.port))
    return chargeRepeatedly(store, { ...load, tally, goesOn: () => tally.sent < 3 })
  })
  let isOver = false
  const busy = Array.from({ length: 5 }, () =>
    chargeRepeatedly(tables.store(), { ...load, tally: fast, goesOn: () => !isOver }),
  )
  await Promise.all(slowly)
  isOver = true
  await Promise.all(busy)
  const [remaining = 0] = await remainingOf(tables.store(), policy, [key])
  console.info(JSON.stringify({ slow: sumOf(slow), fast, counted: policy.limit - remaining }))
  expect(sumOf(slow)).toEqual({ sent: 30, allowed: 30, denied: 0, uncounted: 0 })
  expect(faultsIn(fast, policy.limit - remaining - 30)).toEqual({ lost: 0, doubled: 0 })
  await proxy.stop()
})

test('an item of 100 units of a slidingLog is smaller than 1 KB, and one of more is not', async () => {
  const log = slidingLog({ limit: 1000, window: '1000d' })
  let nowMs = Date.UTC(2030, 0, 1)
  const { client, costs } = metered(tables.client)
  const store = tables.store(client, () => nowMs)
  const key = newKey()
  const unitsAfter: number[] = []
  for (let units = 1; units <= 130; units++, nowMs += 1000) {
    await chargeOne(store, part(key, log))
    while (units % 20 === 0 && (await logOf(key)) > 0) await new Promise(setImmediate)
    unitsAfter[units] = costs.writeUnits
  }
  expect(unitsAfter[100]).toBe(100 + 5)
  expect(unitsAfter[130]).toBeGreaterThan(130 + 6 + 10)
})

const logOf = async (key: string) => (await tables.item(key))?.log?.L?.length ?? 0
