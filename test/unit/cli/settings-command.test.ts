import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { PassThrough } from 'node:stream'
import { memoryStore, type Store, StoreError, sharedSettings } from 'headgate'
import type { Documents } from 'headgate/store'
import { connectStore } from '../../../src/cli/keys/connection.js'
import { SETTINGS_HELP } from '../../../src/cli/settings/help.js'
import { withDemands } from '../../../src/dashboard/shared/demand/add-demands.js'
import { DEMAND_CODEC } from '../../../src/dashboard/shared/demand/demand-codec.js'
import { demandKey } from '../../../src/dashboard/shared/demand/demand-document.js'
import { ProcessWriter } from '../../../src/dashboard/shared/process-document.js'
import { processesKey } from '../../../src/dashboard/shared/process-slots.js'
import { STEP_MS } from '../../../src/dashboard/shared/steps.js'
import { valueHash } from '../../../src/keys/value-identity.js'
import { DistinctCounter } from '../../../src/util/distinct-sample.js'
import { reportOf } from '../dashboard/figures/reports.js'
import { failureOf, mustRun, run } from './run-command.js'

jest.mock('../../../src/cli/keys/connection.js')

const STORE = ['--store', 'redis://127.0.0.1']
const WHY = ['--reason', 'a launch', '--by', 'ada']

let store: Store
let closed = 0

beforeEach(() => {
  store = memoryStore()
  closed = 0
  jest.mocked(connectStore).mockImplementation(async () => ({ store, close: () => closed++ }) as never)
})
afterEach(() => jest.restoreAllMocks())

const settings = (...args: readonly string[]) => mustRun('settings', ...args, ...STORE)
const change = (...args: readonly string[]) => settings(...args, ...WHY)
const failure = (...args: readonly string[]) => failureOf('settings', ...args, ...STORE)
const read = (name = 'api') => sharedSettings(store).read(name)
const lastId = async () => (await sharedSettings(store).changes('api'))[0]?.id ?? ''
const show = async () => JSON.parse(await settings('show', 'api', '--json'))

/** Writes a file that a test edits, and removes it after the test. */
const files: string[] = []
afterEach(() => {
  for (const file of files.splice(0)) rmSync(file)
})
function file(value: unknown): string {
  const path = join(tmpdir(), `headgate-settings-${process.pid}-${files.length}.json`)
  writeFileSync(path, typeof value === 'string' ? value : JSON.stringify(value))
  files.push(path)
  return path
}

