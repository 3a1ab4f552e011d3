import { createLimiter, fixedWindow, leased, loginGuard, memoryStore, rateLimit } from 'headgate'
import { RemoteStore } from '../../../support/leased-store.js'

const policy = fixedWindow({ limit: 10_000, window: '1m' })

test.each<[unknown, string]>([
  [true, 'options must be an object, got true. Known options: hold, processes, onReturnFailed.'],
  [{ holdMs: 5 }, 'there is no option "holdMs". Did you mean hold?'],
  [{ workers: 4 }, 'there is no option "workers". Write processes instead.'],
  [{ hold: 0 }, 'hold must be a duration from 1 ms to 10 years'],
  [{ hold: '1m' }, 'hold must be from 10 ms to 10 s, got "1m". Did you mean hold: \'100ms\'?'],
  [{ hold: '9ms' }, 'hold must be from 10 ms to 10 s, got "9ms".'],
  [{ hold: 100 }, 'hold must be a string with a unit, or a number of at least 1000 milliseconds, got 100'],
  [{ processes: 0 }, 'processes must be a whole number from 1 to 10000, got 0. Did you mean'],
  [
    { processes: '4' },
    'processes must be a whole number from 1 to 10000, got "4". Did you mean processes: 4?',
  ],
  [{ onReturnFailed: 'log' }, 'onReturnFailed must be a function, got a string.'],
])('the options %j throw a TypeError with a hint', (wrong, says) => {
  const make = () => leased(new RemoteStore(), wrong as object)
  expect(make).toThrow(TypeError)
  expect(make).toThrow(`leased: ${says}`)
})

test.each<[string, () => unknown, string]>([
  [
    'memory',
    memoryStore,
    'leased: store must be shared by several processes, got memoryStore(). ' +
      'Give the limiter memoryStore() itself: it takes no round trip.',
  ],
  [
    'a leased store',
    () => leased(new RemoteStore()),
    'leased: store must not be leased already. ' + 'Lease the inner store once: leased(redisStore(client)).',
  ],
  [
    'a string with a password',
    () => 'redis://:secret@127.0.0.1',
    'leased: store must be a store, got a string. Write leased(redisStore(client)).',
  ],
  ['nothing', () => undefined, 'leased: store must be a store, got undefined.'],
])('%s cannot be leased', (_what, make, says) => {
  const lease = () => leased(make() as never)
  expect(lease).toThrow(TypeError)
  expect(lease).toThrow(says)
})

test.each([undefined, {}, { hold: '50ms' }, { processes: 2 }, { hold: 1000, processes: 100 }])(
  'the options %j are accepted',
  (options) => {
    expect(() => createLimiter({ policy, store: leased(new RemoteStore(), options) })).not.toThrow()
  },
)

test.each<[string, (options: never) => unknown, object, string]>([
  ['createLimiter', createLimiter, { policy }, 'Write store: leased(redisStore(client), { processes: 8 }).'],
  ['rateLimit', rateLimit, { policy }, 'Write store: leased(redisStore(client), { processes: 8 }).'],
  ['loginGuard', loginGuard, { field: 'email' }, 'Leave it out: a guard charges several limits together'],
])('the former option lease of %s throws a TypeError with the fix', (owner, make, options, fix) => {
  for (const beside of [{ store: new RemoteStore() }, {}]) {
    const create = () => make({ ...options, ...beside, lease: { processes: 4 } } as never)
    expect(create).toThrow(TypeError)
    expect(create).toThrow(`${owner}: there is no option "lease". ${fix}`)
  }
})
