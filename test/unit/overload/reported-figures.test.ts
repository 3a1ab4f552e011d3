import { type OverloadGuardOptions, overloadGuard } from 'headgate/http'
import { prometheusMetrics } from 'headgate/metrics'
import client from 'prom-client'
import { LimiterWatch } from '../../../src/dashboard/figures/limiter-watch.js'
import { type Inspection, inspectionOf } from '../../../src/limiter/inspection.js'
import type { AnyLimiter } from '../../../src/limiter/limiter.js'
import { requestAndResponse } from '../../support/request-response.js'

/** Sends three requests to a guard that has two places, and a call. */
async function overload(guard: ReturnType<typeof make>): Promise<void> {
  const pairs = Array.from({ length: 3 }, () => requestAndResponse())
  for (const { req, res } of pairs) guard(req, res, () => undefined)
  await guard.run(() => 'rows', { client: 'ada' }).catch(() => undefined)
  for (const { res } of pairs) if (!res.writableEnded) res.end()
}

const make = (options: OverloadGuardOptions = {}) =>
  overloadGuard({ name: 'api', minLimit: 2, maxLimit: 2, maxWait: 0, ...options })

test('metrics count the decisions of a guard, as of a limiter with the limit overload', async () => {
  const register = new client.Registry()
  const stop = prometheusMetrics(client, { register })
  await overload(make())
  const text = await register.metrics()
  stop()
  const lines = text.split('\n').filter((line) => /^headgate_(decisions|limit_denials|near)/.test(line))
  const labels = 'limiter="api",limit="overload"'
  const of = (outcome: string) =>
    `headgate_decisions_total{${labels},outcome="${outcome}",source="overload",mode="enforce"} 2`
  expect(lines.sort()).toEqual([
    of('allowed'),
    of('denied'),
    `headgate_limit_denials_total{${labels},mode="enforce"} 2`,
  ])
})

test('the dashboard shows a guard with one limit, its denials and the clients that were denied', async () => {
  const guard = make()
  const limiter = guard.limiter as unknown as AnyLimiter
  const watch = new LimiterWatch({ name: 'api', limiter, inspection: inspectionOf(limiter) as Inspection })
  await overload(guard)
  const { limits, denied, near, mode, store } = watch.report()
  watch.stop()
  expect({ limits, near, mode, state: store.state }).toMatchObject({
    limits: [{ name: 'overload', kind: 'concurrency', limit: 2, windowMs: null, allowed: 2, denied: 2 }],
    near: [],
    mode: 'enforce',
    state: 'closed',
  })
  expect(limits).toHaveLength(1)
  expect(watch.isOverloadGuard).toBe(true)
  expect(denied.map(({ limitName, identity }) => [limitName, identity])).toEqual(
    expect.arrayContaining([['overload', '192.0.2.1']]),
  )
  expect(denied).toHaveLength(2)
})

test('nearLimit is not emitted: the limit is that of all clients together', async () => {
  const guard = make()
  const near = jest.fn()
  guard.limiter.events.on('nearLimit', near)
  await overload(guard)
  expect(near).not.toHaveBeenCalled()
})
