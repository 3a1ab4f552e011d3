import { type Costs, costsFrom, type Measured, type StoreKind, serviceMs } from './costs.js'

const SIZE = 16

/** Measures a server whose work takes exactly these costs. */
function measure(costs: Costs, callsOfLone: number): Measured {
  const us = (calls: number, keys: number, charges: number) =>
    1000 * serviceMs(costs, { calls, keys, charges })
  return {
    lone: us(callsOfLone, 1, 1),
    hot: us(1, 1, SIZE),
    wide: us(1, SIZE, SIZE),
    split: us(SIZE, SIZE, SIZE),
  }
}

test.each<[StoreKind, Costs, number]>([
  ['redis', { requestUs: 20, callUs: 8, keyUs: 4, chargeUs: 0.5 }, 1],
  ['memcached', { requestUs: 20, callUs: 0, keyUs: 4, chargeUs: 0.5 }, 1],
  ['postgres', { requestUs: 80, callUs: 300, keyUs: 20, chargeUs: 0 }, 0],
])('the costs of %s are found from the times of four kinds of requests', (kind, costs, callsOfLone) => {
  const found = costsFrom(kind, measure(costs, callsOfLone), SIZE)
  for (const [name, cost] of Object.entries(costs))
    expect(found).toHaveProperty(name, expect.closeTo(cost, 9))
})