describe('a change', () => {
  test('prints what it changed, and how to undo it', async () => {
    await change('set', 'api', 'limit=100')
    const text = await change('set', 'api', 'limit=200', 'window=1m', 'account.limit=5', 'mode=report')
    const id = (await lastId()).slice(0, 8)
    expect(text.split('\n')).toEqual([
      '  limits.api  {"limit":100} -> {"limit":200,"window":"1m"}',
      '  mode  none -> report',
      '  limits.account  none -> {"limit":5}',
      'preview: no process has published its limits yet',
      `changed; to undo it: headgate settings undo api ${id} --reason <text>`,
      '',
    ])
    expect(await read()).toEqual({
      mode: 'report',
      limits: { api: { limit: 200, window: '1m' }, account: { limit: 5 } },
      overrides: [],
    })
    expect(closed).toBe(2)
  })

  test('says who made it: by default, the user and the host', async () => {
    await settings('set', 'api', 'mode=report', '--reason', 'a trial')
    const [{ by, reason } = { by: '', reason: '' }] = await sharedSettings(store).changes('api')
    expect([reason, by]).toEqual(['a trial', expect.stringMatching(/^.+@.+$/)])
  })

  test('cannot be made under the name of trials, in any spelling', async () => {
    for (const by of ['tune', ' Tune ', '\u200btune', 'ｔｕｎｅ'])
      expect(await failure('set', 'api', 'mode=report', '--reason', 'x', '--by', by)).toEqual([
        2,
        expect.stringContaining('is reserved for changes that trials make: write another name'),
      ])
    await settings('set', 'api', 'mode=report', '--reason', 'x', '--by', 'tuner')
    expect(await sharedSettings(store).changes('api')).toMatchObject([{ by: 'tuner' }])
  })

  test('of a policy replaces the limit, and of numbers keeps its policy', async () => {
    await change('set', 'api', 'policy=tokenBucket', 'capacity=50', 'refill=10', 'every=1s')
    await change('set', 'api', 'capacity=60')
    expect((await read()).limits.api).toEqual({
      policy: 'tokenBucket',
      capacity: 60,
      refill: 10,
      every: '1s',
    })
    await change('set', 'api', 'policy=fixedWindow', 'limit=5', 'window=1m')
    expect((await read()).limits.api).toEqual({ policy: 'fixedWindow', limit: 5, window: '1m' })
  })

  test('unset leaves parts to the code again', async () => {
    await change('set', 'api', 'limit=5', 'mode=report', 'account.limit=1')
    await change('candidate', 'api', 'limit=3')
    expect((await read()).candidate).toEqual({ limits: { api: { limit: 3 } } })
    await change('unset', 'api', 'limits.api', 'mode', 'candidate')
    expect(await read()).toEqual({ limits: { account: { limit: 1 } }, overrides: [] })
    expect(await failure('unset', 'api', 'limits.acount', ...WHY)).toEqual([
      2,
      expect.stringContaining('the document has no limits.acount; did you mean limits.account?'),
    ])
  })

  test('adds, replaces and removes overrides by their target', async () => {
    await change('exempt', 'api', '--identity', 'user:7')
    await change('block', 'api', '--network', '10.0.0.0/8', '--until', '2100-01-01T00:00:00Z')
    await change('override', 'api', 'limit=5', '--identity', 'a', '--identity', 'b')
    await change('exempt', 'api', '--stored-identity', 'x'.repeat(22))
    await change('block', 'api', '--identity-prefix', 'trial-')
    expect((await read()).overrides).toEqual([
      { identity: 'user:7', exempt: true },
      { network: '10.0.0.0/8', block: true, until: '2100-01-01T00:00:00Z' },
      { identity: ['a', 'b'], limits: { api: { limit: 5 } } },
      { storedIdentity: 'x'.repeat(22), exempt: true },
      { identityPrefix: 'trial-', block: true },
    ])
    await change('exempt', 'api', '--network', '::ffff:10.0.0.0/104')
    await change('remove', 'api', '--identity', 'user:7')
    expect((await read()).overrides.slice(0, 2)).toEqual([
      { network: '::ffff:10.0.0.0/104', exempt: true },
      { identity: ['a', 'b'], limits: { api: { limit: 5 } } },
    ])
    const nothing = await failure('remove', 'api', '--identity', 'user:7', ...WHY)
    expect(nothing).toEqual([2, expect.stringContaining('there is no overrides[identity="user:7"]')])
  })

  test('--for ends an override after a time', async () => {
    const beforeMs = Date.now()
    await change('block', 'api', '--identity', 'mallory', '--for', '1h')
    const untilMs = Date.parse(String((await read()).overrides[0]?.until))
    expect(untilMs).toBeGreaterThanOrEqual(beforeMs + 3_600_000)
    expect(untilMs).toBeLessThanOrEqual(Date.now() + 3_600_000)
  })

  test('that changes nothing makes no entry', async () => {
    await change('set', 'api', 'mode=report')
    expect(await change('set', 'api', 'mode=report')).toBe('nothing to change\n')
    expect(await sharedSettings(store).changes('api')).toHaveLength(1)
  })

  test('with --dry-run shows the difference, and changes nothing', async () => {
    await change('set', 'api', 'limit=5')
    const id = await lastId()
    expect(await settings('set', 'api', 'limit=9', '--dry-run')).toBe(
      '  limits.api  {"limit":5} -> {"limit":9}\npreview: no process has published its limits yet\ndry run: nothing was changed\n',
    )
    expect(await settings('undo', 'api', id, '--dry-run')).toBe(
      '  limits.api  {"limit":5} -> none\npreview: no process has published its limits yet\ndry run: nothing was changed\n',
    )
    expect(await failure('set', 'api', 'limit=0', '--dry-run')).toEqual([
      1,
      expect.stringContaining('settings: limits.api.limit must be a whole number of at least 1'),
    ])
    expect((await read()).limits).toEqual({ api: { limit: 5 } })
  })

  test('with --json prints what it changed', async () => {
    const { change: made, ...others } = JSON.parse(await change('set', 'api', 'limit=5', '--json'))
    expect(others).toEqual({ limiter: 'api', dryRun: false, unknownLimits: [], preview: { limits: [] } })
    expect(made).toMatchObject({
      id: await lastId(),
      by: 'ada',
      reason: 'a launch',
      parts: [{ path: 'limits.api', after: { limit: 5 } }],
    })
    expect(JSON.parse(await change('set', 'api', 'limit=5', '--json')).change).toBeNull()
  })

  test('notes limits that no process has published', async () => {
    await publish(100)
    const note = (name: string) =>
      `note: api has published no limit ${name}: headgate settings show api lists its limits\n`
    expect(await change('set', 'api', 'acount.limit=5', 'limit=5')).toContain(`}\n${note('acount')}preview`)
    expect(await change('override', 'api', 'b.limit=5', '--identity', 'a')).toContain(note('b'))
    expect(await change('candidate', 'api', 'c.limit=5')).toContain(note('c'))
    expect(await change('unset', 'api', 'limits.acount', 'limits.api')).not.toContain('note')
    const { unknownLimits } = JSON.parse(await change('set', 'api', 'd.limit=5', 'limit=6', '--json'))
    expect(unknownLimits).toEqual(['d'])
  })

  test('escapes what could steer a terminal, and shortens what is long', async () => {
    await change('block', 'api', '--identity', '\u001b[31mred', '--for', '1h')
    await change('block', 'api', '--identity', 'x'.repeat(500))
    const text = (await settings('show', 'api')) + (await settings('history', 'api'))
    expect(text.replaceAll('\n', '')).not.toMatch(/\p{C}/u)
    for (const line of text.split('\n')) expect(line.length).toBeLessThan(220)
  })
})

