import { memoryStore } from 'headgate'
import { openTelemetryMetrics } from 'headgate/metrics'
import { limitLabels } from '../../../src/metrics/limit-names.js'
import { promisingStore } from '../../support/fault-stores.js'

describe('the label of a limit', () => {
  const labelOf = limitLabels()
  for (let i = 0; i < 100; i++) labelOf('api', `limit-${i}`)

  test.each([
    ['of the first 100 of a limiter', 'api', 'limit-99', 'limit-99'],
    ['of a further one', 'api', 'limit-100', '_other'],
    ['of another limiter', 'login', 'limit-100', 'limit-100'],
    ['that decided, where none did', 'api', '', ''],
  ])('%s', (_, limiter, name, label) => {
    expect(labelOf(limiter, name)).toBe(label)
  })
})

test.each([
  ['a memory store', memoryStore()],
  ['a remote store', promisingStore()],
  ['what has a number of keys', { size: 5 }],
])('%s in place of stores by name is a TypeError', (_, stores) => {
  const meter = { createObservableGauge: () => undefined }
  expect(() => openTelemetryMetrics(meter as never, { stores: stores as never })).toThrow(
    'openTelemetryMetrics: stores must be an object with memory stores by name',
  )
})
