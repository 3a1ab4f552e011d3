import { mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createLimiter, type Decision } from 'headgate'
import { settingsFile } from 'headgate/settings-file'
import { until } from '../../../support/servers/wait.js'

const folder = mkdtempSync(join(tmpdir(), 'headgate-settings-'))
const limiters: { close(): Promise<void> }[] = []

afterEach(() => Promise.all(limiters.splice(0).map((limiter) => limiter.close())))
afterAll(() => rmSync(folder, { recursive: true }))

const documentOf = (limit: number) => JSON.stringify({ limits: { api: { limit, window: '1m' } } })

function following(path: string) {
  const settings = settingsFile(path)
  const limiter = createLimiter<string>({ name: 'api', limit: 2, window: '1m', key: (id) => id, settings })
  const failures: string[] = []
  limiter.events.on('settingsFailed', ({ message }) => failures.push(message))
  limiters.push(limiter)
  const limit = () => (limiter.charge('acme') as Decision).limit
  return { settings, limiter, failures, limit }
}

test('the document is in force from the first charge on, and read returns it', async () => {
  const path = join(folder, 'first.json')
  writeFileSync(path, documentOf(5))
  const { settings, limit, limiter } = following(path)
  expect(limit()).toBe(5)
  expect(await settings.read()).toEqual({ limits: { api: { limit: 5, window: '1m' } }, overrides: [] })
  expect(limiter.describe().settings).toEqual({ version: expect.any(String) })
})

test('a file that is written again is followed, and an invalid one is not', async () => {
  const path = join(folder, 'written.json')
  writeFileSync(path, documentOf(5))
  const { limit, failures } = following(path)
  writeFileSync(path, '{"limits":')
  await until('the text is found invalid', () => failures.length === 1)
  expect(failures[0]).toContain('settings: the document must be valid JSON')
  expect(limit()).toBe(5)
  writeFileSync(path, documentOf(7))
  await until('the file is followed', () => limit() === 7)
  rmSync(path)
  await until('the file is missed', () => failures.length === 2)
  expect(failures[1]).toContain('cannot be read: ENOENT')
  expect(limit()).toBe(7)
  writeFileSync(path, documentOf(7))
  await until('the file is back', () => limit() === 7)
  expect(failures).toHaveLength(2)
})

test('a link that is replaced, as in a ConfigMap, is followed', async () => {
  const mount = join(folder, 'mount')
  mkdirSync(mount)
  for (const [name, limit] of [
    ['one', 5],
    ['two', 6],
  ] as const) {
    mkdirSync(join(mount, name))
    writeFileSync(join(mount, name, 'api.json'), documentOf(limit))
  }
  symlinkSync('one', join(mount, '..data'))
  symlinkSync('..data/api.json', join(mount, 'api.json'))
  const { limit } = following(join(mount, 'api.json'))
  expect(limit()).toBe(5)
  symlinkSync('two', join(mount, '..data_tmp'))
  renameSync(join(mount, '..data_tmp'), join(mount, '..data'))
  await until('the link is followed', () => limit() === 6)
})

test('without a file, the code decides until there is one', async () => {
  const path = join(folder, 'later.json')
  const { limit } = following(path)
  expect(limit()).toBe(2)
  writeFileSync(path, documentOf(5))
  await until('the file is found', () => limit() === 5)
  await expect(settingsFile(join(folder, 'none.json')).read()).rejects.toThrow('ENOENT')
})

test.each([
  [undefined, 'got undefined'],
  ['', 'got an empty string'],
  [5, 'got a number'],
])('the path %j is wrong', (path, problem) => {
  expect(() => settingsFile(path as never)).toThrow(
    `settingsFile: path must be the path of a file, ${problem}. Write settingsFile('/etc/headgate/api.json').`,
  )
})
