import type { Bundle } from '../support/servers/bundle.js'
import { bundleDemo, startDemo } from './demo-process.js'

jest.setTimeout(60_000)

const REDIS_URL = 'redis://127.0.0.1:6379'
const MEMCACHED_URL = '127.0.0.1:11211'
const DATABASE_URL = 'mysql://user:password@127.0.0.1:3306/name'

let bundled: Bundle

beforeAll(async () => {
  bundled = await bundleDemo()
})

afterAll(() => bundled?.remove())

test.each([
  [{ REDIS_URL, MEMCACHED_URL }, 'REDIS_URL and MEMCACHED_URL are both set.'],
  [{ REDIS_URL, DATABASE_URL }, 'REDIS_URL and DATABASE_URL are both set.'],
  [{ REDIS_URL, MEMCACHED_URL, DATABASE_URL }, 'REDIS_URL, MEMCACHED_URL and DATABASE_URL are all set.'],
])('the demo refuses more than one place for its limits: %j', async (places, message) => {
  const { ended, printed } = startDemo(places, bundled)
  expect(await ended).toBe(1)
  expect(printed.err).toBe(`${message} The demo keeps its limits in one place: unset the others.\n`)
})
