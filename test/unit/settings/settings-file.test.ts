import { mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createLimiter } from 'headgate'
import { settingsFile } from 'headgate/settings-file'
import { chargeNow } from '../../support/charge-now.js'
import { until } from '../../support/servers/wait.js'

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
  const limit = () => chargeNow(limiter, 'acme').limit
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

const text = documentOf(5)
const utf16be = (of: string) => Buffer.from(of, 'utf16le').swap16()

test.each<[string, Uint8Array]>([
  ['a byte-order mark', Buffer.from(`\uFEFF${text}`)],
  ['UTF-16, little-endian', Buffer.from(`\uFEFF${text}`, 'utf16le')],
  ['UTF-16, big-endian', utf16be(`\uFEFF${text}`)],
  ['UTF-16 without a mark', Buffer.from(text, 'utf16le')],
  ['UTF-16, big-endian, without a mark', utf16be(text)],
  ['lines that end with CR and LF', Buffer.from(`\r\n${text.replace('{', '{\r\n')}\r\n`)],
  ['NUL characters at the end', Buffer.from(`${text}\n${'\0'.repeat(100)}`)],
])('a file with %s is read', async (name, bytes) => {
  const path = join(folder, `${name}.json`)
  writeFileSync(path, bytes)
  const { limit, failures, settings } = following(path)
  expect(limit()).toBe(5)
  expect(failures).toEqual([])
  expect((await settings.read()).limits).toEqual({ api: { limit: 5, window: '1m' } })
})

test.each<[string, Uint8Array, string]>([
  ['nothing', Buffer.of(), 'is empty. Write {} for a document without changes.'],
  ['a byte-order mark alone', Buffer.from('\uFEFF'), 'is empty'],
  ['blanks', Buffer.from(' \r\n'), 'is empty'],
  ['NUL characters', Buffer.alloc(512), 'is empty'],
  ['Latin-1', Buffer.from('{"overrides":[{"identity":"zo\u00eb","block":true}]}', 'latin1'), 'must be UTF-8'],
  ['half a character', Buffer.from(`\uFEFF${text}`, 'utf16le').subarray(0, -1), 'must be UTF-8'],
])('a file that holds %s is an error, and the last document applies', async (name, bytes, problem) => {
  const path = join(folder, `not ${name}.json`)
  writeFileSync(path, text)
  const { limit, failures, settings } = following(path)
  writeFileSync(path, bytes)
  await until('the file is found wrong', () => failures.length === 1)
  expect(failures[0]).toContain(`settingsFile: ${path} ${problem}`)
  expect(limit()).toBe(5)
  await expect(settings.read()).rejects.toThrow(problem)
})

test('a file that an editor replaces by another is followed', async () => {
  const path = join(folder, 'edited.json')
  writeFileSync(path, documentOf(5))
  const { limit, failures } = following(path)
  writeFileSync(`${path}~`, documentOf(6))
  renameSync(`${path}~`, path)
  await until('the new file is followed', () => limit() === 6)
  expect(failures).toEqual([])
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
