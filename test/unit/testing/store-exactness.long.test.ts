import { type ChildProcess, fork, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { storeExactness } from 'headgate/testing'
import { firstMessage } from '../../support/first-message.js'
import { type Bundle, bundle } from '../../support/servers/bundle.js'

let program: Bundle
let folder: string
const started: ChildProcess[] = []

beforeAll(async () => {
  program = await bundle(join(__dirname, 'store-process.ts'))
  folder = mkdtempSync(join(tmpdir(), 'headgate-exactness-'))
})

afterAll(async () => {
  await program?.remove()
  rmSync(folder, { recursive: true, force: true })
})

afterEach(() => {
  const running = started
    .splice(0)
    .filter(({ exitCode, signalCode }) => exitCode === null && signalCode === null)
  for (const child of running) child.kill('SIGKILL')
  expect(running).toEqual([])
})

/** Returns the tests of processes that serve a store of some kind. */
function testsOf([kind, locking = '']: readonly string[], options: { timeout?: number } = {}) {
  return storeExactness({
    startProcess() {
      const child = fork(program.path, [kind as string, folder, locking], { silent: true })
      started.push(child)
      return child
    },
    capabilities: { atomicAcrossKeys: true },
    processes: 2,
    callers: 4,
    ...options,
  })
}

async function failureOf(kind: string, options?: { timeout: number }): Promise<string> {
  const [first] = testsOf([kind], options)
  return first === undefined ? '' : first.run().then(String, (error: Error) => error.message)
}

/** Each sentence once, of one policy or another. */
function sampleOf(cases: ReturnType<typeof testsOf>) {
  const bySentence = new Map(cases.map((each) => [each.name.replace(/: .*/, ''), each]))
  return [...bySentence.values()]
}

describe('a store that locks its keys in their order passes', () => {
  for (const { name, run } of sampleOf(testsOf(['file', 'sorted']))) test(name, run)
})

describe('a store that reads, decides and writes without a lock fails', () => {
  for (const { name, run } of sampleOf(testsOf(['file', 'none'])).slice(0, 2)) {
    test(name, () => expect(run()).rejects.toThrow(/^(remaining|allowed|units|moreAfterMs)/))
  }
})

describe.each([
  ['locks the keys of charges, but not of refunds,', 'charges', 20_000, /refund/, /^remaining of each key/],
  [
    'locks keys in the order of the charge',
    'unsorted',
    6000, // it waits for ever
    /opposite orders all or nothing: tokenBucket/,
    /a call to the store never settled/,
  ],
])('a store that %s fails', (_what, locking, timeoutMs, names, message) => {
  const cases = testsOf(['file', locking], { timeout: timeoutMs })
  for (const { name, run } of cases.filter(({ name }) => names.test(name)))
    test(name, () => expect(run()).rejects.toThrow(message))
})

test('a store of each process admits the limit of each, and their number is in the message', async () => {
  const message = await failureOf('alone')
  expect(message).toContain('allowed of 80 charges with a limit of 20. More than the limit: two charges were')
  expect(message).toContain('40 !== 20')
})

test('a store that takes each charge twice admits less, and the message says why', async () => {
  const message = await failureOf('doubling')
  expect(message).toContain('allowed of 80 charges with a limit of 20. Less than the limit: a charge was')
})

test('a process whose stderr is not piped fails with where its error is', async () => {
  const [first] = storeExactness({
    startProcess: () => fork(program.path, ['unstartable'], { stdio: ['ignore', 'ignore', 'ignore', 'ipc'] }),
    capabilities: { atomicAcrossKeys: true },
  })
  await expect(first?.run()).rejects.toThrow(
    /exited with code 1 before it called serveStore\(store\)\. Its error is on stderr\. To see it in this message, use fork\(file, { silent: true }\)/,
  )
})

test.each([
  ['failing', /^process \d of 2 \(pid \d+\) failed:\n_?StoreError: made: connection refused\n +at /],
  ['malformed', /^process \d of 2 \(pid \d+\) failed:\nAssertionError.*one outcome per operation/],
  ['crashing', /^process \d of 2 \(pid \d+\) failed:\nError: a crash of the driver\n +at /],
  [
    'missing',
    /exited with code 1 before it called[\s\S]*serveStore: store must be an object with name and apply/,
  ],
  ['exiting', /^process \d of 2 \(pid \d+\) exited with code 3 before the test was done with it\./],
  [
    'unstartable',
    /^process \d of 2 \(pid \d+\) exited with code 1 before it called serveStore\(store\)\. It wrote:\n[\s\S]*there is no database/,
  ],
])('what goes wrong in a process fails the test: %s', async (kind, message) => {
  expect(await failureOf(kind)).toMatch(message)
})

test('what fails once the test is done with a process fails it, too', async () => {
  expect(await failureOf('unclosable')).toMatch(
    /^process \d of 2 \(pid \d+\) exited with code 1 after the test was done with it\. It wrote:\n[\s\S]*is closed already/,
  )
})

test('a process ends by itself when its test has died', async () => {
  const child = fork(program.path, ['alone'], { silent: true })
  await firstMessage(child)
  child.disconnect()
  expect(await once(child, 'exit')).toEqual([0, null])
})

test.each([
  ['hanging', 5000, /process 1 of 2 \(pid \d+\) has not finished a load: a call to the store never settled/],
  ['silent', 1000, /process 1 of 2 \(pid \d+\) has not called serveStore\(store\)/],
])('a test ends by its time-out, and says what it waited for: %s', async (kind, timeoutMs, message) => {
  expect(await failureOf(kind, { timeout: timeoutMs })).toMatch(message)
})

test('a store is served only to a parent', async () => {
  const { stderr } = spawnSync(process.execPath, [program.path, 'alone'], { encoding: 'utf8' })
  expect(stderr).toContain(
    'TypeError: serveStore: this process has no IPC channel to a test. Start it with fork()',
  )
})