test('show prints the limits in force, each setting with who made it, and the version', async () => {
  await publish(100)
  expect(await settings('show', 'api')).toContain('settings: none, so the code decides\n\nversion none\n')
  await change('block', 'api', '--network', '10.0.0.0/8')
  await change('set', 'api', 'mode=report')
  const time = /\d{4}-\d\d-\d\d \d\d:\d\d:\d\dZ/g
  expect((await settings('show', 'api')).replace(time, 'TIME').split('\n')).toEqual([
    'limits of api in force',
    expect.stringMatching(/^ {2}api {19}100 in 1m \(fixed-window\)$/),
    '',
    'settings',
    '  mode  report',
    '    TIME ada: a launch',
    '  overrides[network="10.0.0.0/8"]  {"block":true}',
    '    TIME ada: a launch',
    '',
    `version ${(await lastId()).slice(0, 8)}`,
    '',
  ])
  expect(await show()).toEqual({
    limiter: 'api',
    base: await lastId(),
    document: await read(),
    limits: [{ name: 'api', candidate: false, policy: '100 in 1m (fixed-window)' }],
    parts: [
      { path: 'mode', value: 'report', change: expect.objectContaining({ by: 'ada' }) },
      expect.objectContaining({ path: 'overrides[network="10.0.0.0/8"]' }),
    ],
  })
})

test('history prints the last changes, the newest first, and undo takes the beginning of an id', async () => {
  expect(await settings('history', 'api')).toBe('no changes\n')
  await change('set', 'api', 'limit=5')
  const id = (await lastId()).slice(0, 8)
  await settings('undo', 'api', id, '--reason', 'errors', '--by', 'eve')
  const undo = (await lastId()).slice(0, 8)
  const text = (await settings('history', 'api')).replace(/\d{4}-\d\d-\d\d \d\d:\d\d:\d\dZ/g, 'TIME')
  expect(text.split('\n')).toEqual([
    `${undo}  TIME eve: errors, undoes ${id}`,
    '  limits.api  {"limit":5} -> none',
    '',
    `${id}  TIME ada: a launch`,
    '  limits.api  none -> {"limit":5}',
    '',
  ])
  const { code, stderr } = await run('settings', 'undo', 'api', id, ...WHY, ...STORE)
  expect([code, stderr]).toEqual([1, expect.stringContaining('because eve ("errors") has undone it already')])
  expect(await failure('undo', 'api', 'zzz', ...WHY)).toEqual([
    1,
    'settings: there is no change "zzz" among the last 100. headgate settings history api lists them.',
  ])
})

