import { createLimiter, fixedWindow, rateLimit } from 'headgate'
import { RemoteStore } from './remote-store.js'

const policy = fixedWindow({ limit: 10_000, window: '1m' })

test.each<[object, string]>([
  [{ lease: true }, 'lease: options must be an object, got true. Known options: hold, processes.'],
  [{ lease: { holdMs: 5 } }, 'lease: there is no option "holdMs". Did you mean hold?'],
  [{ lease: { workers: 4 } }, 'lease: there is no option "workers". Write processes instead.'],
  [{ lease: { hold: 0 } }, 'lease: hold must be a duration of 1 ms to 10 years'],
  [
    { lease: { hold: '1m' } },
    'lease: hold must be from 10 ms to 10 s, got "1m". Did you mean hold: \'100ms\'?',
  ],
  [{ lease: { hold: 9 } }, 'lease: hold must be from 10 ms to 10 s, got 9.'],
  [
    { lease: { processes: 0 } },
    'lease: processes must be a whole number from 1 to 10000, got 0. Did you mean',
  ],
  [{ lease: { processes: '4' } }, 'got "4". Did you mean processes: 4?'],
  [{ lease: {}, store: undefined }, 'lease requires a shared store, such as redisStore(client)'],
  [
    { lease: {}, policy: undefined, limits: [{ policy }, { name: 'b', policy }] },
    'lease supports only one limit',
  ],
])('the options %j throw a TypeError with a hint', (wrong, says) => {
  for (const [owner, make] of Object.entries({ createLimiter, rateLimit })) {
    const making = () =>
      (make as (options: object) => unknown)({ policy, store: new RemoteStore(), ...wrong })
    expect(making).toThrow(TypeError)
    expect(making).toThrow(says)
    expect(making).toThrow(new RegExp(`^${owner}: `))
  }
})

test.each([{}, { hold: '50ms' }, { processes: 2 }, { hold: 1000, processes: 100 }])(
  'the lease options %j are accepted',
  (lease) => {
    expect(() => createLimiter({ policy, store: new RemoteStore(), lease })).not.toThrow()
  },
)
