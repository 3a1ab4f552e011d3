import dns from 'node:dns'
import { freePort } from '../../support/servers/ports.js'
import type { Kind } from './database-kind.js'
import { CALLS, failureOf } from './failures.js'
import { DATABASES, setUpDatabase } from './set-up-database.js'

type Change = (url: URL) => void

/** What may be wrong with a pool's URL, and what the error must say. */
const WRONG: readonly (readonly [string, Change, Readonly<Record<Kind['name'], RegExp>>])[] = [
  [
    'the password is wrong',
    (url) => Object.assign(url, { password: 'wrong' }),
    {
      mysql: /Access denied for user 'headgate'/,
      postgres: /password authentication failed for user "headgate"/,
    },
  ],
  [
    'there is no such user',
    (url) => Object.assign(url, { username: 'nobody' }),
    {
      mysql: /Access denied for user 'nobody'/,
      postgres: /password authentication failed for user "nobody"/,
    },
  ],
  [
    'there is no such database',
    (url) => Object.assign(url, { pathname: '/nowhere' }),
    { mysql: /Unknown database 'nowhere'/, postgres: /database "nowhere" does not exist/ },
  ],
]

describe.each(DATABASES)('on %s', (_name, kind) => {
  const database = setUpDatabase(kind)

  describe.each(WRONG)('where %s', (_title, change, texts) => {
    test.each(CALLS)('%s fails with what the server says', async (_call, call) => {
      const store = database.openAs(change).makeStore()
      expect((await failureOf(kind, call(store))).message).toMatch(texts[kind.name])
    })

    test('prepare() fails with what the server says', async () => {
      const store = database.openAs(change).makeStore()
      expect((await failureOf(kind, store.prepare())).message).toMatch(texts[kind.name])
    })
  })

  describe('where no server listens', () => {
    let port = 0

    beforeAll(async () => {
      port = await freePort()
    })

    test.each(CALLS)('%s says so', async (_title, call) => {
      const store = database.openAs((url) => Object.assign(url, { port })).makeStore()
      const { message, unsent } = await failureOf(kind, call(store))
      expect(message).toMatch(`ECONNREFUSED 127.0.0.1:${port}`)
      expect(unsent).toBe(true)
    })

    test('on any address of a host, a charge says so', async () => {
      const both = [
        { address: '::1', family: 6 },
        { address: '127.0.0.1', family: 4 },
      ]
      const lookup = jest.spyOn(dns, 'lookup')
      lookup.mockImplementation(((_host: string, _options: unknown, answer: (...args: unknown[]) => void) =>
        answer(null, both)) as never)
      try {
        const store = database
          .openAs((url) => Object.assign(url, { port, hostname: 'localhost' }))
          .makeStore()
        const [[, charge]] = CALLS as [(typeof CALLS)[number]]
        expect((await failureOf(kind, charge(store))).message).toMatch(/ECONNREFUSED|EADDRNOTAVAIL/)
      } finally {
        lookup.mockRestore()
      }
    })
  })
})