describe('edit', () => {
  test('saves what show --json printed, and merges with what others have changed since', async () => {
    await change('set', 'api', 'limit=5')
    const shown = await show()
    await change('block', 'api', '--identity', 'mallory')
    shown.document.limits.api.limit = 9
    expect(await change('edit', 'api', file(shown))).toContain('  limits.api  {"limit":5} -> {"limit":9}\n')
    expect(await read()).toEqual({
      limits: { api: { limit: 9 } },
      overrides: [{ identity: 'mallory', block: true }],
    })
  })

  test('prints the conflict with another change, and changes nothing', async () => {
    await change('set', 'api', 'limit=5')
    const shown = await show()
    await settings('set', 'api', 'limit=7', '--reason', 'a sale', '--by', 'eve')
    const theirs = (await lastId()).slice(0, 8)
    shown.document.limits.api.limit = 9
    const path = file(shown)
    const { code, stdout, stderr } = await run('settings', 'edit', 'api', path, ...WHY, ...STORE)
    expect([code, stderr]).toEqual([
      1,
      expect.stringContaining('settings: others have changed limits.api (by eve: "a sale") since'),
    ])
    expect(stdout.replace(/\d{4}-\d\d-\d\d \d\d:\d\d:\d\dZ/g, 'TIME').split('\n')).toEqual([
      'conflicts',
      '  limits.api',
      '    before  {"limit":5}',
      '    theirs  {"limit":7}  (TIME eve: a sale)',
      '    yours   {"limit":9}',
      'changes since',
      `  ${theirs}  TIME eve: a sale`,
      '',
    ])
    const asJson = await run('settings', 'edit', 'api', path, ...WHY, ...STORE, '--json')
    expect(JSON.parse(asJson.stdout)).toMatchObject({
      limiter: 'api',
      conflicts: [{ path: 'limits.api', theirs: { limit: 7 }, yours: { limit: 9 } }],
      changes: [{ by: 'eve' }],
    })
    expect((await read()).limits.api).toEqual({ limit: 7 })
  })

  test('without a file opens the editor, and keeps what cannot be saved', async () => {
    await change('set', 'api', 'limit=5')
    const env = jest.replaceProperty(process, 'env', { PATH: process.env.PATH })
    expect(await failure('edit', 'api', ...WHY)).toEqual([
      2,
      expect.stringContaining('an editor: set EDITOR'),
    ])
    const edit = async (editor: string) => {
      env.replaceValue({ PATH: process.env.PATH, EDITOR: editor })
      return run('settings', 'edit', 'api', ...WHY, ...STORE)
    }
    expect(await edit('sed -i s/5/9/')).toMatchObject({ code: 0, stderr: '' })
    expect((await read()).limits).toEqual({ api: { limit: 9 } })
    expect(await edit('sed -i s/x/y/')).toMatchObject({ code: 0, stdout: 'nothing to change\n', stderr: '' })
    for (const editor of ['sed -i s/9/0/', 'sed -i s/9/{/', 'false']) {
      const { code, stderr } = await edit(editor)
      const [, path = ''] = /^headgate: what you edited is kept in (.+)\nheadgate: .+\n$/.exec(stderr) ?? []
      expect([code, readFileSync(path, 'utf8')]).toEqual([1, expect.stringContaining('"limits"')])
      rmSync(dirname(path), { recursive: true })
    }
    expect((await read()).limits).toEqual({ api: { limit: 9 } })
  })

  test('needs a base for a document alone', async () => {
    await change('set', 'api', 'limit=5')
    const base = (await lastId()).slice(0, 8)
    const path = file({ limits: { api: { limit: 9 } } })
    expect(await failure('edit', 'api', path, ...WHY)).toEqual([
      2,
      expect.stringContaining('--base is required: the version that settings show api printed'),
    ])
    expect(await change('edit', 'api', path, '--base', base)).toContain('-> {"limit":9}')
    const { code, stdout, stderr } = await run(
      'settings',
      'edit',
      'api',
      path,
      ...WHY,
      ...STORE,
      '--base',
      'x',
    )
    expect([code, stdout]).toEqual([1, expect.stringMatching(/^changes since\n {2}\w{8} {2}/)])
    expect(stderr).toContain('the change "x", which this change is based on, is not among the last 100')
  })

  test('with --base none begins a document, unless another operator has', async () => {
    const path = file({ mode: 'report' })
    await change('edit', 'api', path, '--base', 'none')
    const { code } = await run('settings', 'edit', 'api', file({}), ...WHY, ...STORE, '--base', 'none')
    expect(code).toBe(0) // it removes nothing: the document that it is based on was empty
    expect(await read()).toEqual({ mode: 'report', limits: {}, overrides: [] })
  })

  test('with --force replaces a damaged document', async () => {
    await store.documents?.replace('hg:settings:api', '{', undefined)
    const fix = 'Replace it: headgate settings edit api <file> --force.'
    for (const command of ['show', 'history'])
      expect(await failure(command, 'api')).toEqual([
        1,
        expect.stringMatching(new RegExp(`must be valid JSON.*\\. ${fix}$`)),
      ])
    expect(await failure('edit', 'api', file({ mode: 'report' }), ...WHY, '--base', 'none')).toEqual([
      1,
      expect.stringContaining('must be valid JSON'),
    ])
    await change('edit', 'api', file({ mode: 'report' }), '--force')
    expect((await read()).mode).toBe('report')
  })

  test('says what is wrong with its file', async () => {
    expect(await failure('edit', 'api', '/none.json', ...WHY)).toEqual([
      1,
      expect.stringContaining('cannot read a document from /none.json: ENOENT'),
    ])
    expect(await failure('edit', 'api', file('{'), ...WHY)).toEqual([
      1,
      expect.stringContaining('cannot read a document from'),
    ])
    expect(await failure('edit', 'api', file({ limit: 5 }), ...WHY, '--force')).toEqual([
      1,
      expect.stringContaining('there is no option "limit"'),
    ])
  })
})

