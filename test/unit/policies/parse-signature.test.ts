import { policyOf } from '../../../src/policies/policy-from-spec.js'

test('a signature is read back into its policy', () => {
  expect(policyOf('token-bucket-100-600')).toMatchObject({ name: '100-in-1min', windowMs: 60_000 })
  expect(policyOf('ban-fixed-window-5-900000-0-0-0-5-900000-1-900000-3600000')).toMatchObject({
    limit: 5,
    spec: {
      kind: 'ban',
      base: { kind: 'fixed-window', limit: 5, windowMs: 900_000 },
      after: 5,
      withinMs: 900_000,
      bansMs: [900_000, 3_600_000],
      onAttempt: 'restart',
    },
  })
  expect(policyOf('ban-consecutive-3-0-0-0-0-1-60000-0-60000')).toMatchObject({ width: 6, limit: 3 })
})

test.each([
  [''],
  ['leaky-bucket-5-1000'],
  ['fixed-window'],
  ['fixed-window-5'],
  ['fixed-window-0-1000'],
  ['fixed-window-05-1000'],
  ['fixed-window-5-1000-0'],
  ['fixed-window-5-1000-1-0'],
  ['fixed-window-5-1000-1-3'],
  ['fixed-window-5-1000-1-1-1'],
  ['fixed-window-5-1000 '],
  ['fixed-window-5.5-1000'],
  ['fixed-window-5-999999999999999'],
  ['Fixed-window-5-1000'],
  ['consecutive--5'],
  ['consecutive-1e3'],
  ['token-bucket-5-0.3'],
  ['token-bucket-5-0'],
  ['token-bucket-1-100000000000000000000'],
  ['sliding-window-5-1000-101'],
  ['concurrency-5-1000-4'],
  ['ban-ban-consecutive-3-0-0-0-0-1-60000-0-60000'],
  ['ban-concurrency-5-1000-8-0-0-1-60000-0-60000'],
  ['ban-fixed-window-5-900000-0-0-7-5-900000-0-900000'],
  ['ban-fixed-window-5-900000-0-0-0-5-900000-2-900000'],
  ['ban-fixed-window-5-900000-0-0-0-5-900000-0'],
  ['ban-fixed-window-5-900000-0-0-0-5-900000-0-900000-60000'],
  [`consecutive${'-1'.repeat(5000)}`],
])('%s is the signature of no policy', (text) => {
  expect(policyOf(text)).toBeUndefined()
})
