import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseEventArguments } from '../../../src/cli/events/arguments.js'
import { followEvents } from '../../../src/cli/events/follow.js'
import type { EventSource } from '../../../src/cli/events/source.js'
import { InputError } from '../../../src/cli/failures.js'
import type { LoggedEvent } from '../../../src/dashboard/figures/logged-event.js'
import { runHere } from '../../support/run-command.js'

const START_MS = 1_790_000_000_000
const event = (id: string, own: Partial<LoggedEvent> = {}): LoggedEvent => ({
  id,
  atMs: START_MS,
  kind: 'block',
  text: `blocked ${id}`,
  ...own,
})

describe('the arguments', () => {
  test.each<readonly [readonly string[], string]>([
    [[], 'no store given'],
    [['redis://127.0.0.1:6379', 'other'], 'expected one store, got 2'],
    [['redis://127.0.0.1:6379', '--prefix', ''], '--prefix must not be empty'],
    [['http://127.0.0.1'], 'the store must be a URL such as redis://'],
    [['redis+cluster://127.0.0.1'], 'the store must name a single server'],
    [['redis://:%zz@127.0.0.1'], 'the password of the store must be percent-encoded'],
    [['./store.js', '--folow'], 'did you mean --follow?'],
  ])('%j are wrong', (args, problem) => {
    expect(() => parseEventArguments(args, {})).toThrow(problem)
  })

  test('name a server of Redis, a module, or the environment variable', () => {
    const env = { HEADGATE_STORE: 'redis://127.0.0.1:6379/2' }
    const store = expect.objectContaining({ place: '127.0.0.1:6379', database: 2 })
    expect(parseEventArguments([], env)).toEqual({ store, prefix: 'hg', limiter: undefined, follow: false })
    expect(parseEventArguments(['store.js', '--follow', '--limiter=api', '--prefix=app:hg'], env)).toEqual({
      store: join(process.cwd(), 'store.js'),
      prefix: 'app:hg',
      limiter: 'api',
      follow: true,
    })
  })
})

describe('following events', () => {
  /** Follows a store that has these events, or fails, at each read. */
  async function follow(reads: readonly (readonly LoggedEvent[] | 'down')[]) {
    const printed: string[] = []
    const failures: string[] = []
    let opened = 0
    let closed = 0
    let at = 0
    const open = async (): Promise<EventSource> => {
      opened++
      return {
        async read() {
          const found = reads[at] ?? []
          if (found === 'down') throw new InputError('connection lost')
          return found
        },
        async close() {
          closed++
        },
      }
    }
    await followEvents({
      open,
      onEvents: (events) => void printed.push(events.map(({ id }) => id).join()),
      onFailure: ({ message }) => void failures.push(message),
      pause: async () => ++at < reads.length,
    })
    return { printed, failures, opened, closed }
  }

  test('prints each event once, also those that come between older ones', async () => {
    const [a, b, c, d] = ['a', 'b', 'c', 'd'].map((id) => event(id))
    const reads = [
      [a, c],
      [a, c],
      [a, b, c],
      [c, d],
    ] as LoggedEvent[][]
    expect((await follow(reads)).printed).toEqual(['a,c', 'b', 'd'])
  })

  test('reopens a store that fails, says so once, and misses no event of that time', async () => {
    const [a, b] = [event('a'), event('b')]
    const { printed, failures, opened, closed } = await follow([[a], 'down', 'down', [a, b], [a, b]])
    expect([printed, failures, opened, closed]).toEqual([['a', 'b'], ['connection lost'], 3, 3])
  })

  test('prints nothing twice if a store loses its log, and gets it back', async () => {
    const [a, b] = [event('a'), event('b')]
    expect((await follow([[a, b], [], [a, b]])).printed).toEqual(['a,b'])
  })

  test('fails if the store fails at first', async () => {
    await expect(follow(['down'])).rejects.toThrow('connection lost')
  })
})

describe('the command', () => {
  let folder: string
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'events-'))
  })
  afterAll(() => rmSync(folder, { recursive: true }))

  /** Runs the command on a module whose store has a document with these events. */
  function run(events: readonly unknown[], args: readonly string[] = []) {
    const text = JSON.stringify({ headgate: 1, events })
    const path = join(folder, `store-${Math.random()}.cjs`)
    writeFileSync(
      path,
      `const text = ${JSON.stringify(text)}
      const read = async (requests) => requests.map(({ key }) => key === 'hg:dashboard:events' ? { version: '1', text } : undefined)
      module.exports = require('headgate/store').customStore({ name: 'own', apply: async () => [], documents: { read, replace: async () => false } })`,
    )
    return runHere(['events', path, ...args], { folder })
  }

  test('prints events as JSON lines, whose texts steer no terminal', async () => {
    const hostile = event('b', {
      text: 'released \u001b[31m\u202eeve\n',
      by: 'ada',
      reason: '\u0007',
      limiter: 'api',
    })
    const { code, stdout, stderr } = await run([event('a'), hostile])
    expect([code, stderr]).toEqual([0, ''])
    expect(stdout).toMatch(/^[ -~\n]*$/)
    expect(
      stdout
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line)),
    ).toEqual([
      { at: '2026-09-21T14:13:20.000Z', kind: 'block', text: 'blocked a', id: 'a' },
      {
        at: '2026-09-21T14:13:20.000Z',
        kind: 'block',
        text: hostile.text,
        limiter: 'api',
        by: 'ada',
        reason: '\u0007',
        id: 'b',
      },
    ])
  })

  test('prints those about one limiter, and nothing if there are none', async () => {
    const events = [event('a', { limiter: 'api' }), event('b', { limiter: 'login' }), event('c')]
    expect((await run(events, ['--limiter', 'login'])).stdout).toContain('"id":"b"')
    expect((await run(events, ['--limiter', 'login'])).stdout.split('\n')).toHaveLength(2)
    expect(await run(events, ['--prefix', 'other'])).toEqual({ code: 0, stdout: '', stderr: '' })
  })

  test('a store without documents, or a module that is not there, is an error with its fix', async () => {
    const path = join(folder, 'plain.cjs')
    writeFileSync(
      path,
      "module.exports = require('headgate/store').customStore({ name: 'own', apply: async () => [] })",
    )
    expect(await runHere(['events', path], { folder })).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('has no documents'),
    })
    expect(await runHere(['events', './missing.js'], { folder })).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('cannot load a store'),
    })
    const wrong = join(folder, 'wrong.cjs')
    writeFileSync(wrong, 'module.exports = 7')
    expect(await runHere(['events', wrong], { folder })).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(
        /got a number\. Use [^.]+[^.]\. Write export default redisStore\(client\), or .*store\n/,
      ),
    })
  })
})