test('--base stops any change of a part that others have changed since', async () => {
  await change('set', 'api', 'limit=5')
  const base = (await lastId()).slice(0, 8)
  await change('set', 'api', 'limit=7')
  const { code, stdout } = await run('settings', 'set', 'api', 'limit=9', ...WHY, ...STORE, '--base', base)
  expect([code, stdout]).toEqual([1, expect.stringContaining('    yours   {"limit":9}\n')])
  expect(await change('set', 'api', 'mode=report', '--base', base)).toContain('  mode  none -> report\n')
})

test('--prefix has the key prefix of the client before the prefix of the settings', async () => {
  await change('set', 'api', 'mode=report', '--prefix', 'app:eu:hg')
  const [found] = (await store.documents?.read([{ key: 'app:eu:hg:settings:api' }])) ?? []
  expect(found?.text).toContain('"mode":"report"')
  expect(await settings('set', 'api', 'mode=enforce', '--dry-run', '--prefix', 'app:eu:hg')).toContain(
    '  mode  report -> enforce\n',
  )
})

test('a store that fails is named, without its password', async () => {
  const documents = store.documents as Documents
  store = {
    ...store,
    documents: {
      ...documents,
      replace: async () => {
        throw new StoreError('redis', 'NOPERM for redis://ada:let-me-in@host', { replied: true })
      },
    },
  }
  const args = ['settings', 'set', 'api', 'mode=report', ...WHY, '--store', 'redis://ada:let-me-in@host']
  expect(await run(...args)).toEqual({
    code: 1,
    stdout: '  mode  none -> report\npreview: no process has published its limits yet\n',
    stderr: 'headgate: redis: NOPERM for redis://ada:***@host\n',
  })
})

test.each<[string[], string]>([
  [[], 'no command given: write settings and one of show, history, set'],
  [['shw', 'api'], 'unknown command "settings shw"; did you mean show?'],
  [['show'], 'no limiter given, such as settings show api'],
  [['show', 'a b'], '"a b" is not the name of a limiter'],
  [['set', 'api', ...WHY], 'settings set requires fields such as limit=200 window=1m'],
  [['set', 'api', 'limit', ...WHY], '"limit" is not a field such as limit=200 or account.limit=5'],
  [['set', 'api', 'limit=5'], '--reason is required, such as --reason "launch day"'],
  [['set', 'api', 'limit=5', '--reason', ' '], '--reason is required'],
  [['set', 'api', 'limit=5', '--identity', 'a', ...WHY], 'settings set takes no client'],
  [['block', 'api', ...WHY], 'settings block requires one of --identity, --stored-identity'],
  [['block', 'api', '--identity', 'a', '--network', '::1', ...WHY], 'or --network, got 2'],
  [['block', 'api', 'mallory', '--identity', 'a', ...WHY], 'settings block takes no "mallory"'],
  [['block', 'api', '--network', 'mallory', ...WHY], 'network must be an IP address or a CIDR range'],
  [['block', 'api', '--identity', 'a', '--for', '5', ...WHY], '--for must be a duration with a unit'],
  [['block', 'api', '--identity', 'a', '--for', '5m', '--until', 'x', ...WHY], 'cannot be combined'],
  [['remove', 'api', '--identity', 'a', '--for', '5m', ...WHY], '--for and --until are for exempt'],
  [['unset', 'api', ...WHY], 'settings unset requires parts such as limits.api'],
  [['undo', 'api', ...WHY], 'settings undo requires the id of one change'],
  [['edit', 'api', 'a.json', 'b.json', ...WHY], 'settings edit takes one file, also got "b.json"'],
  [['set', 'api', 'limit=5', '--force', ...WHY], '--force is for edit'],
  [['edit', 'api', '--force', ...WHY], '--force requires a file with a document'],
  [['show', 'api', '--prefix', 'a:'], '--prefix must end in a name, such as hg or app:hg, got "a:"'],
])('%j is a wrong command line', async (args, message) => {
  expect(await failure(...args)).toEqual([2, expect.stringContaining(message)])
})

const page = readFileSync(join(__dirname, '../../../docs/settings-command.md'), 'utf8')

/** Publishes a limit of the limiter `api`, as a process does after its first charge. */
async function publish(limit: number): Promise<void> {
  const spec = { kind: 'fixed-window', limit, windowMs: 60_000 }
  const text = JSON.stringify({ limits: [{ scope: 'api:fw', spec }] })
  await store.documents?.replace('hg:limits:api', text, undefined)
}

