import {
  byIp,
  createLimiter,
  fixedWindow,
  type LimiterOptions,
  memoryStore,
  type SettingsOverride,
  sharedSettings,
} from 'headgate'
import type { Documents } from 'headgate/store'
import { chargeNow } from '../../support/charge-now.js'

const ada = { by: 'ada', reason: 'a test' }
const PAST = '2020-01-01T00:00:00Z'

interface Job {
  readonly id?: string
  readonly ip: string
}

const closing: (() => Promise<void>)[] = []
afterEach(async () => {
  await Promise.all(closing.splice(0).map((close) => close()))
})

/** A limiter that follows settings, the failures that it reports, and a way around `change`. */
function following(options: Partial<LimiterOptions<Job>> = {}) {
  const store = memoryStore()
  const settings = sharedSettings(store)
  const policy = fixedWindow({ limit: 5, window: '1h' })
  const limiter = createLimiter<Job>({
    name: 'api',
    policy,
    key: (job) => job.id,
    store,
    settings,
    ...options,
  })
  const failures: string[] = []
  limiter.events.on('settingsFailed', ({ message }) => failures.push(message))
  closing.push(() => limiter.close())
  const add = (override: SettingsOverride) =>
    settings.change('api', (document) => ({ overrides: [...document.overrides, override] }), ada)
  async function write(...overrides: SettingsOverride[]): Promise<void> {
    const applied = new Promise((resolve) => limiter.events.once('settings', resolve))
    const { read, replace } = store.documents as Documents
    const [found] = await read([{ key: 'hg:settings:api' }])
    await replace('hg:settings:api', JSON.stringify({ document: { overrides }, changes: [] }), found?.version)
    await applied
  }
  const sourceOf = (ip: string, id = 'acme') => chargeNow(limiter, { id, ip }).source
  return { settings, failures, add, write, sourceOf }
}

/** Overrides that look right, and what `change` says about them. */
const WRONG: Readonly<Record<string, readonly [SettingsOverride, string]>> = {
  'bits after the prefix of a network': [
    { network: '10.1.2.3/8', block: true },
    "settings: overrides[0].network must be a network or an address, got \"10.1.2.3/8\". Write '10.0.0.0/8' for the network, or '10.1.2.3' for the address.",
  ],
  'half a surrogate pair in an identity': [
    { identity: 'a\ud83d', block: true },
    'settings: overrides[0].identity must be a string of 1 to 1024 characters',
  ],
  'half a surrogate pair in a part of an identity': [
    { identity: ['a', '\ude00'], block: true },
    'settings: overrides[0].identity must be a string of 1 to 1024 characters',
  ],
  'half a surrogate pair in a prefix': [
    { identityPrefix: '\ud83d', block: true },
    'settings: overrides[0].identityPrefix must be a string of 1 to 64 characters',
  ],
  'an end in the past': [
    { identity: 'acme', block: true, until: PAST },
    `settings: overrides[0].until must be in the future, got "${PAST}". It is now 20`,
  ],
  'more parts than the limits have keys': [
    { identity: ['acme', 'eu'], block: true },
    'settings: overrides[0].identity must be one string for each key of a limit (1), got an array',
  ],
}

test.each(Object.entries(WRONG))('a change that adds %s is rejected', async (_what, [override, problem]) => {
  const { add, settings } = following()
  await expect(add(override)).rejects.toThrow(problem)
  expect(await settings.changes('api')).toEqual([])
})

test('overrides already in a document prevent no other change, and apply as before', async () => {
  const { add, write, sourceOf, failures } = following()
  await write(
    { network: '10.0.0.0/8', block: true },
    { identity: ['acme', 'eu'], block: true },
    { identity: 'mallory', block: true },
  )
  expect(sourceOf('10.9.9.9')).toBe('blocked')
  expect(failures).toEqual([
    expect.stringMatching(
      /overrides\[1\]\.identity must be one string for each key.* skips it and applies the rest/,
    ),
  ])
  const { overrides } = await add({ identity: 'eve', block: true })
  expect(overrides).toHaveLength(4)
  expect([sourceOf('10.9.9.9'), sourceOf('192.0.2.1', 'eve')]).toEqual(['blocked', 'blocked'])
})

test('a whole document may have overrides that have ended', async () => {
  const { settings } = following()
  const ended: SettingsOverride = { identity: 'acme', block: true, until: PAST }
  expect((await settings.change('api', { overrides: [ended] }, ada)).overrides).toEqual([])
})

test('an override that ends while a change is retried does not stop it', async () => {
  const { settings, add } = following()
  const until = Date.now() + 60_000
  await add({ identity: 'acme', block: true, until })
  const edit = (document: { overrides: SettingsOverride[] }) => {
    jest.spyOn(Date, 'now').mockReturnValue(until)
    return { overrides: [...document.overrides, { identity: 'eve', block: true as const }] }
  }
  expect((await settings.change('api', edit, ada)).overrides).toHaveLength(1)
  jest.restoreAllMocks()
})

test('with several keys, an identity is an array of as many strings', async () => {
  const { add } = following({ key: [(job) => job.id, () => 'eu'] })
  const problem =
    'identity must be one string for each key of a limit (2), got "acme". Write a string for one key'
  await expect(add({ identity: 'acme', block: true })).rejects.toThrow(problem)
  await add({ identity: ['acme', 'eu'], block: true })
})

describe('for a limit by address', () => {
  test.each(['2001:db8::1', '2001:db8::1/56', '10.0.0.0/8', '::ffff:192.0.2.7', '192.0.2.7:80', 'acme'])(
    'the identity %s is an error',
    async (identity) => {
      const { add } = following({ key: byIp() })
      await expect(add({ identity, block: true })).rejects.toThrow(
        `settings: overrides[0].identity must be an identity that byIp returns, got "${identity}". ` +
          `If it is an IP address or a network, write network: '${identity}'.`,
      )
    },
  )

  test.each(['192.0.2.7', '2001:db8::/56', '2001:db8:0:100::/64', 'unknown'])(
    'the identity %s is valid',
    async (identity) => {
      const { add, failures } = following({ key: byIp() })
      await add({ identity, block: true })
      expect(failures).toEqual([])
    },
  )
})
