import { standingBefore, standingSince, watchedFigures } from '../../../../src/tuning/trial/standing.js'
import { isPromoted, isWatched } from '../../../../src/tuning/trial/trial-settings.js'
import { between, clients, demandOf } from '../demands.js'
import { PLAN } from './trial-processes.js'

const crowd = between(1000, 1, 80)

test('of a large crowd, those nearest to the limit are remembered as in good standing', () => {
  const { clients: total, denied, known } = standingBefore(demandOf(crowd), PLAN)
  expect([total, denied, known.length, known.at(-1)]).toEqual([1000, 0, 200, '999-80'])
})

test('clients that were set apart before, or would be now, are not in good standing', () => {
  const apart = [
    ...clients([50], { identity: 'scraper', wasDenied: true }),
    ...clients([700, 700], { wasDenied: true }),
    ...clients([5000], { wasDenied: true }),
  ]
  const before = standingBefore(demandOf(crowd), PLAN)
  expect(standingSince(demandOf([...crowd, ...apart]), PLAN, before)).toEqual({
    ...{ clients: 1000, denied: 0, identities: [] },
  })
})

describe('a candidate newly denies', () => {
  const demand = demandOf([
    ...between(100, 1, 60),
    ...clients([61, 70]),
    ...clients([90], { wasDenied: true }),
  ])

  test('those that it denied itself, and the limit in force did not', () => {
    const decided = demandOf([
      ...clients([65], { identity: '0-61', wasDenied: true }),
      ...clients([70, 20]),
      ...clients([90], { wasDenied: true }),
    ])
    const figures = watchedFigures(demand, decided, PLAN)
    expect(figures).toEqual({ clients: 4, denied: 1, identities: ['0-61'], from: 'decisions' })
  })

  test('as an estimate if its decisions are not known, those above its limit', () => {
    const figures = watchedFigures(demand, undefined, PLAN)
    expect(figures).toEqual({ clients: 103, denied: 2, identities: ['1-70', '0-61'], from: 'demands' })
  })
})

test('settings are the same whatever the order of their fields', () => {
  const trial = { limitName: 'api', limit: 60, before: { limit: 200, window: '2m' } }
  const tried = { window: '2m', limit: 60 }
  const limits = { api: { window: '2m', limit: 200 } }
  expect([
    isWatched({ limits, overrides: [], candidate: { limits: { api: tried } } }, trial),
    isWatched(
      { limits: { api: { limit: 200 } }, overrides: [], candidate: { limits: { api: tried } } },
      trial,
    ),
    isPromoted({ limits: { api: tried }, overrides: [] }, trial),
  ]).toEqual([true, false, true])
})

test('another policy in the settings keeps its kind, and a token bucket its refill beside its capacity', () => {
  const tried = (before: object) =>
    isPromoted(
      { limits: { api: { ...before } as never }, overrides: [] },
      {
        limitName: 'api',
        limit: 60,
        before: { policy: 'tokenBucket', capacity: 20, refill: 10, every: '1s' },
      },
    )
  expect([
    tried({ policy: 'tokenBucket', capacity: 60, refill: 30, every: '1s' }),
    tried({ policy: 'tokenBucket', capacity: 60, refill: 10, every: '1s' }),
  ]).toEqual([true, false])
})