/** Counts clients of the limit `api`, as processes with a dashboard do, by their identities in keys. */
async function countClients(limit: number, peaks: Readonly<Record<string, number>>): Promise<void> {
  const clients = new DistinctCounter(1000)
  const demands = Object.entries(peaks).map(([name, peak]) => {
    const identity = hash(name)
    clients.add(identity)
    return { identity, peaks: [peak], seen: 0, wasDenied: peak > limit }
  })
  const policy = { kind: 'fixed-window', limit, windowMs: 60_000 } as const
  const step = Math.floor(Date.UTC(2026, 8, 21) / STEP_MS)
  const steps = [step, step + 250].map((each) => ({
    ...{ step: each, allowed: 0, denied: 0 },
    demands: [{ limitName: 'api', policy, clients, demands }],
  }))
  const encoded = DEMAND_CODEC.encode(withDemands(undefined, 'one', steps) as never)
  await store.documents?.replace(
    demandKey('hg', 'api'),
    JSON.stringify({ headgate: 1, ...encoded }),
    undefined,
  )
}

const hash = valueHash(undefined)
const usualClients = () => Object.fromEntries(Array.from({ length: 400 }, (_, i) => [`user:${i}`, 12]))

describe('the preview of a change', () => {
  const tryIt = async (...args: readonly string[]) => {
    const text = await settings(...args, '--dry-run')
    return text.split('\n').filter((line) => !/^ {2}(limits|candidate|overrides)|^dry run|^$/.test(line))
  }
  const span = 'from 2026-09-21 00:00:00Z to 2026-09-21 20:55:00Z'

  beforeEach(async () => {
    await publish(200)
    await countClients(200, { ...usualClients(), scraper: 900, busy: 150 })
  })

  test('says whom a limit would have denied, and whom no longer', async () => {
    expect([
      await tryIt('set', 'api', 'limit=100'),
      await tryIt('set', 'api', 'limit=1000'),
      await tryIt('candidate', 'api', 'limit=10'),
    ]).toEqual([
      [
        `preview of api: 402 clients ${span}`,
        '  denied at least once: 1 client, and with the change 2',
        `  newly denied: 1 client: ${hash('busy')} (150)`,
      ],
      [
        `preview of api: 402 clients ${span}`,
        '  denied at least once: 1 client, and with the change 0',
        `  no longer denied: 1 client: ${hash('scraper')} (900)`,
      ],
      [
        `preview of api: 402 clients ${span}`,
        '  denied at least once: 1 client, and with the change 1',
        `preview of candidate api: 402 clients ${span}`,
        '  denied at least once: 1 client, and with the change 402',
        expect.stringMatching(/^ {2}newly denied: 401 clients: .* and others$/),
      ],
    ])
  })

  test('applies overrides, and says what it cannot know of them', async () => {
    expect([
      await tryIt('exempt', 'api', '--identity', 'scraper'),
      await tryIt('block', 'api', '--identity-prefix', 'user:'),
      await tryIt('block', 'api', '--network', '203.0.113.0/24'),
    ]).toEqual(
      [
        ['0', `  no longer denied: 1 client: ${hash('scraper')} (900)`],
        ['1', '  402 clients are known only by a hash, so overrides by prefix may also apply to them.'],
        ['1', '  402 clients are not known by IP address, so overrides of networks may also apply to them.'],
      ].map(([denied, line]) => [
        `preview of api: 402 clients ${span}`,
        `  denied at least once: 1 client, and with the change ${denied}`,
        line,
      ]),
    )
  })

  test('does not know the numbers in the code that settings have replaced', async () => {
    await change('set', 'api', 'limit=200', 'window=1m')
    const id = await lastId()
    const problem = 'preview of api: It would have the numbers in the code again, which are not known here.'
    expect([await tryIt('unset', 'api', 'limits.api'), await tryIt('undo', 'api', id)]).toEqual([
      [problem],
      [problem],
    ])
  })

  test('says whom the mode enforce would have denied, and that report denies nobody', async () => {
    const enforcing = await tryIt('set', 'api', 'mode=report')
    await change('set', 'api', 'mode=report')
    expect([
      enforcing,
      await tryIt('set', 'api', 'mode=enforce'),
      await tryIt('set', 'api', 'limit=100'),
    ]).toEqual([
      [
        '  mode  none -> report',
        `preview of api: 402 clients ${span}`,
        '  denied at least once: 1 client, and with the change 0',
        `  no longer denied: 1 client: ${hash('scraper')} (900)`,
      ],
      [
        '  mode  report -> enforce',
        `preview of api: 402 clients ${span}`,
        '  denied at least once: 0 clients, and with the change 1',
        `  newly denied: 1 client: ${hash('scraper')} (900)`,
      ],
      [
        `preview of api: 402 clients ${span}`,
        '  denied at least once: 1 client, and with the change 2',
        `  newly denied: 1 client: ${hash('busy')} (150)`,
        '  In report mode, no request is denied: the counts are of clients over their limit.',
      ],
    ])
  })

  test('knows the mode in the code from what processes report', async () => {
    const header = {
      ...{ id: 'a', host: 'web-1', pid: 1, version: '1.0.0', startedAtMs: 0 },
      ...{ dashboard: 1, atMs: Date.now(), everyMs: 10_000 },
    }
    const text = new ProcessWriter().figures(header, [reportOf({ mode: 'report' })])
    await store.documents?.replace(`${processesKey('hg')}/0`, text, undefined)
    expect(await tryIt('set', 'api', 'mode=enforce')).toContain(
      '  denied at least once: 0 clients, and with the change 1',
    )
  })

  test('is in the JSON of a dry run, and of a change that is made', async () => {
    const { preview } = JSON.parse(await settings('set', 'api', 'limit=100', '--dry-run', '--json'))
    expect(preview).toMatchObject({ limits: [{ limitName: 'api', wouldDeny: 2, newlyDeniedCount: 1 }] })
    expect(JSON.parse(await change('set', 'api', 'limit=100', '--json')).preview).toEqual(preview)
  })

  test('is printed before the change is saved', async () => {
    const { documents } = store
    let printed = -1
    const write = jest.spyOn(documents as Documents, 'replace')
    write.mockImplementationOnce(async () => {
      printed = jest.mocked(process.stdout.write).mock.calls.length
      return true
    })
    const [difference, ...lines] = (await change('set', 'api', 'limit=100')).split('\n')
    expect([difference, lines[0], lines[2], printed]).toEqual([
      '  limits.api  none -> {"limit":100}',
      expect.stringMatching(/^preview of api: 402 clients from /),
      expect.stringMatching(/^ {2}newly denied: 1 client: /),
      1,
    ])
  })

  test('that cannot be read says why, and stops no change', async () => {
    const documents = store.documents as Documents
    const readAll = documents.read.bind(documents)
    jest.spyOn(documents, 'read').mockImplementation(async (requests) => {
      if (requests.some(({ key }) => key === demandKey('hg', 'api')))
        throw new StoreError('redis', 'no reply within 800 ms')
      return readAll(requests)
    })
    expect((await change('set', 'api', 'limit=100')).split('\n')).toEqual([
      '  limits.api  none -> {"limit":100}',
      'preview: redis: no reply within 800 ms',
      expect.stringMatching(/^changed; /),
      '',
    ])
    expect((await read()).limits).toEqual({ api: { limit: 100 } })
  })
})

