import { type Bundle, bundle } from '../../support/servers/bundle.js'
import { INSTALL_TIMEOUT_MS } from '../../support/servers/install.js'
import { CLIENT_KILL, IN_FLIGHT, runInFlight, SHORT_FREEZE } from './in-flight.js'
import { LIMIT } from './in-flight-limits.js'

let bundled: Bundle

beforeAll(async () => {
  bundled = await bundle(IN_FLIGHT)
}, INSTALL_TIMEOUT_MS)

afterAll(() => bundled?.remove())

const TIMES = { firstMs: expect.any(Number), usableMs: expect.any(Number) }

test.each([
  // What was under way when a connection was lost holds its units for a ttl.
  ['go on at once', CLIENT_KILL, { most: LIMIT, firstMs: expect.any(Number) }],
  ['use all of it at once', SHORT_FREEZE, { most: LIMIT, freeAtRest: LIMIT, ...TIMES }],
])(
  'three processes never exceed their limit, and %s after a fault of Redis, long before a ttl is over',
  async (_what, fault, expected) => {
    const outcome = await runInFlight({ fault, ttlMs: 60_000, calmMs: 4000, program: bundled.path })
    expect(outcome).toMatchObject(expected)
  },
  INSTALL_TIMEOUT_MS,
)
