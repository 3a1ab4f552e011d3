import { ban, fixedWindow, StoreError } from 'headgate'
import { banTargets, overrideTargets } from '../../../../src/dashboard/actions/overrides.js'
import { releaseTargets } from '../../../../src/dashboard/actions/release.js'
import type { ShownClient } from '../../../../src/dashboard/figures/shown.js'
import { charge, watchedLimiter } from './watched.js'

const author = { by: 'ines', reason: 'it is over' }
const HOUR_MS = 3_600_000
const banning = ban(fixedWindow({ limit: 1, window: '1h' }), { after: 1, within: '1m', for: '1h' })

/** A client that was denied, from a network. */
function deniedFrom(identity: string, network: string): ShownClient {
  const times = { firstDeniedMs: 0, lastDeniedMs: 0, deniedPerSecond: 1 }
  const networks = [{ network, denied: 1 }]
  return { limitName: 'api', identity, denied: 1, ...times, routes: [], addresses: 1, networks }
}

test('a release forgets usage, and undoes blocks of the same targets alone', async () => {
  const { limiter, watched, settings } = watchedLimiter()
  await charge(limiter, 'ada', 4)
  const block = (targets: object[]) =>
    overrideTargets(watched, { targets, effect: { block: true }, durationMs: HOUR_MS }, author)
  await block([{ identity: 'ada' }])
  await block([{ identity: 'bob' }, { network: '203.0.113.0/24' }])
  expect(await charge(limiter, 'ada')).toEqual([false])
  expect(await releaseTargets(watched, [{ identity: 'ada' }], [], author)).toEqual(['ada'])
  expect(await charge(limiter, 'ada', 3)).toEqual([true, true, true])
  expect(await charge(limiter, 'bob')).toEqual([false])
  const { overrides } = await settings.read('api')
  expect(overrides.map(({ identity, network }) => identity ?? network)).toEqual(['bob', '203.0.113.0/24'])
})

test('a release of a network is of its block, and of the clients that were denied from it', async () => {
  const { limiter, watched, settings } = watchedLimiter()
  for (const client of ['203.0.113.1', 'ada', '198.51.100.1']) await charge(limiter, client, 4)
  const targets = [{ network: '203.0.113.0/24' }]
  await overrideTargets(watched, { targets, effect: { block: true }, durationMs: HOUR_MS }, author)
  const denied = [
    deniedFrom('203.0.113.1', '203.0.113.1'), // whose identity lies in it
    deniedFrom('ada', '203.0.113.0/24'),
    deniedFrom('198.51.100.1', '198.51.100.0/24'),
  ]
  expect(await releaseTargets(watched, targets, denied, author)).toEqual(['203.0.113.1', 'ada'])
  expect(await charge(limiter, 'ada', 3)).toEqual([true, true, true])
  expect(await charge(limiter, '203.0.113.1')).toEqual([true])
  expect(await charge(limiter, '198.51.100.1')).toEqual([false])
  expect((await settings.read('api')).overrides).toEqual([])
})

test('the listed clients are looked through once for a release or a ban of 1,000 clients', async () => {
  const { limiter, watched } = watchedLimiter({ policy: banning, settings: undefined })
  await charge(limiter, 'ada')
  const writtenOut = jest.fn(() => () => undefined)
  const targets = Array.from({ length: 1000 }, (_, i) => ({ storedIdentity: `203.0.${i >> 8}.${i & 255}` }))
  const counting = { ...watched, writtenOut }
  await banTargets(counting, { targets, durationMs: 60_000 })
  await releaseTargets(counting, targets, [], author)
  expect(writtenOut).toHaveBeenCalledTimes(2)
})

test('a release that fails can be repeated', async () => {
  const { limiter, watched } = watchedLimiter({ policy: banning, settings: undefined })
  await banTargets(watched, { targets: [{ identity: 'ada' }], durationMs: 60_000 })
  const failing = { ...watched, inspection: { ...watched.inspection, limitsKey: '', store: brokenStore() } }
  const release = (one: typeof watched) => releaseTargets(one, [{ identity: 'ada' }], [], author)
  await expect(release(failing as never)).rejects.toThrow('it hangs')
  expect(await charge(limiter, 'ada')).toEqual([false])
  await release(watched)
  expect(await charge(limiter, 'ada')).toEqual([true])
})

function brokenStore() {
  const read = () => Promise.reject(new StoreError('memory', 'it hangs'))
  return { name: 'memory', documents: { read, readSeveral: read } }
}

test('bans of a thousand clients are one change, which a release ends', async () => {
  const { limiter, watched } = watchedLimiter({ policy: banning, settings: undefined })
  const targets = Array.from({ length: 1000 }, (_, i) => ({ storedIdentity: `client-${i}` }))
  expect(await banTargets(watched, { targets, durationMs: 60_000 })).toMatchObject({ count: 1000 })
  expect(await charge(limiter, 'client-999')).toEqual([false])
  expect((await releaseTargets(watched, targets, [], author)).length).toBe(1000)
  expect(await charge(limiter, 'client-999')).toEqual([true])
})

test.each([
  ['a network', { network: '203.0.113.0/24' }, 60_000],
  ['a prefix', { identityPrefix: 'trial-' }, 60_000],
  ['no end', { identity: 'ada' }, Number.POSITIVE_INFINITY],
])('a ban of %s is rejected with how to get it', async (_, target, durationMs) => {
  const { watched } = watchedLimiter({ policy: banning, settings: undefined })
  await expect(banTargets(watched, { targets: [target], durationMs })).rejects.toThrow(
    'add settings: sharedSettings(store)',
  )
})