describe('on a terminal', () => {
  const replaced: (() => void)[] = []
  afterEach(() => {
    for (const restore of replaced.splice(0).toReversed()) restore()
  })

  function replace(target: object, name: string, value: unknown): void {
    const before = Object.getOwnPropertyDescriptor(target, name)
    Object.defineProperty(target, name, { value, configurable: true })
    replaced.push(() =>
      before === undefined
        ? Reflect.deleteProperty(target, name)
        : Object.defineProperty(target, name, before),
    )
  }

  /** Runs a change while an operator types `answer`; `onAsked` runs before that. */
  async function typed(
    answer: string,
    options: readonly string[] = [],
    onAsked = async () => {},
    command: readonly string[] = ['set', 'api', 'limit=5'],
  ) {
    const stdin = new PassThrough()
    replace(process, 'stdin', Object.assign(stdin, { isTTY: true }))
    replace(process.stderr, 'isTTY', true)
    jest.spyOn(stdin, 'resume').mockImplementationOnce(function (this: PassThrough) {
      void onAsked().then(() => stdin.end(answer))
      return PassThrough.prototype.resume.call(this)
    })
    return run('settings', ...command, ...WHY, ...STORE, ...options)
  }

  const limits = async () => (await read()).limits
  const ASKED = /^ {2}limits\.api {2}none -> \{"limit":5\}\npreview: .+\nSave this change\? \[y\/N\] $/

  test.each(['y\n', 'YES\n', ' yes \r\n'])('a change is saved once the answer is %j', async (answer) => {
    const { code, stdout, stderr } = await typed(answer)
    expect([code, stdout]).toEqual([0, expect.stringMatching(/^changed; /)])
    expect(stderr).toMatch(ASKED)
    expect(await limits()).toEqual({ api: { limit: 5 } })
  })

  test.each(['\n', 'n\n', 'yeah\n', ''])('nothing is changed if the answer is %j', async (answer) => {
    expect(await typed(answer)).toMatchObject({
      code: 1,
      stdout: '',
      stderr: expect.stringMatching(/Save this change\? \[y\/N\] headgate: nothing was changed\n$/),
    })
    expect(await sharedSettings(store).changes('api')).toEqual([])
  })

  test('Ctrl+C at the question changes nothing', async () => {
    const { code, stderr } = await typed('', [], async () => {
      process.emit('SIGINT')
      await new Promise(setImmediate)
    })
    expect([code, stderr]).toEqual([1, expect.stringMatching(/headgate: nothing was changed\n$/)])
    expect(process.listeners('SIGINT')).toEqual([])
  })

  test('--yes and --dry-run ask nothing', async () => {
    expect(await typed('', ['--dry-run'])).toMatchObject({ code: 0, stderr: '' })
    expect(await limits()).toEqual({})
    expect(await typed('', ['--yes'])).toMatchObject({ code: 0, stderr: '' })
    expect(await limits()).toEqual({ api: { limit: 5 } })
  })

  test('with --json, what is asked about is beside the JSON', async () => {
    const { stdout, stderr } = await typed('y\n', ['--json'])
    expect(JSON.parse(stdout)).toMatchObject({ limiter: 'api', dryRun: false })
    expect(stderr).toMatch(ASKED)
  })

  test('a change that others have made since the preview is a conflict', async () => {
    const theirs = async () => {
      await sharedSettings(store).change(
        'api',
        { limits: { api: { limit: 9 } } },
        { by: 'omar', reason: 'more' },
      )
    }
    const { code, stdout, stderr } = await typed('y\n', [], theirs)
    expect([code, stderr]).toEqual([1, expect.stringContaining('limits.api (by omar: "more")')])
    expect(stdout).toContain('    theirs  {"limit":9}')
    expect(await limits()).toEqual({ api: { limit: 9 } })
  })

  test('--force removes nothing that others have changed since it was shown', async () => {
    const theirs = async () => {
      await sharedSettings(store).change('api', { mode: 'report' }, { by: 'omar', reason: 'a look' })
    }
    const edit = ['edit', 'api', file({ limits: { api: { limit: 5 } } }), '--force']
    expect(await typed('y\n', [], theirs, edit)).toMatchObject({ code: 0 })
    expect(await read()).toMatchObject({ mode: 'report', limits: { api: { limit: 5 } } })
  })
})

test('the commands of docs/settings-command.md print what the page shows', async () => {
  await publish(200)
  await countClients(200, { ...usualClients(), scraper: 900, busy: 450 })
  const blocks = Array.from(page.matchAll(/^```(sh|text)\n(.*?)^```$/gms), ([, kind, text = '']) => ({
    kind,
    text,
  }))
  const plain = (text: string) =>
    text
      .replace(/\d{4}-\d\d-\d\d[ T]\d\d:\d\d:\d\d(?:\.\d+)?Z/g, 'TIME')
      .replace(/^version \w{8}$/m, 'version ID')
  const shown: string[] = []
  const printed: string[] = []
  for (const [i, { kind, text }] of blocks.slice(0, 4).entries()) {
    if (kind === 'text') {
      shown.push(plain(text))
      continue
    }
    const lines = Array.from(text.matchAll(/^npx headgate settings (.+)$/gm), ([, line = '']) => line)
    const outputs: string[] = []
    for (const line of lines) {
      const words = Array.from(line.matchAll(/'([^']*)'|(\S+)/g), ([, quoted, word]) => quoted ?? word ?? '')
      outputs.push(await settings(...words))
    }
    if (blocks[i + 1]?.kind === 'text') printed.push(plain(outputs.at(-1) ?? ''))
  }
  expect(printed).toEqual(shown)
  expect(shown).toHaveLength(2)
})

test('docs/settings-command.md and the help list the same commands and options', () => {
  const namesIn = (text: string) =>
    Array.from(text.matchAll(/^(?:\| `| {2})--([\w-]+)/gm), ([, name]) => name)
  expect(namesIn(SETTINGS_HELP).toSorted()).toEqual(namesIn(page).toSorted())
  const listed = Array.from(page.matchAll(/^\| `(\w+) api/gm), ([, name]) => name)
  expect(Array.from(SETTINGS_HELP.matchAll(/^ {2}(\w+) <limiter>/gm), ([, name]) => name)).toEqual(listed)
})
